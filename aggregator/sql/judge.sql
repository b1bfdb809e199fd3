-- Judging: what has come in and what is due, and what is believed of it.
--
-- Who judges an endpoint holds the row of its judgement to the end of the transaction; whoever finds
-- it locked leaves the endpoint to the next tick. Locks are taken in this order: judgement, the lock
-- of incidents, and nothing of another endpoint.

-- name: find_due
select distinct endpoint from unjudged
union
select endpoint from judgement where due_at <= %(now)s
order by endpoint

-- name: find_silent
-- series by endpoint and region of which nothing was heard for two spacings and a slot's validity
select series.endpoint, series.region,
       max(coalesce(latest_at, first_seen_at)) as last_at
from unnest(%(endpoints)s::text[], %(workloads)s::text[], %(spacings_s)s::float8[])
    as asked (endpoint, workload, spacing_s)
join series on series.endpoint = asked.endpoint and series.workload = asked.workload
join endpoint on endpoint.endpoint = asked.endpoint
left join series_stat using (series_id)
where load <> 'parallel' and region = any (%(regions)s::text[])
group by series.endpoint, series.region
having bool_and(coalesce(latest_at, first_seen_at)
    < %(now)s::timestamptz - make_interval(secs => 2 * spacing_s + %(validity_s)s::float8))

-- name: find_heard
-- when each region was last heard of
select region, max(last_seen_at) as last_seen_at from worker group by region

-- name: find_told_silent
select endpoint, region, silent_since from verdict where silent_since is not null and region <> ''

-- name: forget_others
-- endpoints that are no longer probed are not judged, and nothing is believed of them
with dropped as (
    delete from verdict where not endpoint = any (%(endpoints)s::text[])
)
delete from unjudged where not endpoint = any (%(endpoints)s::text[])

-- name: make_judgement
insert into judgement (endpoint, judged_at) values (%(endpoint)s, %(now)s) on conflict do nothing

-- name: lock_judgement
select state, accepted,
       (select min(slot_at) from unjudged where unjudged.endpoint = judgement.endpoint) as earliest_at
from judgement where endpoint = %(endpoint)s for update skip locked

-- name: select_unjudged
-- from the earliest slot on, which spares the planner all days before it
select unjudged.run_id, unjudged.slot_at, region, workload, load, purpose, ttft_s,
       output_tokens_per_s, end_to_end_s, worker, worker_version, ended
from unjudged
left join run on run.run_id = unjudged.run_id and run.slot_at = unjudged.slot_at
    and run.slot_at >= %(earliest)s
left join series using (series_id)
cross join lateral (
    select json_agg(json_build_object('outcome', outcome, 'type', fault_type, 'flags', flags)
                    order by n) as ended
    from timing
    where timing.run_id = unjudged.run_id and timing.slot_at = unjudged.slot_at
        and timing.slot_at >= %(earliest)s) as requests
where unjudged.endpoint = %(endpoint)s and unjudged.slot_at >= %(earliest)s
order by unjudged.slot_at, unjudged.run_id
limit %(most)s

-- name: select_record
select record from timeline where run_id = %(run)s and slot_at = %(slot_at)s

-- name: delete_unjudged
delete from unjudged where endpoint = %(endpoint)s and run_id = any (%(runs)s::uuid[])

-- name: note_judgement
update judgement
set state = %(state)s, judged_at = %(now)s, due_at = %(due_at)s, accepted = false
where endpoint = %(endpoint)s

-- name: upsert_verdicts
-- a verdict that stays has the beginning that it had
insert into verdict (endpoint, region, verdict, since, silent_since, ttft_ratio, ttft_ratio_low,
    ttft_ratio_high, speed_ratio, speed_ratio_low, speed_ratio_high, end_to_end_ratio,
    end_to_end_ratio_low, end_to_end_ratio_high, under_load_ratio, under_load_ratio_low,
    under_load_ratio_high, judged_at)
select %(endpoint)s, region, verdict, since, silent_since, ttft_ratio, ttft_ratio_low,
    ttft_ratio_high, speed_ratio, speed_ratio_low, speed_ratio_high, end_to_end_ratio,
    end_to_end_ratio_low, end_to_end_ratio_high, under_load_ratio, under_load_ratio_low,
    under_load_ratio_high, %(now)s
from json_to_recordset(%(rows)s) as row (region text, verdict text, since timestamptz,
    silent_since timestamptz, ttft_ratio float8, ttft_ratio_low float8, ttft_ratio_high float8,
    speed_ratio float8, speed_ratio_low float8, speed_ratio_high float8, end_to_end_ratio float8,
    end_to_end_ratio_low float8, end_to_end_ratio_high float8, under_load_ratio float8,
    under_load_ratio_low float8, under_load_ratio_high float8)
on conflict (endpoint, region) do update
set verdict = excluded.verdict,
    since = case when verdict.verdict = excluded.verdict then verdict.since
        else excluded.since end,
    silent_since = excluded.silent_since,
    ttft_ratio = excluded.ttft_ratio, ttft_ratio_low = excluded.ttft_ratio_low,
    ttft_ratio_high = excluded.ttft_ratio_high, speed_ratio = excluded.speed_ratio,
    speed_ratio_low = excluded.speed_ratio_low, speed_ratio_high = excluded.speed_ratio_high,
    end_to_end_ratio = excluded.end_to_end_ratio,
    end_to_end_ratio_low = excluded.end_to_end_ratio_low,
    end_to_end_ratio_high = excluded.end_to_end_ratio_high,
    under_load_ratio = excluded.under_load_ratio,
    under_load_ratio_low = excluded.under_load_ratio_low,
    under_load_ratio_high = excluded.under_load_ratio_high,
    judged_at = excluded.judged_at

-- name: delete_verdicts
-- of regions that are no longer probed from
delete from verdict
where endpoint = %(endpoint)s and region <> '' and not region = any (%(regions)s::text[])

-- name: upsert_advisories
insert into advisory (endpoint, kind, region, since, last_at, runs)
select %(endpoint)s, kind, region, at, at, runs
from unnest(%(kinds)s::text[], %(regions)s::text[], %(moments)s::timestamptz[],
    %(runs)s::integer[]) as met (kind, region, at, runs)
order by kind
on conflict (endpoint, kind) do update
set region = excluded.region, last_at = greatest(advisory.last_at, excluded.last_at),
    runs = advisory.runs + excluded.runs

-- name: note_judged
update store set judged_at = %(now)s

-- name: select_recent
select endpoint, state->'recent' as recent from judgement where state is not null

-- name: select_paths
-- the latest runs of an endpoint from a region since trouble began, and as many of before; the
-- limit within has the planner look each timeline up by its key
(select true as is_after, record
 from series join run using (series_id)
 cross join lateral (
    select record from timeline
    where timeline.run_id = run.run_id and timeline.slot_at = run.slot_at
        and timeline.slot_at > %(began)s
    limit 1) as told
 where endpoint = %(endpoint)s and region = %(region)s and load <> 'parallel'
    and run.slot_at > %(began)s
 order by run.slot_at desc limit %(most)s)
union all
(select false, record
 from series join run using (series_id)
 cross join lateral (
    select record from timeline
    where timeline.run_id = run.run_id and timeline.slot_at = run.slot_at
        and timeline.slot_at <= %(began)s and timeline.slot_at > %(earliest)s
    limit 1) as told
 where endpoint = %(endpoint)s and region = %(region)s and load <> 'parallel'
    and run.slot_at <= %(began)s and run.slot_at > %(earliest)s
 order by run.slot_at desc limit %(most)s)

-- name: find_change
select 1 from provider_change where endpoint = %(endpoint)s and changed_at > %(since)s limit 1

-- name: find_doubted
-- regions whose workers' own calibration is over its limit
select distinct region from worker
where last_seen_at > %(fresh_since)s and coalesce(calibration->>'over', '') <> ''

-- name: find_unknown
-- regions that have a worker whose first calibration since it started is still to come
select distinct region from worker
where last_seen_at > %(fresh_since)s and calibration is null

-- name: select_ordered
-- confirming probes that were ordered of a provider since then, and those of an incident
select count(*) filter (where ordered_at > %(since)s and provider = %(provider)s) as of_provider,
       count(*) filter (where incident_id = %(incident)s) as of_incident
from confirm_order join endpoint using (endpoint)
where ordered_at > %(since)s and provider = %(provider)s or incident_id = %(incident)s

-- name: insert_confirm_order
insert into confirm_order (run_id, incident_id, endpoint, region, ordered_at)
select run_id, %(incident)s, %(endpoint)s, region, %(now)s
from unnest(%(runs)s::uuid[], %(regions)s::text[]) as ordered (run_id, region)

-- name: find_workers
select region, worker from worker where region = any (%(regions)s::text[])

-- name: find_flagged
-- regions of those workers whose latest ten runs have three that they flagged themselves
select distinct region
from unnest(%(regions)s::text[], %(workers)s::text[]) as doubted (region, worker)
where 3 <= (
    select count(*) filter (where exists (
        select from timing
        where timing.run_id = latest.run_id and timing.slot_at = latest.slot_at
            and timing.slot_at > %(since)s
            and 'prober_suspect' = any (flags)))
    from (
        select run_id, slot_at from series join run using (series_id)
        where series.region = doubted.region and run.worker = doubted.worker
            and slot_at > %(since)s
        order by slot_at desc limit 10) as latest)
