-- The interval of each day's medians. Days whose runs are all kept are made anew with it.

alter table day_stat
    add column ttft_low real, add column ttft_high real,
    add column answer_low real, add column answer_high real,
    add column speed_low real, add column speed_high real,
    add column end_to_end_low real, add column end_to_end_high real,
    add column stall_low real, add column stall_high real;

insert into day_due (day) select distinct day from day_stat order by day on conflict do nothing;
