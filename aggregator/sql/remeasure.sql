-- Figures by another definition than today's, made anew from what is kept of their chunks.

-- name: select_measured_otherwise
select run.run_id, run.slot_at, run.series_id, timeline.record
from run
join timeline on timeline.run_id = run.run_id and timeline.slot_at = run.slot_at
where run.slot_at >= %(since)s and run.slot_at < %(until)s
  and timeline.slot_at >= %(since)s and timeline.slot_at < %(until)s
  and run.definition <> %(definition)s and run.run_id > %(after)s
order by run.run_id
limit %(limit)s

-- name: update_runs
-- of one day, whose bounds spare the planner all others
update run set
    definition = row.definition, flags = row.flags, good = row.good, outcome = row.outcome,
    ttft_s = row.ttft_s, answer_s = row.answer_s, output_tokens_per_s = row.output_tokens_per_s,
    end_to_end_s = row.end_to_end_s, stall_s = row.stall_s,
    system_tokens_per_s = row.system_tokens_per_s
from json_to_recordset(%(rows)s) as row (
    run_id uuid, slot_at timestamptz, definition smallint, flags text[], good smallint,
    outcome text, ttft_s float8, answer_s float8, output_tokens_per_s float8, end_to_end_s float8,
    stall_s float8, system_tokens_per_s float8)
where run.run_id = row.run_id and run.slot_at = row.slot_at
  and run.slot_at >= %(since)s and run.slot_at < %(until)s

-- name: update_timings
update timing set
    ttft_s = row.ttft_s, answer_s = row.answer_s, output_tokens_per_s = row.output_tokens_per_s,
    end_to_end_s = row.end_to_end_s, stall_s = row.stall_s, tokens = row.tokens,
    left_out = row.left_out
from json_to_recordset(%(rows)s) as row (
    run_id uuid, slot_at timestamptz, n smallint, ttft_s float8, answer_s float8,
    output_tokens_per_s float8, end_to_end_s float8, stall_s float8, tokens integer,
    left_out text[])
where timing.run_id = row.run_id and timing.slot_at = row.slot_at and timing.n = row.n
  and timing.slot_at >= %(since)s and timing.slot_at < %(until)s
