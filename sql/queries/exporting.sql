-- name: rows
-- All rows of one table as JSON, ordered by key; without the mark of counted recalls, which follows from memory.
select jsonb_build_object('table', %(table)s::text, 'row', to_jsonb(t) - 'tenant_id' - 'shard' - 'standing')
from {table} t
where t.tenant_id = %(tenant)s
order by {order}

-- name: rows_of_subject
-- The rows of one subject.
select jsonb_build_object('table', %(table)s::text, 'row', to_jsonb(t) - 'tenant_id' - 'shard' - 'standing')
from {table} t
where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s
order by {order}

-- name: lineage_of_subject
-- The lineage of one subject's memories.
select jsonb_build_object('table', 'memory.lineage', 'row', to_jsonb(l) - 'tenant_id')
from memory.lineage l
where l.tenant_id = %(tenant)s
  and l.memory_id in (select m.id from memory.memories m where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s)
order by l.memory_id, l.relation, l.source_id

-- name: derived
-- These turns and events, and what was made from them: memories by their lineage, and the profiles of their subjects. A memory
-- that another was merged into keeps its own text.
with recursive made as (
    select x.id from unnest(%(ids)s::uuid[]) as x (id)
    union
    select l.memory_id from made m
    join memory.lineage l on l.tenant_id = %(tenant)s and l.source_id = m.id
        and l.relation in ('extracted', 'compressed', 'summarised', 'mentioned', 'synthesized')
)
select id::text from made
union all
select p.id::text from memory.profiles p
where p.tenant_id = %(tenant)s
  and p.subject_id in (select t.subject_id from log.turns t where t.tenant_id = %(tenant)s and t.id = any(%(ids)s::uuid[])
                       union
                       select e.subject_id from log.events e where e.tenant_id = %(tenant)s and e.id = any(%(ids)s::uuid[]))

-- name: store_items_of_subject
-- Items of the key-value store with the subject as a label of their namespace.
select jsonb_build_object('table', 'ops.store_items', 'row', to_jsonb(s) - 'tenant_id')
from ops.store_items s
where s.tenant_id = %(tenant)s and s.namespace && array[%(subject)s::text]
order by s.namespace, s.key

-- name: keys
-- The columns of a table's primary key, without the tenant.
select a.attname::text
from pg_catalog.pg_index i
cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
where i.indrelid = %(table)s::regclass and i.indisprimary and a.attname <> 'tenant_id'
  and k.place <= i.indnkeyatts
order by k.place

-- name: manifest
-- Policy, clock and schema revision of the exported tenant.
select t.policy, t.clock_at, (select version_num from ops.migrations) from ops.tenants t where t.tenant_id = %(tenant)s

-- name: pending
-- Turns in the buffer, as rows of the log, in order of arrival.
select jsonb_build_object('table', 'log.turns', 'row', jsonb_build_object(
           'id', p.id, 'subject_id', p.subject_id, 'session_id', p.session_id, 'source_id', p.source_id,
           'turn_index', coalesce(p.turn_index, (select coalesce(max(t.turn_index), -1) from log.turns t
                                                 where t.tenant_id = p.tenant_id and t.subject_id = p.subject_id
                                                   and t.session_id = p.session_id)
                                                + row_number() over (partition by p.subject_id, p.session_id order by p.arrival)),
           'role', p.role, 'speaker', p.speaker, 'said_at', p.said_at, 'text', p.text, 'tool_calls', p.tool_calls,
           'metadata', p.metadata, 'content_hash', p.content_hash))
from ops.pending_turns p
where p.tenant_id = %(tenant)s and (%(subject)s::text is null or p.subject_id = %(subject)s)
order by p.arrival

-- name: pending_moods
-- The moods of these turns.
select jsonb_build_object('table', 'log.moods', 'row', jsonb_build_object(
           'turn_id', p.id, 'subject_id', p.subject_id, 'session_id', p.session_id, 'said_at', p.said_at,
           'mood', p.mood ->> 'mood', 'energy', p.mood ->> 'energy', 'style', p.mood ->> 'style',
           'confidence', (p.mood ->> 'confidence')::real, 'method', p.mood ->> 'method'))
from ops.pending_turns p
where p.tenant_id = %(tenant)s and (%(subject)s::text is null or p.subject_id = %(subject)s) and p.mood is not null
order by p.arrival
