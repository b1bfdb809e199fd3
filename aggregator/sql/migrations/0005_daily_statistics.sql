-- Statistics of each series by the UTC day of its slots: kept when the runs themselves are gone.

create table day_stat (
    day date not null,
    series_id integer not null,
    definition smallint not null,        -- the greatest of the day's runs
    runs integer not null,
    requests integer not null,
    good integer not null,               -- good requests
    cost_usd float8 not null,
    -- of each figure: p5, p25, p50, p75, p95 as in series_stat, and the runs that have it
    ttft_s real[], ttft_runs integer not null,
    answer_s real[], answer_runs integer not null,
    output_tokens_per_s real[], speed_runs integer not null,
    end_to_end_s real[], end_to_end_runs integer not null,
    stall_s real[], stall_runs integer not null,
    primary key (series_id, day)
);
create index day_stat_day on day_stat (day);

-- days whose statistics are yet to be made, or anew since a run came late
create table day_due (
    day date primary key
);

alter table store add column rolled_up_to date;  -- the days before it have been due once
