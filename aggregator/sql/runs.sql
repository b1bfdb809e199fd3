-- One run, by its id. The slot says on which day it lies.

-- name: select_run_slot
select slot.run_id, endpoint, region, workload, load, purpose, slot_at, valid_until, state, reason,
       store.simulated
from slot
cross join store
where slot.run_id = %(run)s;

-- name: select_run
select execution, endpoint_hash, worker, worker_version, started_at, received_at, beside, cost_usd,
       flags, outcome, definition, ttft_s, answer_s, output_tokens_per_s, end_to_end_s, stall_s,
       system_tokens_per_s
from run
where run_id = %(run)s and slot_at = %(slot_at)s;

-- name: select_run_timings
select n, outcome, fault_status, fault_type, flags, ttft_s, answer_s, output_tokens_per_s,
       end_to_end_s, stall_s, tokens, left_out
from timing
where run_id = %(run)s and slot_at = %(slot_at)s
order by n;

-- name: select_timeline
select record from timeline where run_id = %(run)s and slot_at = %(slot_at)s;

-- name: select_unrun
select execution, declined, received_at from unrun where run_id = %(run)s
order by received_at, execution;

-- name: select_aside
select execution, reason, received_at from aside where run_id = %(run)s
order by received_at, execution;

-- name: select_duplicates
select execution, cost_usd, received_at from duplicate where run_id = %(run)s
order by received_at, execution;
