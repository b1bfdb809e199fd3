-- The interval of the median of what all requests of a run get, as of the other figures. The next
-- sweep makes the statistics of the series that have one anew.

alter table series_stat
    add column system_low float8,
    add column system_high float8;

update series_stat set next_expiry = oldest_at where system_runs > 0;
