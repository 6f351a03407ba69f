-- name: mark
-- Mark all that a correction withholds: the memory with those merged into it, the turns and events from which these were
-- extracted, the episodes that quote these turns, and, as `derived`, all that was made from any of them. Follows the
-- lineage, so that a request and the stage that applies the correction give the same result. A memory in the words of its turn
-- is withheld with what was read in these words: memories of the turn whose object they have, if every other sentence of the turn
-- has fewer of the memory's words; but not with what these were merged with. Where the memory was not made
-- (by another policy), the correction is of the turns and events that it rested on, and of memories extracted from these alone.
insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, derived, pending, run_id)
with recursive rested as (
    select s.id
    from log.corrections c
    cross join unnest(c.source_ids) as s (id)
    where c.tenant_id = (select %(tenant)s::text) and c.id = %(id)s
      and not exists (select from memory.lineage l where l.tenant_id = c.tenant_id and l.memory_id = %(memory)s)
      and not exists (select from memory.replacements r
                      where r.tenant_id = c.tenant_id and r.subject_id = c.subject_id and r.id = %(memory)s)
),
verbatim as (
    select m.id, m.content from memory.memories m
    where m.tenant_id = (select %(tenant)s::text) and m.id = %(memory)s and m.origin in ('turn', 'said', 'plain')
    union
    select m.id, m.content
    from verbatim v
    join memory.memories m on m.tenant_id = (select %(tenant)s::text) and m.into_id = v.id and m.state = 'merged'
        and m.origin in ('turn', 'said', 'plain')
),
within as (
    select b.id
    from verbatim v
    join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.memory_id = v.id and l.relation = 'extracted'
    join log.turns t on t.tenant_id = (select %(tenant)s::text) and t.id = l.source_id
    join memory.lineage x on x.tenant_id = (select %(tenant)s::text) and x.source_id = t.id and x.relation = 'extracted'
    join memory.memories b on b.tenant_id = (select %(tenant)s::text) and b.id = x.memory_id and b.id <> v.id
    cross join lateral (
        select tsvector_to_array(to_tsvector(%(language)s::regconfig, v.content)) as said,
               tsvector_to_array(to_tsvector(%(language)s::regconfig, coalesce(b.object, b.content))) as object,
               tsvector_to_array(to_tsvector(%(language)s::regconfig,
                                             concat_ws(' ', b.content, b.object, b.topic, b.who))) as words offset 0) w
    cross join lateral (select count(*) as number from unnest(w.words) as u (word) where u.word = any(w.said)) here
    where cardinality(w.object) > 0 and w.object <@ w.said
      -- what the replacement says again stays
      and not coalesce(w.object <@ tsvector_to_array(to_tsvector(%(language)s::regconfig, %(content)s::text)), false)
      and here.number > all(
          select (select count(*) from unnest(w.words) as u (word)
                  where u.word = any(tsvector_to_array(to_tsvector(%(language)s::regconfig, p.part))))
          from regexp_split_to_table(t.text, '(?<=[.!?])\s+|\n') as p (part)
          where position(lower(btrim(p.part)) in lower(v.content)) = 0
            and position(lower(btrim(v.content, ' .!?')) in lower(p.part)) = 0)
    union
    select f.memory_id  -- or what was forgotten with it
    from log.corrections c
    join memory.tombstones g on g.tenant_id = c.tenant_id and g.memory_id = %(memory)s and g.forgotten_at = c.corrected_at
    join memory.lineage l on l.tenant_id = c.tenant_id and l.memory_id = g.memory_id and l.relation = 'extracted'
    join memory.lineage x on x.tenant_id = c.tenant_id and x.source_id = l.source_id and x.relation = 'extracted'
    join memory.tombstones f on f.tenant_id = c.tenant_id and f.memory_id = x.memory_id and f.forgotten_at = c.corrected_at
    where c.tenant_id = (select %(tenant)s::text) and c.id = %(id)s
),
stated as (
    select x.item, x.id
    from (select 'memory' as item, %(memory)s::uuid as id
          union all
          select case when exists (select from log.events e where e.tenant_id = (select %(tenant)s::text) and e.id = r.id)
                      then 'event' else 'turn' end, r.id
          from rested r
          union all
          select 'memory', l.memory_id
          from rested r
          join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.source_id = r.id and l.relation = 'extracted'
          where not exists (select from memory.lineage o
                            where o.tenant_id = l.tenant_id and o.memory_id = l.memory_id and o.relation = 'extracted'
                              and o.source_id not in (select id from rested))) x
    union
    select x.item, x.id
    from stated s
    cross join lateral (
        select l.source as item, l.source_id as id from memory.lineage l
        where s.item = 'memory' and l.tenant_id = (select %(tenant)s::text) and l.memory_id = s.id
          and (l.relation = 'merged' and l.source = 'memory' or l.relation = 'extracted' and l.source in ('turn', 'event'))
        union all
        select 'memory', m.id from memory.memories m
        where s.item = 'memory' and m.tenant_id = (select %(tenant)s::text) and m.into_id = s.id and m.state = 'merged'
        union all  -- a memory that quotes the turn repeats it, and so does the one it was merged into
        select 'memory', q.id
        from memory.lineage l
        join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id and m.origin = 'turn'
        cross join lateral (select m.id union select m.into_id where m.state = 'merged') q
        where s.item = 'turn' and l.tenant_id = (select %(tenant)s::text) and l.source_id = s.id and l.relation = 'extracted') x
),
made as (
    select l.memory_id as id
    from (select id from stated union select id from within) s
    join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.source_id = s.id
        and l.relation in ('compressed', 'summarised', 'mentioned', 'synthesized')
    union
    select l.memory_id
    from made d
    join memory.lineage l on l.tenant_id = (select %(tenant)s::text) and l.source_id = d.id
        and l.relation in ('compressed', 'merged', 'synthesized')
),
rewritten as (  -- a waiting replacement stands for what its correction withheld
    select k.item, k.item_id as id
    from memory.replacements r
    join memory.marks k on k.tenant_id = r.tenant_id and k.correction_id = r.correction_id
    where r.tenant_id = (select %(tenant)s::text) and r.id = %(memory)s::uuid and not k.derived
)
select (select %(tenant)s::text), %(subject)s, x.id, %(id)s, x.item, case when x.derived and %(mark)s = 'replaced' then 'corrected' else %(mark)s end,
       x.derived, %(run)s::uuid is null, %(run)s::uuid
from (select distinct on (id) item, id, derived
      from (select item, id, false as derived from stated
            union all select item, id, false from rewritten
            union all select 'memory', id, false from within
            union all select 'memory', id, true from made) y
      order by id, derived) x
on conflict do nothing
returning item_id, item = 'memory' and not derived

-- name: add_pin
-- Pin a memory: it is always considered from now on.
insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending, run_id)
values ((select %(tenant)s::text), %(subject)s, %(memory)s, %(id)s, 'memory', 'pinned', %(run)s::uuid is null, %(run)s::uuid)
on conflict do nothing
