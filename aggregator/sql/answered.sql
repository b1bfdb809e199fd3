-- What answers say of who made them: model, fingerprint, tier.

-- name: find_answered
select endpoint, facet, value, runs, last_at, noted
from unnest(%(endpoints)s::text[], %(facets)s::text[], %(values)s::text[])
    as told (endpoint, facet, value)
join answered using (endpoint, facet, value);

-- name: note_answered
-- a value unseen for a window is new once more, unless it is still the latest one of its endpoint
insert into answered (endpoint, facet, value, runs, first_at, last_at)
select endpoint, facet, value, runs, first_at, last_at
from unnest(
    %(endpoints)s::text[], %(facets)s::text[], %(values)s::text[], %(runs)s::smallint[],
    %(firsts)s::timestamptz[], %(lasts)s::timestamptz[])
    as told (endpoint, facet, value, runs, first_at, last_at)
where exists (
        select from answered as held
        where (held.endpoint, held.facet, held.value) = (told.endpoint, told.facet, told.value))
    or (select count(*) from answered as held
        where held.endpoint = told.endpoint and held.facet = told.facet) < %(most)s
order by endpoint, facet, value
on conflict (endpoint, facet, value) do update
set (runs, first_at, last_at, noted) = (
    select
        case when is_new then excluded.runs
            else least(answered.runs + excluded.runs, 1000) end,
        case when is_new then excluded.first_at
            else least(answered.first_at, excluded.first_at) end,
        greatest(answered.last_at, excluded.last_at),
        answered.noted and not is_new
    from (select excluded.first_at > answered.last_at + %(window)s::interval and exists (
        select from answered as held
        where held.endpoint = answered.endpoint and held.facet = answered.facet
            and held.last_at > answered.last_at) as is_new) as judged);

-- name: note_changes
-- values that enough runs have told; they are changes where another was known for a window before
with due as (
    update answered set noted = true
    from unnest(%(endpoints)s::text[], %(facets)s::text[], %(values)s::text[])
        as told (endpoint, facet, value)
    where (answered.endpoint, answered.facet, answered.value)
            = (told.endpoint, told.facet, told.value)
        and not noted and runs >= %(enough)s
    returning answered.endpoint, answered.facet, answered.value, answered.first_at
)
insert into provider_change (endpoint, facet, value, before, changed_at, noted_at)
select due.endpoint, due.facet, due.value, last.value, due.first_at, %(now)s
from due
cross join lateral (
    select held.value from answered as held
    where held.endpoint = due.endpoint and held.facet = due.facet and held.value <> due.value
        and held.first_at < due.first_at
    order by held.last_at desc
    limit 1) as last
where exists (
    select from answered as held
    where held.endpoint = due.endpoint and held.facet = due.facet and held.value <> due.value
        and held.first_at <= due.first_at - %(window)s::interval)
order by due.endpoint, due.facet, due.value
returning endpoint, facet, value, before, changed_at;

-- name: delete_old_answered
-- the latest value stays, however old: what comes after it is a change. Rows in use are left
-- for the next time, so that nobody waits for anybody in a circle
delete from answered
where ctid = any (array(
    select ctid from answered
    where last_at < %(before)s and exists (
        select from answered as held
        where held.endpoint = answered.endpoint and held.facet = answered.facet
            and held.last_at > answered.last_at)
    for update skip locked));

-- name: delete_old_changes
delete from provider_change where changed_at < %(before)s;

-- name: select_changes
-- those that were noted last come first
select change_id, endpoint, provider, model, facet, value, before, changed_at, noted_at
from provider_change
join endpoint using (endpoint)
where changed_at >= %(since)s
    and change_id < %(after)s
    and (%(endpoints)s::text[] = '{}' or endpoint = any (%(endpoints)s::text[]))
    and (%(models)s::text[] = '{}' or model = any (%(models)s::text[]))
    and (%(providers)s::text[] = '{}' or provider = any (%(providers)s::text[]))
    and (%(precisions)s::text[] = '{}' or precision = any (%(precisions)s::text[]))
order by change_id desc
limit %(limit)s;
