-- The store: what is planned (slot), what was seen (run, timing, timeline), what follows from it (series_stat, counters).

-- one row: whether this store holds simulated or real measurements; they never meet
create table store (
    only_row boolean primary key default true check (only_row),
    simulated boolean not null,
    catalog_hash text,                   -- of the catalog the centre asks by; told to the workers
    fleet_hash text,                     -- of the endpoints, versions and series last written here
    planned_until timestamptz,           -- slots are planned up to here
    schedule_hash text,                  -- of the schedule the future slots were planned by
    ticked_at timestamptz,               -- the latest finished tick of the dispatcher
    resumed_at timestamptz,              -- the first tick after a time without ticks
    kept_up_at timestamptz,              -- the latest finished upkeep
    window_s integer                     -- of the rolling statistics as they stand in series_stat
);

create table region_token (
    token_hash bytea primary key,        -- SHA-256 of the token
    region text not null,                -- '' : an admin token (scope says what it may do)
    scope text not null default 'region' check (scope in ('region', 'run', 'admin')),
    created_at timestamptz not null,
    revoked_at timestamptz
);

-- what the centre's catalog says of each endpoint it probes or has probed
create table endpoint (
    endpoint text primary key,
    provider text not null,
    provider_name text not null,
    model text not null,
    precision text not null,
    protocol text not null,
    importance text not null,
    base_host text not null,             -- host of the base URL, with the port where it has one
    location text, account text, tier text,
    price_input_usd float8, price_output_usd float8,
    published_tokens_per_s float8,
    own boolean not null,
    active boolean not null,             -- false: no longer picked; history stays
    first_seen_at timestamptz not null
);

-- every (endpoint, workload, body) the centre ever asked for; old ones stay their own version
create table endpoint_version (
    endpoint_hash text primary key,
    endpoint text not null,
    workload text not null,
    first_seen_at timestamptz not null
);

create table series (
    series_id integer generated always as identity primary key,
    endpoint text not null,
    region text not null,
    workload text not null,
    load text not null,
    simulated boolean not null,
    unique (endpoint, region, workload, load, simulated)
);

create table slot (
    run_id uuid primary key,
    endpoint text not null,
    region text not null,
    workload text not null,
    load text not null,
    purpose text not null,
    slot_at timestamptz not null,
    valid_until timestamptz not null,
    state text not null default 'planned' check (state in ('planned', 'sent', 'run', 'missed')),
    reason text,                         -- of a missed one; stays when a late run recovers it
    sends smallint not null default 0,
    sent_at timestamptz,                 -- the latest send
    cost_usd float8                      -- as reckoned when it was sent, for the ledger
);
create index slot_age on slot using brin (slot_at);
create index slot_due on slot (slot_at) where state = 'planned';
create index slot_open on slot (valid_until) where state in ('planned', 'sent');
create index slot_sent on slot (sent_at) where sent_at is not null;

create table worker (
    region text not null,
    worker text not null,
    version text not null,
    catalog text not null,
    last_seen_at timestamptz not null,   -- by the centre's clock
    clock_offset_s float8 not null,      -- the worker's wall clock less the centre's
    in_hand uuid[] not null,             -- received, running, or in the outbox
    journal_runs integer not null default 0, -- that its journal remembers
    outbox_runs integer not null,
    budget_left_usd float8,
    calibration jsonb,
    primary key (region, worker)
);

-- one row a run: the execution that won. Partitioned by day of slot_at, as timing and timeline
create table run (
    run_id uuid not null,
    slot_at timestamptz not null,        -- from the slot, never from the record
    execution uuid not null,
    series_id integer not null,
    purpose text not null,
    rolls boolean not null,              -- whether the purpose enters rolling statistics and latest
    endpoint_hash text not null,
    worker text not null,
    worker_version text not null,
    started_at timestamptz not null,     -- the worker's raw wall clock
    received_at timestamptz not null,
    beside smallint not null,
    cost_usd float8,
    flags text[] not null,               -- the centre's, of the whole run
    requests smallint not null,
    good smallint not null,
    outcome text not null,               -- of its first request that is not ok, else ok
    definition smallint not null,
    ttft_s float8, answer_s float8, output_tokens_per_s float8, end_to_end_s float8, stall_s float8,
                                         -- the run's own medians over the requests whose flags leave the figure in
    system_tokens_per_s float8,
    primary key (run_id, slot_at)
) partition by range (slot_at);
create index run_series on run (series_id, slot_at);

create table timing (
    run_id uuid not null,
    n smallint not null,
    slot_at timestamptz not null,
    series_id integer not null,
    outcome text not null,
    fault_status smallint, fault_type text,
    flags text[] not null,
    ttft_s float8, answer_s float8, output_tokens_per_s float8, end_to_end_s float8, stall_s float8,
                                         -- as measured, flagged or not
    tokens integer not null,
    left_out text[] not null,            -- figures that the flags take out of the statistics
    rolls boolean not null,              -- whether its purpose enters the rolling statistics
    primary key (run_id, n, slot_at)
) partition by range (slot_at);
create index timing_series on timing (series_id, slot_at);

create table timeline (
    run_id uuid not null,
    slot_at timestamptz not null,
    record bytea not null,               -- the run record as pushed, JSON, zlib
    primary key (run_id, slot_at)
) partition by range (slot_at);

-- executions that did not take the run's key: declined, and all-internal ones
create table unrun (
    execution uuid primary key,
    run_id uuid not null,
    region text not null,
    declined text,                       -- null: all requests internal
    received_at timestamptz not null,
    record bytea not null
);

-- pushes of what this centre does not know yet: taken up after an upgrade
create table aside (
    execution uuid primary key,
    run_id uuid not null,
    region text not null,
    reason text not null,
    tried_with text not null,            -- the centre's version and catalog that could not take it
    received_at timestamptz not null,
    record bytea not null
);

create table duplicate (
    execution uuid primary key,
    run_id uuid not null,
    cost_usd float8,
    received_at timestamptz not null
);

create table series_stat (
    series_id integer primary key references series,
    runs integer not null default 0,     -- in the window
    requests integer not null default 0,
    good integer not null default 0,     -- good requests in the window
    -- of each figure: p5, p25, p50, p75, p95 (p50 over runs, each run one value, its own median; the
    -- others over requests; null: no sample), the runs that have it, and the distribution-free
    -- interval of the p50 (null below 5 runs; 90 % at 5, 95 % from 6 on)
    ttft_s float8[], ttft_runs integer not null default 0, ttft_low float8, ttft_high float8,
    answer_s float8[], answer_runs integer not null default 0, answer_low float8, answer_high float8,
    output_tokens_per_s float8[], speed_runs integer not null default 0, speed_low float8, speed_high float8,
    end_to_end_s float8[], end_to_end_runs integer not null default 0,
    end_to_end_low float8, end_to_end_high float8,
    stall_s float8[], stall_runs integer not null default 0, stall_low float8, stall_high float8,
    oldest_at timestamptz,
    newest_at timestamptz,
    next_expiry timestamptz,             -- when the next run leaves the window, or enters it
    latest_at timestamptz,               -- the greatest slot_at of purposes that roll
    latest_run_id uuid,                  -- the greatest of that moment
    latest_outcome text,
    latest_ttft_s float8, latest_output_tokens_per_s float8, latest_end_to_end_s float8,
    last_success_at timestamptz,         -- the greatest slot_at of a run with a good request
    tried bigint not null default 0,     -- counters: never lowered
    succeeded bigint not null default 0
) with (fillfactor = 50);
create index series_stat_expiry on series_stat (next_expiry);

-- counters per (endpoint, region): never lowered, exposed from 0
create table place_counter (
    endpoint text not null,
    region text not null,
    simulated boolean not null,
    recovered bigint not null default 0,
    duplicate bigint not null default 0,
    cost_usd float8 not null default 0,
    primary key (endpoint, region, simulated)
);
create table outcome_counter (
    endpoint text not null,
    region text not null,
    simulated boolean not null,
    outcome text not null,
    purpose text not null,
    requests bigint not null default 0,
    primary key (endpoint, region, simulated, outcome, purpose)
);
create table missed_counter (
    endpoint text not null,
    region text not null,
    simulated boolean not null,
    reason text not null,
    runs bigint not null default 0,
    primary key (endpoint, region, simulated, reason)
);
