-- name: columns
-- The tables of a schema with the columns that count, each with the function that makes bytes of it if its type came
-- with an extension: such a type has another number in every database, and the binary form of a row names it.
select c.relname, array_agg(a.attname::text order by a.attname),
       array_agg(case when t.typnamespace <> 'pg_catalog'::regnamespace then p.proname::text end order by a.attname)
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
join pg_catalog.pg_type t on t.oid = a.atttypid
join pg_catalog.pg_proc p on p.oid = t.typsend
where c.relnamespace = to_regnamespace(%(schema)s) and c.relkind in ('r', 'p') and not a.attname = any(%(left_out)s)
group by c.relname
order by c.relname

-- name: row_hashes
-- A hash for each row of one table, over its binary form, which knows no time zone, date style or rounding.
select {name} as name, sha256(record_send(row({columns}))) as hash from {table} where tenant_id = %(tenant)s

-- name: digest
-- Rows and hash of each table, in one statement and so of one moment: over the hashes of its rows in their own order,
-- in 256 parts, since a value in Postgres ends at 1 GB.
with row_hashes as (
    {row_hashes}
), parts as (
    select name, get_byte(hash, 0) as part, count(*) as rows, sha256(string_agg(hash, ''::bytea order by hash)) as hash
    from row_hashes
    group by name, part
)
select name, sum(rows)::bigint, sha256(string_agg(hash, ''::bytea order by part))
from parts
group by name
