-- what is left of the rate limits that providers told a worker of: provider, key, unit, left_ratio
alter table worker add column rate_limits jsonb not null default '[]';
