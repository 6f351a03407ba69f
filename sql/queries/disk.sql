-- name: sizes
-- Bytes of this database, the maximum of the write-ahead log, and the data directory, if this user may know it.
select pg_database_size(current_database()), pg_size_bytes(current_setting('max_wal_size')),
       (select setting from pg_catalog.pg_settings where name = 'data_directory')

-- name: largest_tables
-- The largest tables, with their indexes and long values, in bytes.
select c.oid::regclass::text, pg_total_relation_size(c.oid)
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and pg_total_relation_size(c.oid) > 0
order by 2 desc, 1
limit %(limit)s
