-- What is shown: metrics, board, status. Nothing here writes.

-- name: select_store
select simulated, catalog_hash, ticked_at, judged_at from store;

-- name: select_size
select pg_database_size(current_database()) as bytes;

-- name: select_endpoints
-- those of the names, without them all
select endpoint, provider, provider_name, model, precision, protocol, importance, base_host, location,
       account, tier, price_input_usd, price_output_usd, active
from endpoint
where %(endpoints)s::text[] is null or endpoint = any(%(endpoints)s)
order by endpoint

-- name: select_board_models
-- the models that are on the board, with how many endpoints they have; an empty filter asks for
-- all. An endpoint that is no longer probed is there while its window lasts, or asked for by its id
select model, count(*) as endpoints
from endpoint e
where (%(models)s::text[] = '{}' or e.model = any(%(models)s))
  and (%(endpoints)s::text[] = '{}' or e.endpoint = any(%(endpoints)s))
  and (%(providers)s::text[] = '{}' or e.provider = any(%(providers)s))
  and (%(precisions)s::text[] = '{}' or e.precision = any(%(precisions)s))
  and e.model collate "C" > %(after)s
  and exists (
    select from series s
    left join series_stat st using (series_id)
    where s.endpoint = e.endpoint
      and (%(regions)s::text[] = '{}' or s.region = any(%(regions)s))
      and (%(workloads)s::text[] = '{}' or s.workload = any(%(workloads)s))
      and (%(loads)s::text[] = '{}' or s.load = any(%(loads)s))
      and (e.active or st.newest_at > %(since)s or e.endpoint = any(%(endpoints)s)))
group by model
order by model collate "C"

-- name: select_board_series
select s.*
from series_defined s
join endpoint e using (endpoint)
where e.model = any(%(shown)s)
  and (%(endpoints)s::text[] = '{}' or e.endpoint = any(%(endpoints)s))
  and (%(providers)s::text[] = '{}' or e.provider = any(%(providers)s))
  and (%(precisions)s::text[] = '{}' or e.precision = any(%(precisions)s))
  and (%(regions)s::text[] = '{}' or s.region = any(%(regions)s))
  and (%(workloads)s::text[] = '{}' or s.workload = any(%(workloads)s))
  and (%(loads)s::text[] = '{}' or s.load = any(%(loads)s))
  and (e.active or s.newest_at > %(since)s or e.endpoint = any(%(endpoints)s))
order by s.endpoint collate "C", s.region collate "C", s.workload, s.load, s.simulated

-- name: select_series_page
-- those of endpoints that are no longer probed too: their days are kept
select s.*
from series_defined s
join endpoint e using (endpoint)
where s.series_id > %(after)s
  and (%(models)s::text[] = '{}' or e.model = any(%(models)s))
  and (%(endpoints)s::text[] = '{}' or e.endpoint = any(%(endpoints)s))
  and (%(providers)s::text[] = '{}' or e.provider = any(%(providers)s))
  and (%(precisions)s::text[] = '{}' or e.precision = any(%(precisions)s))
  and (%(regions)s::text[] = '{}' or s.region = any(%(regions)s))
  and (%(workloads)s::text[] = '{}' or s.workload = any(%(workloads)s))
  and (%(loads)s::text[] = '{}' or s.load = any(%(loads)s))
order by s.series_id
limit %(limit)s

-- name: select_load
select load from series where series_id = %(series)s

-- name: select_suspect_series
-- series of probed endpoints, regions and workloads whose latest run has a request that ended badly
select s.*
from series_defined s
join endpoint e using (endpoint)
where e.active
  and s.region = any(%(regions)s)
  and s.workload = any(%(workloads)s)
  and s.latest_outcome <> 'ok'
order by s.endpoint collate "C", s.region collate "C", s.workload, s.load, s.simulated

-- name: count_measured
-- endpoints that are probed and have a run in the window
select count(*) as endpoints
from endpoint e
where e.active and exists (
    select from series s join series_stat st using (series_id)
    where s.endpoint = e.endpoint and s.region = any(%(regions)s) and st.newest_at > %(since)s)

-- name: select_workloads
select distinct workload from series order by 1

-- name: select_scraped_series
-- of every series what metrics tell
select endpoint, region, workload, load, simulated, runs, ttft_s, answer_s, output_tokens_per_s,
       end_to_end_s, ttft_runs, answer_runs, speed_runs, end_to_end_runs, newest_at, latest_at,
       latest_ttft_s, latest_output_tokens_per_s, latest_end_to_end_s, last_success_at, tried, succeeded
from series_defined
order by endpoint, region, workload, load, simulated

-- name: select_place_counters
select endpoint, region, simulated, recovered, duplicate, cost_usd from place_counter;

-- name: select_outcome_counters
-- what stands at 0 is told all the same: by who knows which there are
select endpoint, region, simulated, outcome, purpose, requests
from outcome_counter
where requests > 0;

-- name: select_missed_counters
select endpoint, region, simulated, reason, runs from missed_counter where runs > 0;

-- name: select_workers
select region, worker, version, catalog, last_seen_at, clock_offset_s, cardinality(in_hand) as in_hand,
       outbox_runs, budget_left_usd, rate_limits, calibration
from worker
order by region, worker;

-- name: select_declined
-- what workers did not run, and why; beside it, how many slots of that provider there were run or
-- missed in that time
select * from (
    select region, provider, reason, runs,
           (sum(runs) over (partition by region, provider))::bigint as ended
    from (
        select region, split_part(endpoint, '/', 1) as provider,
               case when state = 'missed' and reason = any(%(reasons)s) then reason end as reason,
               count(*) as runs
        from slot
        where slot_at > %(since)s and state in ('run', 'missed')
        group by 1, 2, 3
    ) as slots
) as told
where reason is not null
order by runs desc, region, provider, reason;

-- name: select_untold
-- by channel: notices that were tried and wait, and those given up since a moment
select channel, count(*) as notices, min(made_at) as since,
       (array_agg(error order by notice_id desc))[1] as error
from notice
where sent_at is null
  and ((given_up_at is null and tries > 0) or given_up_at > %(since)s)
group by channel
order by channel;

-- name: count_notices
-- of these channels, and of all that ever had one: those that wait, and those that were given up
-- within a day
select channel,
       count(notice_id) filter (where sent_at is null and given_up_at is null) as waiting,
       count(*) filter (where given_up_at > now() - interval '1 day') as given_up
from (select unnest(%(channels)s::text[]) as channel union select channel from notice) as named
left join notice using (channel)
group by channel
order by channel;

-- name: select_last_runs
-- the latest two runs of each of the given series, the later one first
select asked.series_id, last.slot_at, last.requests, last.good
from unnest(%(series)s::integer[]) as asked (series_id)
cross join lateral (
    select slot_at, requests, good
    from run
    where run.series_id = asked.series_id
      and slot_at > %(after)s
      and rolls
    order by slot_at desc
    limit 2
) as last
order by asked.series_id, last.slot_at desc;

-- name: select_together
-- of parallel series: what all requests of a run get, and the medians of the single series beside,
-- which is null where its window is empty
select s.series_id, st.system_tokens_per_s, st.system_runs, st.system_low, st.system_high,
       alone.series_id as alone_id,
       alone.output_tokens_per_s[3] as alone_tokens_per_s, coalesce(alone.speed_runs, 0) as alone_speed_runs,
       alone.speed_low as alone_speed_low, alone.speed_high as alone_speed_high,
       alone.ttft_s[3] as alone_ttft_s, coalesce(alone.ttft_runs, 0) as alone_ttft_runs,
       alone.ttft_low as alone_ttft_low, alone.ttft_high as alone_ttft_high
from series s
join series_stat st using (series_id)
left join series a
    on (a.endpoint, a.region, a.workload, a.load, a.simulated)
     = (s.endpoint, s.region, s.workload, 'single', s.simulated)
left join series_stat alone on alone.series_id = a.series_id and alone.newest_at > %(since)s
where s.series_id = any(%(series)s);

-- name: select_hidden_series
-- series whose latest run was answered with most of the reasoning hidden; each run is looked up by
-- its key, which the limit has the planner do: joined, it would read all days there are
select asked.series_id
from unnest(%(series)s::integer[], %(runs)s::uuid[], %(latest)s::timestamptz[])
    as asked (series_id, run_id, latest_at)
cross join lateral (
    select from timing
    where timing.run_id = asked.run_id
      and timing.slot_at = asked.latest_at
      and timing.slot_at >= %(earliest)s
      and 'hidden_reasoning' = any (timing.flags)
    limit 1
) as hidden;

-- name: select_next_slot
select min(slot_at) as slot_at from slot where state = 'planned';

-- name: select_told_verdicts
-- of endpoints that are probed now
select endpoint, region, verdict, ttft_ratio, speed_ratio, end_to_end_ratio, under_load_ratio
from verdict join endpoint using (endpoint)
where active
order by endpoint, region

-- name: select_judged
-- the latest finished tick of the judge, unless something of the endpoint has waited since before it
select endpoint,
       least(coalesce(store.judged_at, judgement.judged_at), due_at, waiting.since) as judged_at
from judgement
join endpoint using (endpoint)
cross join store
left join (select endpoint, min(received_at) as since from unjudged group by endpoint) as waiting
    using (endpoint)
where active
order by endpoint

-- name: select_told_incidents
select incident_id, class as blame, trouble, provider, region, importance
from incident
where state in ('confirmed', 'eased')
order by incident_id
