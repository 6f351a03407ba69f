-- name: is_known
-- Whether there is a database of this name.
select from pg_catalog.pg_database where datname = %(name)s

-- name: create
-- A database of its own for a generation.
create database {name}

-- name: relax
-- What is made there can be made again.
alter database {name} set synchronous_commit = off

-- name: drop
-- The database with all that is in it, also where somebody is still connected to it.
drop database if exists {name} with (force)
