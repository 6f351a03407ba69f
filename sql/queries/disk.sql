-- name: sizes
-- Bytes of this database and of the server's log at most, and where its data are, if this user may know.
select pg_database_size(current_database()), pg_size_bytes(current_setting('max_wal_size')),
       (select setting from pg_catalog.pg_settings where name = 'data_directory')

-- name: largest_tables
-- The tables that take most, with their indexes and long values, in bytes.
select c.oid::regclass::text, pg_total_relation_size(c.oid)
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and pg_total_relation_size(c.oid) > 0
order by 2 desc, 1
limit %(limit)s
