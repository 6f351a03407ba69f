-- name: is_known
-- Whether there is a database of this name.
select from pg_catalog.pg_database where datname = %(name)s

-- name: current_name
-- The database of this connection.
select current_database()

-- name: create
-- Create a database for a generation.
create database {name}

-- name: relax
-- Do not wait for the disk on commit: the content can be made again.
alter database {name} set synchronous_commit = off

-- name: drop
-- Drop a database, even if somebody is still connected to it.
drop database if exists {name} with (force)
