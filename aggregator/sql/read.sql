-- What is shown: metrics, board, status. Nothing here writes.

-- name: select_store
select simulated, catalog_hash, ticked_at from store;

-- name: select_endpoints
select endpoint, provider, provider_name, model, precision, protocol, importance, base_host, location,
       account, tier, price_input_usd, price_output_usd, active
from endpoint
order by endpoint;

-- name: select_series
-- a series without statistics yet counts as one with none: its counters stand at 0
select s.series_id, s.endpoint, s.region, s.workload, s.load, s.simulated,
       coalesce(st.runs, 0) as runs, coalesce(st.requests, 0) as requests, coalesce(st.good, 0) as good,
       st.ttft_s, st.answer_s, st.output_tokens_per_s, st.end_to_end_s,
       coalesce(st.ttft_runs, 0) as ttft_runs, st.ttft_low, st.ttft_high,
       coalesce(st.answer_runs, 0) as answer_runs, st.answer_low, st.answer_high,
       coalesce(st.speed_runs, 0) as speed_runs, st.speed_low, st.speed_high,
       coalesce(st.end_to_end_runs, 0) as end_to_end_runs, st.end_to_end_low, st.end_to_end_high,
       st.newest_at, st.latest_at, st.latest_run_id, st.latest_outcome, st.latest_ttft_s,
       st.latest_output_tokens_per_s, st.latest_end_to_end_s, st.last_success_at,
       coalesce(st.tried, 0) as tried, coalesce(st.succeeded, 0) as succeeded
from series s
left join series_stat st using (series_id)
order by s.endpoint, s.region, s.workload, s.load, s.simulated;

-- name: select_scraped_series
-- of the same series what metrics tell
select s.endpoint, s.region, s.workload, s.load, s.simulated, coalesce(st.runs, 0) as runs,
       st.ttft_s, st.answer_s, st.output_tokens_per_s, st.end_to_end_s,
       coalesce(st.ttft_runs, 0) as ttft_runs, coalesce(st.answer_runs, 0) as answer_runs,
       coalesce(st.speed_runs, 0) as speed_runs, coalesce(st.end_to_end_runs, 0) as end_to_end_runs,
       st.newest_at, st.latest_at, st.latest_ttft_s, st.latest_output_tokens_per_s,
       st.latest_end_to_end_s, st.last_success_at,
       coalesce(st.tried, 0) as tried, coalesce(st.succeeded, 0) as succeeded
from series s
left join series_stat st using (series_id)
order by s.endpoint, s.region, s.workload, s.load, s.simulated

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
       outbox_runs, budget_left_usd, rate_limits
from worker
order by region, worker;

-- name: select_run_figures
-- each run's own figures, by series: what a median over several regions is taken of
select series_id,
       array_agg(ttft_s) filter (where ttft_s is not null) as ttft_s,
       array_agg(answer_s) filter (where answer_s is not null) as answer_s,
       array_agg(output_tokens_per_s) filter (where output_tokens_per_s is not null)
           as output_tokens_per_s,
       array_agg(end_to_end_s) filter (where end_to_end_s is not null) as end_to_end_s
from run
where series_id = any (%(series)s)
  and slot_at > %(after)s and slot_at <= %(now)s
  and rolls
group by series_id;

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

-- name: select_hidden_series
-- series whose latest run was answered with most of the reasoning hidden
select asked.series_id
from unnest(%(series)s::integer[], %(runs)s::uuid[], %(latest)s::timestamptz[])
    as asked (series_id, run_id, latest_at)
where exists (
    select from timing
    where timing.run_id = asked.run_id
      and timing.slot_at = asked.latest_at
      and 'hidden_reasoning' = any (timing.flags)
);

-- name: select_next_slot
select min(slot_at) as slot_at from slot where state = 'planned';
