-- What `series_shown` gives, with the definitions of the window. A view of its own: centres of before read
-- `series_shown` whole while they run beside newer ones, and one more column would fail them.

create view series_defined as
select s.series_id, s.endpoint, s.region, s.workload, s.load, s.simulated,
       coalesce(st.runs, 0) as runs, coalesce(st.requests, 0) as requests, coalesce(st.good, 0) as good,
       st.ttft_s, st.answer_s, st.output_tokens_per_s, st.end_to_end_s,
       coalesce(st.ttft_runs, 0) as ttft_runs, st.ttft_low, st.ttft_high,
       coalesce(st.answer_runs, 0) as answer_runs, st.answer_low, st.answer_high,
       coalesce(st.speed_runs, 0) as speed_runs, st.speed_low, st.speed_high,
       coalesce(st.end_to_end_runs, 0) as end_to_end_runs, st.end_to_end_low, st.end_to_end_high,
       st.newest_at, st.latest_at, st.latest_run_id, st.latest_outcome, st.latest_ttft_s,
       st.latest_output_tokens_per_s, st.latest_end_to_end_s, st.last_success_at,
       coalesce(st.tried, 0) as tried, coalesce(st.succeeded, 0) as succeeded,
       st.definition_low, st.definition_high
from series s
left join series_stat st using (series_id);
