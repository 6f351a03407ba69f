-- name: copied_tables
-- The tables of a schema, all or some, each with its writable columns and those of its primary key without the tenant.
select c.relname,
       array(select a.attname::text from pg_catalog.pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
             order by a.attnum),
       array(select a.attname::text
             from pg_catalog.pg_index i
             cross join lateral unnest(i.indkey::int2[]) with ordinality k (attnum, place)
             join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
             where i.indrelid = c.oid and i.indisprimary and a.attname <> 'tenant_id'
             order by k.place)
from pg_catalog.pg_class c
where c.relnamespace = to_regnamespace(%(schema)s) and c.relkind in ('r', 'p')
  and (%(some)s::text[] is null or c.relname = any(%(some)s))
order by c.relname

-- name: read_rows
-- A tenant's rows of one table.
select {columns} from {table} t where t.tenant_id = {tenant}

-- name: make_incoming
-- A temporary table for COPY, which row-level security keeps off the tables themselves.
create temp table {incoming} on commit drop as select {columns} from {table} with no data

-- name: copy_out
-- Send the rows of a query, in binary form.
copy ({query}) to stdout (format binary)

-- name: copy_in
-- Receive rows, in binary form.
copy {incoming} from stdin (format binary)

-- name: write_incoming
-- Write the received rows, once.
insert into {table} ({columns}) select {columns} from {incoming} on conflict do nothing

-- name: analyze_incoming
-- A temporary table has no statistics of its own; joins with it would become nested loops.
analyze {incoming}

-- name: read_missing
-- A tenant's rows of one table whose keys were not received.
select {columns} from {table} t
where t.tenant_id = {tenant} and not exists (select from {incoming} k where ({kept}) = ({key}))

-- name: count_gone
-- The number of received keys that the table does not have.
select count(*) from {incoming} k
where not exists (select from {table} t where t.tenant_id = {tenant} and ({key}) = ({kept}))

-- name: drop_incoming
-- Drop the temporary table; the next table has its own.
drop table {incoming}
