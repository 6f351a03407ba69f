-- name: folds_case
-- Whether the locale folds case as Reverie needs it: not in C, which knows ASCII alone, nor in Turkish, whose i differs.
select lower('Ó') = 'ó' and lower('I') = 'i'

-- name: is_migrated
-- Whether the database has a schema of Reverie, even one that this user may not read.
select exists (select from pg_catalog.pg_tables where schemaname = 'ops' and tablename = 'migrations')
