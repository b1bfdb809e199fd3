-- name: select_pooled
-- Medians over several series, each having one vote however many runs it has: a run weighs
-- 1 / (runs of its series that have the figure). `share` is where the weights have come to, of the
-- whole; the quantile q is the first value up to which they reach q, and where they reach it
-- exactly, as the tolerance takes it, the mean of that value and the next. Both rise together, so
-- the quantile is the least value of those at or beyond it. The interval is of the quantiles at
-- 0.5 -+ 1.96 sd, with the greatest sd that the weighted share below a point can have. What all
-- requests of a run get is told of runs that have several, and an output speed.
with asked as materialized (
    select * from unnest(%(pools)s::integer[], %(series)s::integer[]) as asked (pool, series_id)
), weighed as (
    select pool, figure, value,
        1.0::float8 / count(*) over (partition by pool, figure, run.series_id) as weight
    from asked
    join run on run.series_id = asked.series_id
        and run.slot_at > %(since)s and run.slot_at <= %(now)s
        and (run.rolls or run.purpose = %(also)s)
    cross join lateral (values
        ('ttft_s', run.ttft_s), ('answer_s', run.answer_s),
        ('output_tokens_per_s', run.output_tokens_per_s), ('end_to_end_s', run.end_to_end_s),
        ('system_tokens_per_s', case when run.requests > 1 and run.output_tokens_per_s is not null
            then run.system_tokens_per_s end)
    ) as its (figure, value)
    where value is not null
), summed as (
    select pool, figure, value,
        sum(weight) over in_order as reached,
        lead(value, 1, value) over in_order as after,
        sum(weight) over whole as votes,
        sum(weight * weight) over whole as squares
    from weighed
    window whole as (partition by pool, figure),
        in_order as (partition by pool, figure order by value rows unbounded preceding)
), placed as (
    select pool, figure, value, (value + after) / 2 as between, reached / votes as share,
        1.959964 * 0.5 * sqrt(squares) / votes as half_width
    from summed
), told as (
    select pool, figure, count(*) as runs, min(half_width) as half_width,
        min(case when share > 0.5 + 1e-9 then value else between end)
            filter (where share >= 0.5 - 1e-9) as median,
        min(case when share > 0.5 - half_width + 1e-9 then value else between end)
            filter (where share >= 0.5 - half_width - 1e-9) as low,
        min(case when share > 0.5 + half_width + 1e-9 then value else between end)
            filter (where share >= 0.5 + half_width - 1e-9) as high
    from placed
    group by pool, figure
)
select pool, figure, runs, median,
    case when half_width < 0.5 then low end as low, case when half_width < 0.5 then high end as high
from told
