-- Daily statistics: which days are due, and what they come to.

-- name: mark_days_due
-- by who brings a run for a day that is over; the row is locked although it may be there, so that
-- who makes the day's statistics waits for the run
insert into day_due (day)
select day from unnest(%(days)s::date[]) as late (day) order by day
on conflict (day) do update set day = excluded.day

-- name: mark_past_days_due
-- the days that are over and have not been due yet
with since as (
    select coalesce(rolled_up_to, (select (min(slot_at) at time zone 'UTC')::date from run)) as day
    from store
), noted as (
    update store set rolled_up_to = %(today)s::date
)
insert into day_due (day)
select its.day::date
from since, generate_series(since.day, %(today)s::date - 1, interval '1 day') as its (day)
on conflict do nothing

-- name: take_day_due
delete from day_due
where day = (select day from day_due order by day limit 1 for update skip locked)
returning day

-- name: roll_up_day
-- as the rolling statistics are made: medians over runs, with the interval that their ranks bound,
-- other quantiles over requests
with exact as materialized (
    select %(low_ranks)s::smallint[] as ranks, %(exact_up_to)s::integer as most)
insert into day_stat (
    day, series_id, definition, definition_low, runs, requests, good, cost_usd,
    ttft_s, ttft_runs, ttft_low, ttft_high,
    answer_s, answer_runs, answer_low, answer_high,
    output_tokens_per_s, speed_runs, speed_low, speed_high,
    end_to_end_s, end_to_end_runs, end_to_end_low, end_to_end_high,
    stall_s, stall_runs, stall_low, stall_high)
select %(day)s, series_id, definition, definition_low, runs, requests, good, cost_usd,
    case when n.ttft > 0 then array[q.ttft[1], q.ttft[2],
        m.ttft[(n.ttft + 1) / 2] + (m.ttft[n.ttft / 2 + 1] - m.ttft[(n.ttft + 1) / 2]) * 0.5,
        q.ttft[3], q.ttft[4]] end,
    n.ttft, m.ttft[low.ttft], m.ttft[n.ttft + 1 - low.ttft],
    case when n.answer > 0 then array[q.answer[1], q.answer[2],
        m.answer[(n.answer + 1) / 2] + (m.answer[n.answer / 2 + 1] - m.answer[(n.answer + 1) / 2]) * 0.5,
        q.answer[3], q.answer[4]] end,
    n.answer, m.answer[low.answer], m.answer[n.answer + 1 - low.answer],
    case when n.speed > 0 then array[q.speed[1], q.speed[2],
        m.speed[(n.speed + 1) / 2] + (m.speed[n.speed / 2 + 1] - m.speed[(n.speed + 1) / 2]) * 0.5,
        q.speed[3], q.speed[4]] end,
    n.speed, m.speed[low.speed], m.speed[n.speed + 1 - low.speed],
    case when n.whole > 0 then array[q.whole[1], q.whole[2],
        m.whole[(n.whole + 1) / 2] + (m.whole[n.whole / 2 + 1] - m.whole[(n.whole + 1) / 2]) * 0.5,
        q.whole[3], q.whole[4]] end,
    n.whole, m.whole[low.whole], m.whole[n.whole + 1 - low.whole],
    case when n.stall > 0 then array[q.stall[1], q.stall[2],
        m.stall[(n.stall + 1) / 2] + (m.stall[n.stall / 2 + 1] - m.stall[(n.stall + 1) / 2]) * 0.5,
        q.stall[3], q.stall[4]] end,
    n.stall, m.stall[low.stall], m.stall[n.stall + 1 - low.stall]
from (
    select series_id, max(definition) as definition, min(definition) as definition_low,
        count(*) as runs, sum(good) as good,
        coalesce(sum(cost_usd), 0) as cost_usd,
        coalesce(array_agg(ttft_s order by ttft_s)
            filter (where ttft_s is not null), '{}') as ttft,
        coalesce(array_agg(answer_s order by answer_s)
            filter (where answer_s is not null), '{}') as answer,
        coalesce(array_agg(output_tokens_per_s order by output_tokens_per_s)
            filter (where output_tokens_per_s is not null), '{}') as speed,
        coalesce(array_agg(end_to_end_s order by end_to_end_s)
            filter (where end_to_end_s is not null), '{}') as whole,
        coalesce(array_agg(stall_s order by stall_s)
            filter (where stall_s is not null), '{}') as stall
    from run
    where rolls and slot_at >= %(from)s and slot_at < %(until)s
    group by series_id) as m
join (
    select series_id, count(*) as requests,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95]) within group (order by ttft_s)
            filter (where 'ttft_s' <> all(left_out)) as ttft,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95]) within group (order by answer_s)
            filter (where 'answer_s' <> all(left_out)) as answer,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95]) within group (order by output_tokens_per_s)
            filter (where 'output_tokens_per_s' <> all(left_out)) as speed,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95]) within group (order by end_to_end_s)
            filter (where 'end_to_end_s' <> all(left_out)) as whole,
        percentile_cont(array[0.05, 0.25, 0.75, 0.95]) within group (order by stall_s)
            filter (where 'stall_s' <> all(left_out)) as stall
    from timing
    where rolls and slot_at >= %(from)s and slot_at < %(until)s
    group by series_id) as q using (series_id)
cross join lateral (
    select
        cardinality(m.ttft) as ttft,
        cardinality(m.answer) as answer,
        cardinality(m.speed) as speed,
        cardinality(m.whole) as whole,
        cardinality(m.stall) as stall) as n
cross join exact
cross join lateral (
    select
        case when n.ttft <= most then ranks[n.ttft] else n.ttft * ranks[most] / most end as ttft,
        case when n.answer <= most then ranks[n.answer] else n.answer * ranks[most] / most end as answer,
        case when n.speed <= most then ranks[n.speed] else n.speed * ranks[most] / most end as speed,
        case when n.whole <= most then ranks[n.whole] else n.whole * ranks[most] / most end as whole,
        case when n.stall <= most then ranks[n.stall] else n.stall * ranks[most] / most end as stall) as low
order by series_id
on conflict (series_id, day) do update set
    definition = excluded.definition, definition_low = excluded.definition_low, runs = excluded.runs, requests = excluded.requests,
    good = excluded.good, cost_usd = excluded.cost_usd,
    ttft_s = excluded.ttft_s, ttft_runs = excluded.ttft_runs,
    ttft_low = excluded.ttft_low, ttft_high = excluded.ttft_high,
    answer_s = excluded.answer_s, answer_runs = excluded.answer_runs,
    answer_low = excluded.answer_low, answer_high = excluded.answer_high,
    output_tokens_per_s = excluded.output_tokens_per_s, speed_runs = excluded.speed_runs,
    speed_low = excluded.speed_low, speed_high = excluded.speed_high,
    end_to_end_s = excluded.end_to_end_s, end_to_end_runs = excluded.end_to_end_runs,
    end_to_end_low = excluded.end_to_end_low, end_to_end_high = excluded.end_to_end_high,
    stall_s = excluded.stall_s, stall_runs = excluded.stall_runs,
    stall_low = excluded.stall_low, stall_high = excluded.stall_high

-- name: delete_old_days
delete from day_stat where day < %(before)s

-- name: select_days
select day, definition, definition_low, runs, requests, good, cost_usd,
    ttft_s, ttft_runs, ttft_low, ttft_high,
    answer_s, answer_runs, answer_low, answer_high,
    output_tokens_per_s, speed_runs, speed_low, speed_high,
    end_to_end_s, end_to_end_runs, end_to_end_low, end_to_end_high,
    stall_s, stall_runs, stall_low, stall_high
from day_stat
where series_id = %(series)s and day >= %(since)s and day <= %(until)s
order by day
