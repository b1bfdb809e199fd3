-- Rolling statistics of given series. The caller holds the locks of their series_stat rows.

-- name: lock_series
select series_id from series_stat
where series_id = any(%(series)s)
order by series_id
for no key update

-- name: select_told
select series_id, stat::text as told from series_stat as stat where series_id = any(%(series)s)

-- name: count_series
update series_stat as stat
set tried = stat.tried + row.tried,
    succeeded = stat.succeeded + row.succeeded,
    last_success_at = greatest(stat.last_success_at, row.success_at)
from json_to_recordset(%(rows)s) as row (
    series_id integer, tried bigint, succeeded bigint, success_at timestamptz)
where stat.series_id = row.series_id

-- name: advance_latest
-- the latest run is the one of the greatest slot_at, whenever it came in
update series_stat as stat
set latest_at = row.slot_at,
    latest_run_id = row.run_id,
    latest_outcome = row.outcome,
    latest_ttft_s = row.ttft_s,
    latest_output_tokens_per_s = row.output_tokens_per_s,
    latest_end_to_end_s = row.end_to_end_s
from json_to_recordset(%(rows)s) as row (
    series_id integer, slot_at timestamptz, run_id uuid, outcome text, ttft_s float8,
    output_tokens_per_s float8, end_to_end_s float8)
where stat.series_id = row.series_id
  and (stat.latest_at is null or (stat.latest_at, stat.latest_run_id) < (row.slot_at, row.run_id))

-- name: find_latest
-- the oracle of advance_latest and of last_success_at: from all runs there are
select touched.series_id, latest.*, success.slot_at as success_at
from unnest(%(series)s::integer[]) as touched (series_id)
cross join lateral (
    select slot_at, run_id, outcome, ttft_s, output_tokens_per_s, end_to_end_s from run
    where run.series_id = touched.series_id and rolls
    order by slot_at desc, run_id desc limit 1) as latest
left join lateral (
    select slot_at from run
    where run.series_id = touched.series_id and rolls and good > 0
    order by slot_at desc limit 1) as success on true

-- name: clear_latest
update series_stat
set latest_at = null, latest_run_id = null, latest_outcome = null, latest_ttft_s = null,
    latest_output_tokens_per_s = null, latest_end_to_end_s = null, last_success_at = null
where series_id = any(%(series)s)

-- name: refresh_series
-- Medians are over runs, each run one value, its own median; other quantiles are over requests.
-- v[(n + 1) / 2] and v[n / 2 + 1] are the two middles of n sorted values, one and the same where n
-- is odd. `low` is the rank of the interval's low end, its high end the same from above; beyond the
-- array, as at rank 0, there is null. The ranks are materialized so that the plan holds them once.
with exact as materialized (
    select %(low_ranks)s::smallint[] as ranks, %(exact_up_to)s::integer as most)
update series_stat as stat
set runs = sorted.runs,
    requests = spread.requests,
    good = spread.good,
    oldest_at = sorted.oldest_at,
    newest_at = sorted.newest_at,
    definition_low = sorted.definition_low,
    definition_high = sorted.definition_high,
    next_expiry = least(sorted.oldest_at + %(window)s, coming.slot_at),
    ttft_runs = n.ttft,
    ttft_s = case when n.ttft > 0 then array[spread.ttft[1], spread.ttft[2],
        sorted.ttft[(n.ttft + 1) / 2]
            + (sorted.ttft[n.ttft / 2 + 1] - sorted.ttft[(n.ttft + 1) / 2]) * 0.5,
        spread.ttft[3], spread.ttft[4]] end,
    ttft_low = sorted.ttft[low.ttft],
    ttft_high = sorted.ttft[n.ttft + 1 - low.ttft],
    answer_runs = n.answer,
    answer_s = case when n.answer > 0 then array[spread.answer[1], spread.answer[2],
        sorted.answer[(n.answer + 1) / 2]
            + (sorted.answer[n.answer / 2 + 1] - sorted.answer[(n.answer + 1) / 2]) * 0.5,
        spread.answer[3], spread.answer[4]] end,
    answer_low = sorted.answer[low.answer],
    answer_high = sorted.answer[n.answer + 1 - low.answer],
    speed_runs = n.speed,
    output_tokens_per_s = case when n.speed > 0 then array[spread.speed[1], spread.speed[2],
        sorted.speed[(n.speed + 1) / 2]
            + (sorted.speed[n.speed / 2 + 1] - sorted.speed[(n.speed + 1) / 2]) * 0.5,
        spread.speed[3], spread.speed[4]] end,
    speed_low = sorted.speed[low.speed],
    speed_high = sorted.speed[n.speed + 1 - low.speed],
    end_to_end_runs = n.whole,
    end_to_end_s = case when n.whole > 0 then array[spread.whole[1], spread.whole[2],
        sorted.whole[(n.whole + 1) / 2]
            + (sorted.whole[n.whole / 2 + 1] - sorted.whole[(n.whole + 1) / 2]) * 0.5,
        spread.whole[3], spread.whole[4]] end,
    end_to_end_low = sorted.whole[low.whole],
    end_to_end_high = sorted.whole[n.whole + 1 - low.whole],
    stall_runs = n.stall,
    stall_s = case when n.stall > 0 then array[spread.stall[1], spread.stall[2],
        sorted.stall[(n.stall + 1) / 2]
            + (sorted.stall[n.stall / 2 + 1] - sorted.stall[(n.stall + 1) / 2]) * 0.5,
        spread.stall[3], spread.stall[4]] end,
    stall_low = sorted.stall[low.stall],
    stall_high = sorted.stall[n.stall + 1 - low.stall],
    system_runs = n.system,
    system_tokens_per_s = sorted.system[(n.system + 1) / 2]
        + (sorted.system[n.system / 2 + 1] - sorted.system[(n.system + 1) / 2]) * 0.5,
    system_low = sorted.system[low.system],
    system_high = sorted.system[n.system + 1 - low.system]
from unnest(%(series)s::integer[]) as touched (series_id)
cross join lateral (
    select
        count(*) as runs,
        min(slot_at) as oldest_at,
        max(slot_at) as newest_at,
        min(definition) as definition_low,
        max(definition) as definition_high,
        coalesce(array_agg(ttft_s order by ttft_s)
            filter (where ttft_s is not null), '{}') as ttft,
        coalesce(array_agg(answer_s order by answer_s)
            filter (where answer_s is not null), '{}') as answer,
        coalesce(array_agg(output_tokens_per_s order by output_tokens_per_s)
            filter (where output_tokens_per_s is not null), '{}') as speed,
        coalesce(array_agg(end_to_end_s order by end_to_end_s)
            filter (where end_to_end_s is not null), '{}') as whole,
        coalesce(array_agg(stall_s order by stall_s)
            filter (where stall_s is not null), '{}') as stall,
        coalesce(array_agg(system_tokens_per_s order by system_tokens_per_s)
            filter (where system_tokens_per_s is not null and output_tokens_per_s is not null), '{}')
            as system
    from run
    where run.series_id = touched.series_id and rolls
      and slot_at > %(since)s and slot_at <= %(now)s) as sorted
cross join lateral (
    select
        count(*) as requests,
        count(*) filter (where outcome = 'ok') as good,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95])
            within group (order by ttft_s)
            filter (where 'ttft_s' <> all(left_out)) as ttft,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95])
            within group (order by answer_s)
            filter (where 'answer_s' <> all(left_out)) as answer,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95])
            within group (order by output_tokens_per_s)
            filter (where 'output_tokens_per_s' <> all(left_out)) as speed,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95])
            within group (order by end_to_end_s)
            filter (where 'end_to_end_s' <> all(left_out)) as whole,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95])
            within group (order by stall_s)
            filter (where 'stall_s' <> all(left_out)) as stall
    from timing
    where timing.series_id = touched.series_id and rolls
      and slot_at > %(since)s and slot_at <= %(now)s) as spread
cross join lateral (
    select min(slot_at) as slot_at
    from run
    where run.series_id = touched.series_id and rolls and slot_at > %(now)s) as coming
cross join lateral (
    select
        cardinality(sorted.ttft) as ttft,
        cardinality(sorted.answer) as answer,
        cardinality(sorted.speed) as speed,
        cardinality(sorted.whole) as whole,
        cardinality(sorted.stall) as stall,
        cardinality(sorted.system) as system) as n
cross join exact
cross join lateral (
    select
        case when n.ttft <= most then ranks[n.ttft] else n.ttft * ranks[most] / most end as ttft,
        case when n.answer <= most then ranks[n.answer] else n.answer * ranks[most] / most end as answer,
        case when n.speed <= most then ranks[n.speed] else n.speed * ranks[most] / most end as speed,
        case when n.whole <= most then ranks[n.whole] else n.whole * ranks[most] / most end as whole,
        case when n.stall <= most then ranks[n.stall] else n.stall * ranks[most] / most end as stall,
        case when n.system <= most then ranks[n.system] else n.system * ranks[most] / most end as system) as low
where stat.series_id = touched.series_id
