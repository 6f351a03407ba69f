-- name: position
-- This server, and its position in the write-ahead log of its cluster, as written or, on a replica, as replayed: cluster,
-- database, start of the server, whether it is a replica, position in bytes, and seconds since the last commit that a
-- replica replayed (null: it has replayed none since its start).
select (select c.system_identifier from pg_catalog.pg_control_system() c),
       current_database()::text,
       pg_postmaster_start_time(),
       pg_is_in_recovery(),
       (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn)::bigint,
       extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8
