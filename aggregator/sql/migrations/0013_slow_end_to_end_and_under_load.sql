-- how many times slower than usual whole answers are, of recent runs and of recent parallel ones;
-- null: nothing to compare
alter table verdict
    add column end_to_end_ratio float8,
    add column end_to_end_ratio_low float8,
    add column end_to_end_ratio_high float8,
    add column under_load_ratio float8,
    add column under_load_ratio_low float8,
    add column under_load_ratio_high float8;
