-- Evidence: what was measured of some endpoints since a moment, beside the time before it.

-- name: select_bundle_runs
-- `counts`: of a purpose that enters the rolling statistics, or ordered to confirm
select s.endpoint, s.region, s.workload, s.load, s.series_id, r.run_id, r.slot_at, r.purpose,
       r.rolls or (r.purpose = 'confirm' and r.slot_at > %(since)s) as counts,
       r.outcome, r.flags, r.requests, r.good, r.definition, r.worker_version,
       r.ttft_s, r.answer_s, r.output_tokens_per_s, r.end_to_end_s, r.stall_s
from series s
join run r using (series_id)
where s.endpoint = any(%(endpoints)s) and r.slot_at > %(from)s and r.slot_at <= %(until)s
order by r.slot_at desc, r.run_id;

-- name: select_bundle_outcomes
select s.endpoint, s.region, t.outcome, t.fault_status, t.fault_type,
       count(*) filter (where t.slot_at <= %(since)s) as before,
       count(*) filter (where t.slot_at > %(since)s) as since
from series s
join timing t using (series_id)
where s.endpoint = any(%(endpoints)s) and t.slot_at > %(from)s and t.slot_at <= %(until)s
group by s.endpoint, s.region, t.outcome, t.fault_status, t.fault_type
order by s.endpoint, s.region, since desc, before desc, t.outcome, t.fault_status, t.fault_type;

-- name: select_bundle_timings
select run_id, n, outcome, fault_status, fault_type, flags, ttft_s, answer_s, output_tokens_per_s,
       end_to_end_s, stall_s, tokens
from timing
where run_id = any(%(runs)s) and slot_at > %(from)s and slot_at <= %(until)s
order by run_id, n;

-- name: select_bundle_timelines
select run_id, record from timeline
where run_id = any(%(runs)s) and slot_at > %(from)s and slot_at <= %(until)s;
