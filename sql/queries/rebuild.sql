-- name: tables
-- The tables of derived data.
select c.relname
from pg_catalog.pg_class c
where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')
order by c.relname

-- name: lock_tenant
-- Wait for stages at work on the tenant's subjects; none starts on them before this transaction ends.
select from memory.subjects where tenant_id = %(tenant)s order by subject_id for update

-- name: empty
-- Delete a tenant's rows of one table; count them.
with gone as (delete from {table} where tenant_id = %(tenant)s returning 1)
select count(*) from gone

-- name: forgive_failures
-- Forget failures and late subjects: nothing has been read yet.
with late as (delete from ops.late_subjects where tenant_id = %(tenant)s)
delete from ops.synthesis_failures where tenant_id = %(tenant)s
