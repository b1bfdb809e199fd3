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

-- name: delete_old_unrun
delete from unrun where received_at < %(before)s

-- name: delete_old_aside
delete from aside where received_at < %(before)s

-- name: delete_old_duplicates
delete from duplicate where received_at < %(before)s

-- name: delete_old_workers
-- a worker that moved comes back under another id; its region keeps the last one that was seen
delete from worker
where last_seen_at < %(before)s
  and exists (
    select from worker as later
    where later.region = worker.region
      and (later.last_seen_at, later.worker) > (worker.last_seen_at, worker.worker))

-- name: delete_other_workers
-- a region that is not in the file has nobody who could be missed
delete from worker
where last_seen_at < %(before)s and not region = any (%(regions)s::text[])

-- name: find_aside
-- records put aside by another version or catalog than this one
select execution, region, record from aside
where tried_with <> %(tried_with)s
order by received_at, execution
limit %(limit)s

-- name: mark_aside
update aside set tried_with = %(tried_with)s, reason = row.reason
from unnest(%(executions)s::uuid[], %(reasons)s::text[]) as row (execution, reason)
where aside.execution = row.execution

-- name: delete_aside
delete from aside where execution = any(%(executions)s::uuid[])

-- name: find_window
select window_s from store

-- name: note_window
update store set window_s = %(window_s)s

-- name: find_upkeep
select coalesce(upkeep_at, kept_up_at) as upkeep_at, kept_up_since from store

-- name: note_upkeep
update store set upkeep_at = %(now)s, kept_up_since = %(since)s,
    kept_up_at = case when %(finished)s then %(now)s else kept_up_at end
