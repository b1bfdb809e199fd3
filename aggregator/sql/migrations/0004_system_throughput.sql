-- the median over runs of all tokens of a run over its whole time, and how many runs have it: those
-- that have an output speed
alter table series_stat
    add column system_tokens_per_s float8,
    add column system_runs integer not null default 0;
