-- What is put aside is looked for by its run: before a slot is sent again, and on the run's page.

create index aside_run on aside (run_id);
