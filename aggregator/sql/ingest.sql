-- Ingest: one batch, one transaction. Locks are taken in this order by everybody: slot, series,
-- series_stat, run and what hangs on it, the tables of executions, day_due, the counters; in each
-- by key.

-- name: find_days_without_partition
select distinct day
from slot, lateral (select (slot_at at time zone 'UTC')::date as day) as its
where run_id = any(%(runs)s)
  and (to_regclass('run_' || to_char(day, 'YYYYMMDD')) is null
    or to_regclass('timing_' || to_char(day, 'YYYYMMDD')) is null
    or to_regclass('timeline_' || to_char(day, 'YYYYMMDD')) is null)

-- name: lock_slots
select run_id, endpoint, region, workload, load, purpose, slot_at, state
from slot
where run_id = any(%(runs)s)
order by run_id
for no key update

-- name: find_versions
select endpoint_hash, endpoint, workload
from endpoint_version
where endpoint_hash = any(%(hashes)s)

-- name: find_kind
select simulated from store

-- name: find_catalog
select catalog_hash from store

-- name: insert_series
insert into series (endpoint, region, workload, load, simulated)
select endpoint, region, workload, load, simulated
from unnest(%(endpoints)s::text[], %(regions)s::text[], %(workloads)s::text[], %(loads)s::text[])
    as wanted (endpoint, region, workload, load),
    (select %(simulated)s::boolean) as kind (simulated)
where not exists (select from series where (series.endpoint, series.region, series.workload,
    series.load, series.simulated) = (wanted.endpoint, wanted.region, wanted.workload, wanted.load,
    kind.simulated))
order by 1, 2, 3, 4
on conflict do nothing

-- name: find_series
select series_id, series.endpoint, series.region, series.workload, series.load
from unnest(%(endpoints)s::text[], %(regions)s::text[], %(workloads)s::text[], %(loads)s::text[])
    as wanted (endpoint, region, workload, load)
join series using (endpoint, region, workload, load)
where simulated = %(simulated)s

-- name: insert_series_stat
insert into series_stat (series_id)
select series_id from unnest(%(series)s::integer[]) as touched (series_id)
where not exists (select from series_stat where series_stat.series_id = touched.series_id)
order by 1
on conflict do nothing

-- name: insert_runs
-- decides which execution of a run wins: the first that comes
insert into run (
    run_id, slot_at, execution, series_id, purpose, rolls, endpoint_hash, worker, worker_version,
    started_at, received_at, beside, cost_usd, flags, requests, good, outcome, definition,
    ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s, system_tokens_per_s)
select
    run_id, slot_at, execution, series_id, purpose, rolls, endpoint_hash, worker, worker_version,
    started_at, received_at, beside, cost_usd, flags, requests, good, outcome, definition,
    ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s, system_tokens_per_s
from json_to_recordset(%(rows)s) as row (
    run_id uuid, slot_at timestamptz, execution uuid, series_id integer, purpose text,
    rolls boolean, endpoint_hash text, worker text, worker_version text, started_at timestamptz,
    received_at timestamptz, beside smallint, cost_usd float8, flags text[], requests smallint,
    good smallint, outcome text, definition smallint, ttft_s float8, answer_s float8,
    output_tokens_per_s float8, end_to_end_s float8, stall_s float8, system_tokens_per_s float8)
on conflict do nothing
returning run_id

-- name: find_winners
-- each is looked up by its key, which the limit has the planner do: joined, it would read all days
select won.run_id, won.execution
from unnest(%(runs)s::uuid[], %(moments)s::timestamptz[]) as wanted (run_id, slot_at)
cross join lateral (
    select run_id, execution from run
    where run.run_id = wanted.run_id and run.slot_at = wanted.slot_at
        and run.slot_at >= %(earliest)s and run.slot_at <= %(latest)s
    limit 1) as won

-- name: insert_timings
insert into timing (
    run_id, n, slot_at, series_id, outcome, fault_status, fault_type, flags,
    ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s, tokens, left_out, rolls)
select
    run_id, n, slot_at, series_id, outcome, fault_status, fault_type, flags,
    ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s, tokens, left_out, rolls
from json_to_recordset(%(rows)s) as row (
    run_id uuid, n smallint, slot_at timestamptz, series_id integer, outcome text,
    fault_status smallint, fault_type text, flags text[], ttft_s float8, answer_s float8,
    output_tokens_per_s float8, end_to_end_s float8, stall_s float8, tokens integer,
    left_out text[], rolls boolean)

-- name: insert_timelines
-- the records in binary: as text an array of bytes takes ten times as long
insert into timeline (run_id, slot_at, record)
select * from unnest(%(runs)s::uuid[], %(moments)s::timestamptz[], %(records)b::bytea[])

-- name: insert_unrun
insert into unrun (execution, run_id, region, declined, received_at, record)
select execution, run_id, region, declined, %(now)s, record
from unnest(%(executions)s::uuid[], %(runs)s::uuid[], %(regions)s::text[], %(reasons)s::text[],
    %(records)b::bytea[]) as row (execution, run_id, region, declined, record)
order by execution
on conflict do nothing
returning run_id, execution

-- name: find_kept_aside
select execution from aside where execution = any(%(executions)s::uuid[])

-- name: count_aside
select region, count(*) as records from aside where region = any(%(regions)s::text[]) group by region

-- name: insert_aside
insert into aside (execution, run_id, region, reason, tried_with, received_at, record)
select execution, run_id, region, reason, %(tried_with)s, %(now)s, record
from unnest(%(executions)s::uuid[], %(runs)s::uuid[], %(regions)s::text[], %(reasons)s::text[],
    %(records)b::bytea[]) as row (execution, run_id, region, reason, record)
order by execution
on conflict do nothing

-- name: insert_duplicates
insert into duplicate (execution, run_id, cost_usd, received_at)
select execution, run_id, cost_usd, %(now)s
from unnest(%(executions)s::uuid[], %(runs)s::uuid[], %(costs)s::float8[])
    as row (execution, run_id, cost_usd)
order by execution
on conflict do nothing
returning run_id, execution

-- name: mark_missed
update slot set state = 'missed', reason = row.reason
from unnest(%(runs)s::uuid[], %(reasons)s::text[]) as row (run_id, reason)
where slot.run_id = row.run_id

-- name: mark_run
update slot set state = 'run' where run_id = any(%(runs)s)

-- name: insert_unjudged
insert into unjudged (endpoint, run_id, slot_at, received_at)
select endpoint, run_id, slot_at, %(now)s
from unnest(%(endpoints)s::text[], %(runs)s::uuid[], %(moments)s::timestamptz[])
    as row (endpoint, run_id, slot_at)
on conflict do nothing

-- name: count_places
insert into place_counter (endpoint, region, simulated, recovered, duplicate, cost_usd)
select endpoint, region, %(simulated)s, recovered, duplicate, cost_usd
from json_to_recordset(%(rows)s) as row (
    endpoint text, region text, recovered bigint, duplicate bigint, cost_usd float8)
order by endpoint, region
on conflict (endpoint, region, simulated) do update
set recovered = place_counter.recovered + excluded.recovered,
    duplicate = place_counter.duplicate + excluded.duplicate,
    cost_usd = place_counter.cost_usd + excluded.cost_usd

-- name: count_outcomes
insert into outcome_counter (endpoint, region, simulated, outcome, purpose, requests)
select endpoint, region, %(simulated)s, outcome, purpose, requests
from json_to_recordset(%(rows)s) as row (
    endpoint text, region text, outcome text, purpose text, requests bigint)
order by endpoint, region, outcome, purpose
on conflict (endpoint, region, simulated, outcome, purpose) do update
set requests = outcome_counter.requests + excluded.requests

-- name: count_missed
insert into missed_counter (endpoint, region, simulated, reason, runs)
select endpoint, region, %(simulated)s, reason, runs
from json_to_recordset(%(rows)s) as row (endpoint text, region text, reason text, runs bigint)
order by endpoint, region, reason
on conflict (endpoint, region, simulated, reason) do update
set runs = missed_counter.runs + excluded.runs
