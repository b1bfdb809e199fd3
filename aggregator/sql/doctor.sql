-- How large the store is, and whether it is kept up.

-- name: select_sizes
-- a table with all its partitions and indexes; rows as the server last counted them
select coalesce(parent.relname, child.relname) as name,
    sum(pg_total_relation_size(child.oid))::bigint as bytes,
    sum(greatest(child.reltuples, 0))::bigint as rows
from pg_class as child
left join pg_inherits on inhrelid = child.oid
left join pg_class as parent on parent.oid = inhparent
where child.relkind = 'r' and child.relnamespace = current_schema()::regnamespace
group by 1
order by 2 desc, 1

-- name: select_condition
select pg_database_size(current_database()) as bytes, kept_up_at,
    coalesce(upkeep_at, kept_up_at) as upkeep_at,
    (select count(*) from series) as series,
    (select count(*) from aside) as aside
from store
