-- Upkeep: partitions, windows that age, rows that are too old.

-- name: list_partitions
select child.relname as partition, parent.relname as parent
from pg_inherits
join pg_class as child on child.oid = inhrelid
join pg_class as parent on parent.oid = inhparent
where parent.relname = any(%(parents)s)
  and parent.relnamespace = current_schema()::regnamespace
order by child.relname

-- name: find_aged_series
-- series whose window has lost or gained a run since their statistics were made
select series_id from series_stat
where next_expiry <= %(now)s
order by next_expiry
limit %(limit)s

-- name: find_all_series
select series_id from series_stat
where series_id > %(after)s
order by series_id
limit %(limit)s

-- name: delete_old_slots
delete from slot
where run_id = any(array(select run_id from slot where slot_at < %(before)s limit %(limit)s))

-- name: delete_old_executions
-- executions that took no run's key
with old_unrun as (delete from unrun where received_at < %(before)s),
     old_aside as (delete from aside where received_at < %(before)s)
delete from duplicate where received_at < %(before)s

-- name: find_aside
-- records put aside by another version or catalog than this one
select execution, region, record from aside
where tried_with <> %(tried_with)s
order by received_at, execution
limit %(limit)s

-- name: mark_aside
update aside set tried_with = %(tried_with)s where execution = any(%(executions)s)

-- name: delete_aside
delete from aside where execution = any(%(executions)s)

-- name: take_window
-- tell the window that the statistics are made for; gives a row where it was another
update store set window_s = %(window_s)s
where window_s is distinct from %(window_s)s
returning simulated
