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

-- name: forget_samples
-- Delete the planner's samples of those of our tables that are empty, and of their indexes.
delete from pg_catalog.pg_statistic s
using pg_catalog.pg_class c, pg_catalog.pg_namespace n
where n.oid = c.relnamespace and n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.reltuples = 0
  and (s.starelid = c.oid or s.starelid in (select i.indexrelid from pg_catalog.pg_index i where i.indrelid = c.oid))

-- name: last_wal
-- The last file of the write-ahead log: the current one, or a recycled one ahead of it.
select max(name) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'

-- name: is_before
-- Whether the log has not passed a file yet.
select pg_walfile_name(pg_current_wal_insert_lsn()) <= %(last)s

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
