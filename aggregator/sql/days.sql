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
-- as the rolling statistics are made: medians over runs, other quantiles over requests
insert into day_stat (
    day, series_id, definition, runs, requests, good, cost_usd,
    ttft_s, ttft_runs, answer_s, answer_runs, output_tokens_per_s, speed_runs,
    end_to_end_s, end_to_end_runs, stall_s, stall_runs)
select %(day)s, series_id, definition, runs, requests, good, cost_usd,
    case when ttft_runs > 0 then array[q.ttft[1], q.ttft[2], m.ttft, q.ttft[3], q.ttft[4]] end,
    ttft_runs,
    case when answer_runs > 0
        then array[q.answer[1], q.answer[2], m.answer, q.answer[3], q.answer[4]] end,
    answer_runs,
    case when speed_runs > 0 then array[q.speed[1], q.speed[2], m.speed, q.speed[3], q.speed[4]] end,
    speed_runs,
    case when whole_runs > 0 then array[q.whole[1], q.whole[2], m.whole, q.whole[3], q.whole[4]] end,
    whole_runs,
    case when stall_runs > 0 then array[q.stall[1], q.stall[2], m.stall, q.stall[3], q.stall[4]] end,
    stall_runs
from (
    select series_id, max(definition) as definition, count(*) as runs, sum(good) as good,
        coalesce(sum(cost_usd), 0) as cost_usd,
        percentile_cont(0.5) within group (order by ttft_s) as ttft, count(ttft_s) as ttft_runs,
        percentile_cont(0.5) within group (order by answer_s) as answer,
        count(answer_s) as answer_runs,
        percentile_cont(0.5) within group (order by output_tokens_per_s) as speed,
        count(output_tokens_per_s) as speed_runs,
        percentile_cont(0.5) within group (order by end_to_end_s) as whole,
        count(end_to_end_s) as whole_runs,
        percentile_cont(0.5) within group (order by stall_s) as stall, count(stall_s) as stall_runs
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
order by series_id
on conflict (series_id, day) do update set
    definition = excluded.definition, runs = excluded.runs, requests = excluded.requests,
    good = excluded.good, cost_usd = excluded.cost_usd,
    ttft_s = excluded.ttft_s, ttft_runs = excluded.ttft_runs,
    answer_s = excluded.answer_s, answer_runs = excluded.answer_runs,
    output_tokens_per_s = excluded.output_tokens_per_s, speed_runs = excluded.speed_runs,
    end_to_end_s = excluded.end_to_end_s, end_to_end_runs = excluded.end_to_end_runs,
    stall_s = excluded.stall_s, stall_runs = excluded.stall_runs

-- name: delete_old_days
delete from day_stat where day < %(before)s

-- name: select_days
select day, definition, runs, requests, good, cost_usd, ttft_s, ttft_runs, answer_s, answer_runs,
    output_tokens_per_s, speed_runs, end_to_end_s, end_to_end_runs, stall_s, stall_runs
from day_stat
where series_id = %(series)s and day >= %(since)s and day <= %(until)s
order by day
