-- name: columns
-- The tables and views of a schema with the columns that count, each with its type's send function if the type came with an
-- extension: such a type has another oid in every database, and the binary form of a row contains it.
-- The views `lives`, `milestones`, `signal_weeks` and `subject_states` repeat rows of other tables.
select c.relname, array_agg(a.attname::text order by a.attname),
       array_agg(case when t.typnamespace <> 'pg_catalog'::regnamespace then p.proname::text end order by a.attname)
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
join pg_catalog.pg_type t on t.oid = a.atttypid
join pg_catalog.pg_proc p on p.oid = t.typsend
where c.relnamespace = to_regnamespace(%(schema)s) and c.relkind in ('r', 'p', 'v') and c.relname <> all (array['terms', 'lives', 'milestones', 'signal_weeks', 'subject_states'])
  and not a.attname = any(%(left_out)s)
group by c.relname
order by c.relname

-- name: table
-- The rows of one table and the sum of their hashes, each over a row's binary form, which depends on no time zone, date
-- style or rounding. A sum has no order and needs no sort or memory; the two halves of a hash are summed separately. `offset
-- 0` computes each hash once.
select {name} as name, count(*) as rows,
       sum(('x' || left(hash, 16))::bit(64)::bigint) as high, sum(('x' || right(hash, 16))::bit(64)::bigint) as low
from (select md5(record_send(row({columns}))) as hash from {table} where tenant_id = %(tenant)s offset 0) hashes
