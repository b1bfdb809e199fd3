-- What the file says, as rows: endpoints, their versions, the series and counters of what is planned.

-- name: read_store
select simulated, catalog_hash, fleet_hash, planned_until, schedule_hash, ticked_at, resumed_at
from store;

-- name: upsert_endpoint
insert into endpoint (
    endpoint, provider, provider_name, model, precision, protocol, importance, base_host, location,
    account, tier, price_input_usd, price_output_usd, published_tokens_per_s, own, active, first_seen_at)
values (
    %(endpoint)s, %(provider)s, %(provider_name)s, %(model)s, %(precision)s, %(protocol)s,
    %(importance)s, %(base_host)s, %(location)s, %(account)s, %(tier)s, %(price_input_usd)s,
    %(price_output_usd)s, %(published_tokens_per_s)s, %(own)s, true, %(now)s)
on conflict (endpoint) do update set
    provider = excluded.provider, provider_name = excluded.provider_name, model = excluded.model,
    precision = excluded.precision, protocol = excluded.protocol, importance = excluded.importance,
    base_host = excluded.base_host, location = excluded.location, account = excluded.account, tier = excluded.tier,
    price_input_usd = excluded.price_input_usd, price_output_usd = excluded.price_output_usd,
    published_tokens_per_s = excluded.published_tokens_per_s, own = excluded.own, active = true;

-- name: retire_endpoints
-- what is no longer picked stays with its history
update endpoint set active = false where active and not endpoint = any (%(endpoints)s);

-- name: insert_versions
insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)
select endpoint_hash, endpoint, workload, %(now)s
from unnest(%(endpoint_hash)s::text[], %(endpoint)s::text[], %(workload)s::text[])
    as asked (endpoint_hash, endpoint, workload)
on conflict do nothing;

-- name: insert_series
-- the series that were not there yet; their counters stand at 0 before the first run
with wanted as (
    select endpoint, region, workload, load, %(simulated)s::boolean as simulated
    from unnest(%(endpoint)s::text[], %(region)s::text[], %(workload)s::text[], %(load)s::text[])
        as planned (endpoint, region, workload, load)
), added as (
    insert into series (endpoint, region, workload, load, simulated)
    select * from wanted
    where not exists (
        select from series
        where (series.endpoint, series.region, series.workload, series.load, series.simulated)
            = (wanted.endpoint, wanted.region, wanted.workload, wanted.load, wanted.simulated))
    order by 1, 2, 3, 4  -- as ingest makes them
    on conflict do nothing
    returning series_id, endpoint, region, workload, load, simulated
), counted as (
    insert into series_stat (series_id) select series_id from added on conflict do nothing
), placed as (
    insert into place_counter (endpoint, region, simulated)
    select distinct endpoint, region, simulated from wanted order by endpoint, region
    on conflict do nothing
), missable as (
    insert into missed_counter (endpoint, region, simulated, reason)
    select distinct endpoint, region, simulated, reason
    from wanted, unnest(%(reasons)s::text[]) as known (reason) order by endpoint, region, reason
    on conflict do nothing
)
select endpoint, region, workload, load from added order by endpoint, region, workload, load;

-- name: note_fleet
update store set catalog_hash = %(catalog_hash)s, fleet_hash = %(fleet_hash)s;
