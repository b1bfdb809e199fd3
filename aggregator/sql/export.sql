-- name: select_export
-- the requests of a time, with what their run and their endpoint say; an empty filter asks for all
select run.run_id as run, timing.n, run.slot_at, run.received_at, run.purpose,
    series.endpoint, endpoint.provider, endpoint.model, endpoint.precision, series.region,
    series.workload, series.load, series.simulated, run.worker, run.worker_version,
    run.endpoint_hash, run.definition, timing.outcome, timing.fault_status, timing.fault_type,
    timing.flags || run.flags as flags, timing.left_out, timing.tokens,
    timing.ttft_s, timing.answer_s, timing.output_tokens_per_s, timing.end_to_end_s,
    timing.stall_s, run.system_tokens_per_s, run.cost_usd as run_cost_usd
from run
join series using (series_id)
left join endpoint using (endpoint)
join timing on timing.run_id = run.run_id and timing.slot_at = run.slot_at
where run.slot_at >= %(since)s and run.slot_at < %(until)s
  and timing.slot_at >= %(since)s and timing.slot_at < %(until)s
  and (%(endpoints)s::text[] = '{}' or series.endpoint = any(%(endpoints)s))
  and (%(models)s::text[] = '{}' or endpoint.model = any(%(models)s))
  and (%(providers)s::text[] = '{}' or endpoint.provider = any(%(providers)s))
  and (%(precisions)s::text[] = '{}' or endpoint.precision = any(%(precisions)s))
  and (%(regions)s::text[] = '{}' or series.region = any(%(regions)s))
  and (%(workloads)s::text[] = '{}' or series.workload = any(%(workloads)s))
  and (%(loads)s::text[] = '{}' or series.load = any(%(loads)s))
order by run.slot_at, run.run_id, timing.n
