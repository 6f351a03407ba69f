-- name: vector_version
-- The version of pgvector in this database.
select extversion from pg_catalog.pg_extension where extname = 'vector'

-- name: missing_roles
-- Roles that do not exist or that this user may not act in.
select wanted
from unnest(array['reverie_owner', 'reverie_worker', 'reverie_reader', 'reverie_analyst', 'reverie_eraser']) as wanted
left join pg_catalog.pg_roles r on r.rolname = wanted
where r.oid is null
   or not pg_catalog.pg_has_role(
          current_user, r.oid,
          case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end)
order by wanted

-- name: open_tables
-- Tables without row-level security that also binds their owner, and the number of all tables.
select coalesce(array_agg(c.oid::regclass::text order by 1) filter (where not (c.relrowsecurity and c.relforcerowsecurity)),
                '{}'),
       count(*)
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p') and c.relname <> 'migrations'

-- name: approximate_indexes
-- Approximate vector indexes, which find some neighbours and filter by tenant afterwards.
select i.indexrelid::regclass::text
from pg_catalog.pg_index i
join pg_catalog.pg_class c on c.oid = i.indexrelid
join pg_catalog.pg_am a on a.oid = c.relam
join pg_catalog.pg_class t on t.oid = i.indrelid
join pg_catalog.pg_namespace n on n.oid = t.relnamespace
where a.amname in ('hnsw', 'ivfflat') and n.nspname in ('log', 'memory', 'ops')
order by 1

-- name: writers
-- Authors of a tenant's patterns and summaries: a model, or the rules (null).
select model, count(*) from memory.memories
where tenant_id = %(tenant)s and kind in ('pattern', 'summary') and state = 'active'
group by model order by model nulls last

-- name: letters
-- Dead letters of a tenant, which wait for a person.
select count(*) from ops.dead_letters where tenant_id = %(tenant)s

-- name: unread
-- Turns that wait for a language model, by reason, with those that wait for it to say what they end, and whether a model
-- failed on them: those captured live wait for the next run.
select replace(unread, 'unasked', 'not yet asked'), count(*), unread <> 'unasked' from memory.extractions
where tenant_id = %(tenant)s and waits
group by unread
union all
select 'not told what they end', count(*), true from memory.extractions
where tenant_id = %(tenant)s and ends_wait
having count(*) > 0
order by 2 desc, 1

-- name: profiles
-- Numbers of a tenant's observations that wait for its profiles, of subjects on which a model failed, and of narratives in
-- force.
select (select count(*) from ops.unsynthesized o where o.tenant_id = %(tenant)s and o.item = 'event'),
       (select count(*) from ops.synthesis_failures f where f.tenant_id = %(tenant)s),
       (select count(*) from memory.profiles p where p.tenant_id = %(tenant)s and p.replaced_at is null)

-- name: is_replica
-- Whether this server replays the log of another.
select pg_is_in_recovery()

-- name: is_writable
-- Whether this database accepts writes: not after a failover to a standby, nor if it was made read-only.
select current_setting('transaction_read_only') = 'off'
