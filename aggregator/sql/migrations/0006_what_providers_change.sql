-- What answers say of who made them, and the changes that follow from it.

-- values that an endpoint's answers told lately: kept for a window after they were last seen
create table answered (
    endpoint text not null,
    facet text not null check (facet in ('model', 'fingerprint', 'tier')),
    value text not null,
    runs smallint not null,              -- that told it since it was new; counted as far as matters
    first_at timestamptz not null,       -- slot of the first of them
    last_at timestamptz not null,        -- slot of the last one, to a small part of the window
    noted boolean not null default false, -- whether its being new has been judged
    primary key (endpoint, facet, value)
) with (fillfactor = 80);

create table provider_change (
    change_id bigint generated always as identity primary key,
    endpoint text not null,
    facet text not null,
    value text not null,
    before text not null,                -- what was told last before it
    changed_at timestamptz not null,     -- slot of the first run that told the new value
    noted_at timestamptz not null
);
create index provider_change_at on provider_change (changed_at);
create index provider_change_endpoint on provider_change (endpoint, changed_at);
