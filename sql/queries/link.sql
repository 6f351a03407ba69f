-- name: read_dirty
-- Subjects with memories that link has not processed.
select distinct subject_id from memory.memories
where tenant_id = %(tenant)s and not scored and not linked and state in ('active', 'merged', 'superseded') and happened_at <= %(as_of)s
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by subject_id

-- name: write_entities
-- Write the entities that new memories mention, each once, first seen at its first mention.
insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)
select %(tenant)s, ops.entity_id(m.tenant_id, m.subject_id, mention), m.subject_id, split_part(mention, ':', 1),
       split_part(mention, ':', 2), initcap(replace(split_part(mention, ':', 2), '-', ' ')),
       tsvector_to_array(to_tsvector(%(language)s::regconfig, replace(split_part(mention, ':', 2), '-', ' '))),
       min(m.happened_at)
from memory.memories m, unnest(m.mentions) mention
where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s) and not m.linked and not m.scored
  and m.state in ('active', 'merged', 'superseded') and m.happened_at <= %(as_of)s
group by m.tenant_id, m.subject_id, mention
on conflict (tenant_id, id) do update set first_seen_at = excluded.first_seen_at
where memory.entities.first_seen_at > excluded.first_seen_at
returning id, xmax = 0 as created

-- name: write_mentions
-- Link each memory to the entities that the rules found in it.
insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
select m.tenant_id, m.id, ops.entity_id(m.tenant_id, m.subject_id, mention), m.subject_id, %(run_id)s
from memory.memories m, unnest(m.mentions) mention
where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s) and not m.linked and not m.scored
  and m.state in ('active', 'merged', 'superseded') and m.happened_at <= %(as_of)s
on conflict do nothing

-- name: write_named
-- Link new memories to the entities that they name: all terms of the label are among their terms.
insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
select %(tenant)s, m.id, e.id, m.subject_id, %(run_id)s
from (select m.id, m.subject_id,
             tsvector_to_array(to_tsvector(%(language)s::regconfig, left(m.content, 100000))) as terms
      from memory.memories m
      where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s) and not m.linked and not m.scored
        and m.state in ('active', 'merged', 'superseded') and m.happened_at <= %(as_of)s offset 0) m
join memory.entities e on e.tenant_id = %(tenant)s and e.subject_id = m.subject_id and e.first_seen_at <= %(as_of)s
    and e.terms <@ m.terms and e.terms <> '{}'
on conflict do nothing

-- name: write_known
-- Link earlier memories to new entities that they name. `offset 0` keeps that to one probe of the posting lists per term,
-- whatever the statistics say.
with named as materialized (
    select t.item_id, e.id as entity_id, e.subject_id
    from memory.entities e
    cross join lateral unnest(e.terms) u (lexeme)
    cross join lateral (
        select unnest(t.item_ids) as item_id from memory.terms t
        where t.tenant_id = %(tenant)s and t.subject_id = e.subject_id and t.term = u.lexeme offset 0) t
    where e.tenant_id = %(tenant)s and e.id = any(%(created)s)
    group by t.item_id, e.id, e.subject_id, e.terms
    having count(*) = cardinality(e.terms)
)
insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
select %(tenant)s, n.item_id, n.entity_id, n.subject_id, %(run_id)s
from named n
cross join lateral (
    select from memory.memories m
    where m.tenant_id = %(tenant)s and m.id = n.item_id and m.happened_at <= %(as_of)s
      and m.state in ('active', 'merged', 'compressed', 'superseded') offset 0) m
on conflict do nothing

-- name: mark_linked
-- Mark these memories as processed by link.
update memory.memories set linked = true
where tenant_id = %(tenant)s and subject_id = any(%(dirty)s) and not linked and not scored
  and state in ('active', 'merged', 'superseded') and happened_at <= %(as_of)s
