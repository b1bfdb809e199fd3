-- One endpoint: its runs and days, what is believed of it, its incidents.

-- name: select_points
-- the latest runs of its series of a workload and load, of every purpose, in the order of their slots
select s.region, r.*
from series s
cross join lateral (
    select run_id, slot_at, received_at, purpose, rolls, outcome, requests, good, definition,
           ttft_s, output_tokens_per_s
    from run
    where run.series_id = s.series_id and slot_at > %(since)s and slot_at <= %(now)s
    order by slot_at desc, run_id
    limit %(limit)s) as r
where s.endpoint = %(endpoint)s and s.workload = %(workload)s and s.load = %(load)s
order by s.region, r.slot_at, r.run_id;

-- name: select_endpoint_days
select s.region, d.day, d.definition, d.definition_low, d.runs, d.requests, d.good, d.cost_usd,
       d.ttft_s, d.ttft_runs, d.ttft_low, d.ttft_high,
       d.answer_s, d.answer_runs, d.answer_low, d.answer_high,
       d.output_tokens_per_s, d.speed_runs, d.speed_low, d.speed_high,
       d.end_to_end_s, d.end_to_end_runs, d.end_to_end_low, d.end_to_end_high,
       d.stall_s, d.stall_runs, d.stall_low, d.stall_high
from series s
join day_stat d using (series_id)
where s.endpoint = %(endpoint)s and s.workload = %(workload)s and s.load = %(load)s
  and d.day >= %(since)s::date
order by s.region, d.day;

-- name: select_endpoint_incidents
-- those that were more than a suspicion, the latest first
select incident_id, its.trouble, class, state, its.ratio, its.since, ended_at
from incident_endpoint its
join incident using (incident_id)
where its.endpoint = %(endpoint)s and confirmed_at is not null
order by its.since desc, incident_id desc, its.trouble
limit %(limit)s;

-- name: find_model
select 1 as found from endpoint where model = %(model)s limit 1;
