-- What the centre believes of endpoints, the incidents it made of that, and whom it told.

-- runs that judging has not taken yet: put here by ingest in its own commit, taken out by the judge
create table unjudged (
    endpoint text not null,
    run_id uuid not null,
    slot_at timestamptz not null,
    received_at timestamptz not null,
    primary key (endpoint, run_id)
);

-- what people must set right, once a kind and endpoint; gone when it was not met for a window
create table advisory (
    endpoint text not null,
    kind text not null,                  -- auth, rejected, filtered, too_little_room, degenerate
    region text not null,                -- where it was met last
    since timestamptz not null,
    last_at timestamptz not null,        -- of the latest run that met it
    runs integer not null,               -- that met it
    primary key (endpoint, kind)
);

-- one row an endpoint: all that its judge remembers; who judges it holds the row's lock
create table judgement (
    endpoint text primary key,
    state jsonb,                         -- null: judged from nothing on
    judged_at timestamptz not null,
    due_at timestamptz,                  -- when it is to be looked at though no run came; null: never
    accepted boolean not null default false -- the level of now is to become the usual one
);
create index judgement_due on judgement (due_at) where due_at is not null;

-- what is believed of an endpoint, and of it in each region
create table verdict (
    endpoint text not null,
    region text not null,                -- '': over all regions
    verdict text not null
        check (verdict in ('not_served', 'failing', 'silent', 'slow', 'learning', 'ok')),
    since timestamptz not null,          -- when this verdict began; of slow and failing: is thought to have
    silent_since timestamptz,            -- when it was last heard of, where it is silent; null: it is heard
    -- how many times slower than usual the recent runs are, with an interval; null: nothing to compare
    ttft_ratio float8, ttft_ratio_low float8, ttft_ratio_high float8,
    speed_ratio float8, speed_ratio_low float8, speed_ratio_high float8,
    judged_at timestamptz not null,
    primary key (endpoint, region)
);

create table incident (
    incident_id bigint generated always as identity primary key,
    provider text not null,              -- '': of no single one (our prober, our release)
    region text not null,                -- '': not of one region alone
    trouble text not null,               -- first_token, output_speed, failures, quota, gone, timing
    class text not null,                 -- provider, model, region_path, prober, ours, quota, unknown
    state text not null
        check (state in ('suspected', 'cleared', 'unconfirmed', 'confirmed', 'eased', 'closed')),
    importance text not null,            -- the highest of its endpoints: page, notify, watch
    simulated boolean not null,
    since timestamptz not null,          -- when it is thought to have begun
    opened_at timestamptz not null,      -- suspected
    confirmed_at timestamptz,
    eased_at timestamptz,                -- as usual again; it closes when that lasts
    ended_at timestamptz,                -- cleared, left unconfirmed, or closed
    acknowledged_at timestamptz,
    speaks_for text[] not null default '{}',
    speaks_against text[] not null default '{}'
);
create index incident_open on incident (provider) where ended_at is null;
create index incident_opened on incident (opened_at);

-- the endpoints that an incident gathers
create table incident_endpoint (
    incident_id bigint not null references incident,
    endpoint text not null,
    trouble text not null,               -- each of its troubles a row
    ratio float8, ratio_low float8, ratio_high float8, -- times slower than usual, as last judged
    since timestamptz not null,
    eased_at timestamptz,
    primary key (incident_id, endpoint, trouble)
);
create index incident_endpoint_endpoint on incident_endpoint (endpoint);

-- an incident's timeline, one line each
create table incident_event (
    event_id bigint generated always as identity primary key,
    incident_id bigint not null references incident,
    at timestamptz not null,
    kind text not null,                  -- suspected, confirmed, joined, class, notified, acknowledged, eased, again, closed, note, ...
    text text not null                   -- one sentence for people
);
create index incident_event_incident on incident_event (incident_id, at);

-- what nobody is to be told of for a while
create table silence (
    silence_id bigint generated always as identity primary key,
    endpoints text not null,             -- a pattern of ids, as in the file; '*': all
    region text not null default '',     -- '': all
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    why text not null,
    made_by text not null default ''
);

-- what is to be told, one row a change of state and channel: sent once, tried again until it is
create table notice (
    notice_id bigint generated always as identity primary key,
    incident_id bigint not null references incident,
    channel text not null,               -- its name in the file, never its address
    kind text not null,                  -- opened, worse, reminder, closed
    grade smallint not null default 0,   -- how bad it was then: bits 1 whole provider, 2 fails, 4 pages
    made_at timestamptz not null,
    due_at timestamptz not null,         -- of the next try
    tries smallint not null default 0,
    sent_at timestamptz,
    given_up_at timestamptz,
    error text,                          -- of the last try, without any address
    unique (incident_id, channel, kind, made_at)
);
create index notice_due on notice (due_at) where sent_at is null and given_up_at is null;

-- confirming probes, by the incident that ordered them: finds their slots
create table confirm_order (
    run_id uuid primary key,
    incident_id bigint not null references incident,
    endpoint text not null,
    region text not null,
    ordered_at timestamptz not null
);
create index confirm_order_incident on confirm_order (incident_id);
create index confirm_order_at on confirm_order (ordered_at);

-- what the fleet's own quiet time made of the thresholds; the latest counts
create table calibration (
    calibrated_at timestamptz primary key,
    multiplier float8 not null,          -- of the thresholds of slow charts
    quiet_days float8 not null,          -- days of an endpoint that it stands on
    false_pages_a_month float8 not null  -- that were allowed
);

alter table store add column judged_at timestamptz; -- the latest finished tick of the judge
