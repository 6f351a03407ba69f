-- name: admitted
-- The turns and memories of a subject that pass the filters. A memory rests on turns and events, or on memories that do. An
-- extracted memory passes if any of its sources does, because each of them states it; a pattern or summary covers all of
-- them at once, so all must pass. A memory without sources, such as a person's replacement, counts as said by the subject.
with recursive said as materialized (
    select id from log.attributes
    where tenant_id = %(tenant)s and subject_id = %(subject)s
      and (%(connections)s::text[] is null or connection_id is null or connection_id = any(%(connections)s))
      and (%(context_types)s::text[] is null or context_type = any(%(context_types)s))
      and (%(sources)s::text[] is null or source = any(%(sources)s))
      and (%(tools)s::text[] is null or tool_id = any(%(tools)s))
      and (%(attachments)s::text[] is null or attachment_id = any(%(attachments)s) or filename = any(%(attachments)s))
      and (%(sessions)s::text[] is null or session_id = any(%(sessions)s))
),
ancestry (memory_id, source, source_id) as (
    select m.id, l.source, l.source_id
    from memory.memories m
    join memory.lineage l on l.tenant_id = m.tenant_id and l.memory_id = m.id
    where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s
      and l.source in ('turn', 'event', 'memory') and l.relation not in ('context', 'outcome')
    union
    select a.memory_id, l.source, l.source_id
    from ancestry a
    join memory.lineage l on l.tenant_id = %(tenant)s and l.memory_id = a.source_id
    where a.source = 'memory' and l.source in ('turn', 'event', 'memory') and l.relation not in ('context', 'outcome')
),
standing as (
    select memory_id, bool_or(passes) as any_passes, bool_and(passes) as all_pass
    from (select memory_id, source_id in (select id from said) as passes from ancestry where source <> 'memory') x
    group by memory_id
)
select id from said
union all
select m.id
from memory.memories m
left join standing s on s.memory_id = m.id
where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s
  and case when s.memory_id is null then %(unsourced)s::boolean
           when m.kind in ('pattern', 'summary') then s.all_pass else s.any_passes end

-- name: attributes
-- Attributes of turns and memories: their own, or those of the turns and events from which the memories were extracted.
select i.id as item_id, a.context_type, a.source, a.connection_id, a.tool_id, a.attachment_id, a.filename, a.organisation,
       a.session_id
from unnest(%(ids)s::uuid[]) as i (id)
join lateral (
    select i.id as id
    union
    select l.source_id from memory.lineage l
    where l.tenant_id = %(tenant)s and l.memory_id = i.id and l.source in ('turn', 'event') and l.relation = 'extracted') o on true
join log.attributes a on a.tenant_id = %(tenant)s and a.subject_id = %(subject)s and a.id = o.id
order by i.id, a.id
