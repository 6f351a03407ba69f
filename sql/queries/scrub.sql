-- name: tables
-- All of our tables that store rows.
select n.nspname || '.' || c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.relname <> 'migrations'
order by 1

-- name: abilities
-- Whether this user may rewrite statistics and control the write-ahead log, and whether the server recycles its files.
select rolsuper, current_setting('wal_recycle') from pg_catalog.pg_roles where rolname = session_user

-- name: checkpoint
-- Write all changes to the files.
checkpoint

-- name: switch_wal
-- Begin a new file of the write-ahead log.
select pg_switch_wal()

-- name: keep_no_wal
-- Delete files of that log that are no longer needed, instead of recycling them.
alter system set wal_recycle = off

-- name: recycle_wal
-- Restore the setting.
alter system reset wal_recycle

-- name: reload
-- Reload the settings.
select pg_reload_conf()
