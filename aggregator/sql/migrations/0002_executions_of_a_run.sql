-- Executions that took no run's key are found by the run that they were for.

create index unrun_run on unrun (run_id);
create index duplicate_run on duplicate (run_id);
