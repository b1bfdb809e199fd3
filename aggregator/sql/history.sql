-- Stored history as judging sees it, and what calibration made of it.

-- name: find_first
select min(slot_at) as slot_at from run where slot_at >= %(since)s

-- name: select_history
-- the runs of one day or less, in the order of their slots
select endpoint, run.run_id, run.slot_at, received_at, region, workload, load, purpose, ttft_s,
       output_tokens_per_s, end_to_end_s, ended
from run
join series using (series_id)
cross join lateral (
    select json_agg(json_build_object('outcome', outcome, 'type', fault_type, 'flags', flags)
                    order by n) as ended
    from timing
    where timing.run_id = run.run_id and timing.slot_at = run.slot_at
        and timing.slot_at >= %(since)s and timing.slot_at < %(until)s) as requests
where run.slot_at >= %(since)s and run.slot_at < %(until)s
    and endpoint = any (%(endpoints)s::text[]) and region = any (%(regions)s::text[])
order by run.slot_at, run.run_id

-- name: select_taken_as_real
-- confirmed incidents that somebody had in hand or accepted: no quiet time
select endpoint, incident.since, coalesce(incident.ended_at, %(now)s) as until
from incident
join incident_endpoint using (incident_id)
where confirmed_at is not null and incident.since < %(now)s
    and (acknowledged_at is not null or exists (
        select from incident_event
        where incident_event.incident_id = incident.incident_id and kind = 'accepted'))

-- name: insert_calibration
insert into calibration (calibrated_at, multiplier, quiet_days, false_pages_a_month)
values (%(now)s, %(multiplier)s, %(quiet_days)s, %(false_pages_a_month)s)

-- name: select_calibration
select calibrated_at, multiplier, quiet_days, false_pages_a_month
from calibration order by calibrated_at desc limit 1
