-- name: tables
-- Every table of ours with rows.
select n.nspname || '.' || c.relname
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.relname <> 'migrations'
order by 1

-- name: abilities
-- What the user of this session may do besides: rewrite statistics, and decide over the log that is written ahead.
select rolsuper, current_setting('wal_recycle') from pg_catalog.pg_roles where rolname = session_user

-- name: checkpoint
-- Everything that was changed is in the files.
checkpoint

-- name: switch_wal
-- Go on in a new file of the log that is written ahead.
select pg_switch_wal()

-- name: keep_no_wal
-- Files of that log that are done with are deleted, not used again.
alter system set wal_recycle = off

-- name: recycle_wal
-- As before.
alter system reset wal_recycle

-- name: reload
-- Read the settings again.
select pg_reload_conf()
