-- The lowest version of the definitions that measured the runs of a series' day, beside the highest; null
-- of days that were made before it was noted.

alter table day_stat add column definition_low smallint;
