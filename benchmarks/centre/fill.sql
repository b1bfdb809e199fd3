-- Fills a migrated store with rows as a fleet leaves them; every value follows from its place.

-- name: endpoints
insert into endpoint (
    endpoint, provider, provider_name, model, precision, protocol, importance, base_host,
    price_input_usd, price_output_usd, own, active, first_seen_at)
select format('provider-%%s/model-%%s', n %% 20, n / 5), format('provider-%%s', n %% 20),
    format('Provider %%s', n %% 20), format('model-%%s', n / 5), 'fp8', 'openai-chat', 'notify',
    format('api.provider-%%s.example', n %% 20), 0.15, 0.6, false, true, %(now)s
from generate_series(0, %(endpoints)s::integer - 1) as n

-- name: versions
insert into endpoint_version (endpoint_hash, endpoint, workload, first_seen_at)
select substr(encode(sha256(convert_to(endpoint || ' standard', 'UTF8')), 'hex'), 1, 16), endpoint,
    'standard', %(now)s
from endpoint

-- name: series
insert into series (endpoint, region, workload, load, simulated)
select endpoint, format('region-%%s', to_char(r, 'FM00')), 'standard', load, false
from endpoint, generate_series(1, %(regions)s::integer) as r,
    (values ('single'), ('parallel')) as loads (load)
order by 1, 2, 4

-- name: statistics
insert into series_stat (series_id, tried, succeeded)
select series_id, case load when 'single' then 9600 else 24000 end,
    case load when 'single' then 9580 else 23950 end
from series

-- name: counters
with place as (select distinct endpoint, region, simulated from series),
places as (
    insert into place_counter (endpoint, region, simulated, cost_usd)
    select endpoint, region, simulated, 12.5 from place
), missed as (
    insert into missed_counter (endpoint, region, simulated, reason, runs)
    select endpoint, region, simulated, reason, case reason when 'lost' then 3 else 0 end
    from place, unnest(%(reasons)s::text[]) as known (reason)
)
insert into outcome_counter (endpoint, region, simulated, outcome, purpose, requests)
select endpoint, region, simulated, outcome, 'scheduled', requests
from place, (values ('ok', 33530), ('rate_limited', 50), ('server_error', 20)) as o (outcome, requests)

-- name: runs
-- every series' runs, spread over the day by its id; about one in two hundred failed
insert into run (
    run_id, slot_at, execution, series_id, purpose, rolls, endpoint_hash, worker, worker_version,
    started_at, received_at, beside, cost_usd, flags, requests, good, outcome, definition,
    ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s, system_tokens_per_s)
select gen_random_uuid(), slot_at, gen_random_uuid(), series_id, 'scheduled', true,
    '0123456789abcdef', 'bench', '0', slot_at, slot_at, 0, 0.0008, '{}', requests,
    case when ok then requests else 0 end, case when ok then 'ok' else 'server_error' end, 1,
    case when ok then 0.2 * spread end, case when ok then 0.2 * spread end,
    case when ok then 120 / spread end, case when ok then 8.5 * spread end,
    case when ok then 0.09 * spread end, 110 / spread
from (
    select series_id, requests, slot_at, random() > 0.005 as ok,
        (1 + series_id %% 7 * 0.1) * exp(0.2 * (random() - 0.5)) as spread
    from (
        select series_id, case load when 'single' then 1 else 10 end as requests,
            case load when 'single' then 8 else 2 end as a_day
        from series) as each
    cross join lateral generate_series(
        0, floor(extract(epoch from %(until)s - %(since)s) / 86400 * a_day)::integer - 1) as n
    cross join lateral (
        select date_trunc('second', %(since)s + ((n + hashint4(series_id) %% 1000 / 2001.0 + 0.5)
            / a_day) * interval '1 day') as slot_at) as its) as made

-- name: timings
insert into timing (
    run_id, n, slot_at, series_id, outcome, flags, ttft_s, answer_s, output_tokens_per_s,
    end_to_end_s, stall_s, tokens, left_out, rolls)
select run_id, n, slot_at, series_id, outcome, '{}', ttft_s * f, answer_s * f,
    output_tokens_per_s / f, end_to_end_s * f, stall_s * f,
    case outcome when 'ok' then 1000 else 0 end, '{}', rolls
from run cross join lateral generate_series(0, run.requests - 1) as n
cross join lateral (select 1 + 0.02 * (n - run.requests / 2.0) as f) as its
where slot_at >= %(since)s and slot_at < %(until)s

-- name: slots
insert into slot (run_id, endpoint, region, workload, load, purpose, slot_at, valid_until, state,
    sends, sent_at, cost_usd)
select run_id, endpoint, region, workload, load, purpose, slot_at,
    slot_at + interval '30 minutes', 'run', 1, slot_at, 0.0008
from run join series using (series_id)
where slot_at >= %(since)s and slot_at < %(until)s

-- name: latest
update series_stat as stat
set latest_at = last.slot_at, latest_run_id = last.run_id, latest_outcome = last.outcome,
    latest_ttft_s = last.ttft_s, latest_output_tokens_per_s = last.output_tokens_per_s,
    latest_end_to_end_s = last.end_to_end_s, last_success_at = last.slot_at
from (
    select distinct on (series_id) series_id, slot_at, run_id, outcome, ttft_s,
        output_tokens_per_s, end_to_end_s
    from run where slot_at >= %(since)s order by series_id, slot_at desc, run_id desc) as last
where last.series_id = stat.series_id
