-- Which versions of the definitions measured the runs of a series' window, the lowest and the highest:
-- two where an upgrade lies in it. The next sweep makes the statistics of all series that have runs anew.

alter table series_stat
    add column definition_low smallint,
    add column definition_high smallint;

update series_stat set next_expiry = oldest_at where runs > 0;
