-- name: turns
-- Turns of a tenant or a subject as records, with those in the buffer, in the order of each session.
select jsonb_build_object('type', 'turn', 'subject_id', t.subject_id, 'session_id', t.session_id, 'source_id', t.source_id,
           'turn_index', t.turn_index, 'role', t.role, 'speaker', t.speaker, 'said_at', t.said_at, 'text', t.text,
           'tool_calls', t.tool_calls, 'metadata', t.metadata)
from (select subject_id, session_id, source_id, turn_index, role, speaker, said_at, text, tool_calls, metadata, tenant_id
      from log.turns
      union all
      select subject_id, session_id, source_id, turn_index, role, speaker, said_at, text, tool_calls, metadata, tenant_id
      from ops.pending_turns) t
where t.tenant_id = %(tenant)s and (%(subject)s::text is null or t.subject_id = %(subject)s)
order by t.subject_id, t.said_at, t.session_id, t.turn_index, t.source_id

-- name: outcomes
-- Outcomes as records.
select jsonb_build_object('type', 'outcome', 'subject_id', o.subject_id, 'session_id', o.session_id, 'source_id', o.source_id,
           'metric', o.metric, 'value', o.value, 'positive', o.positive, 'observed_at', o.observed_at)
from log.outcomes o
where o.tenant_id = %(tenant)s and (%(subject)s::text is null or o.subject_id = %(subject)s)
order by o.subject_id, o.observed_at, o.id

-- name: statements
-- Events that state something, as records, except those that a correction withholds; with `imported`, only those from
-- another memory system.
select jsonb_build_object('type', 'statement', 'subject_id', e.subject_id, 'session_id', e.session_id, 'source_id', e.source_id,
           'kind', case when e.type = 'preference' then 'preference'
                        when e.type in ('attachment', 'tool_output') then 'document' else 'fact' end,
           'text', e.content, 'observed_at', e.observed_at, 'ends_at', e.ends_at, 'metadata', e.metadata)
from log.events e
where e.tenant_id = %(tenant)s and (%(subject)s::text is null or e.subject_id = %(subject)s)
  and e.type not in ('scaffold_update', 'connection_context')
  and (not %(imported)s or e.channel = 'import')
  and not exists (select from memory.marks k
                  where k.tenant_id = e.tenant_id and k.subject_id = e.subject_id and k.item_id = e.id and k.mark <> 'pinned')
order by e.subject_id, e.observed_at, e.id

-- name: memories
-- Facts, preferences and instructions in force, except those that repeat imported ones.
select jsonb_build_object('id', m.id, 'subject_id', m.subject_id, 'session_id', m.session_id, 'kind', m.kind, 'content', m.content,
           'happened_at', m.happened_at, 'expires_at', m.expires_at, 'importance', m.importance)
from memory.memories m
where m.tenant_id = %(tenant)s and (%(subject)s::text is null or m.subject_id = %(subject)s)
  and m.state = 'active' and m.kind in ('fact', 'preference', 'instruction') and (m.expires_at is null or m.expires_at > %(at)s)
  and not exists (select from memory.marks k
                  where k.tenant_id = m.tenant_id and k.subject_id = m.subject_id and k.item_id = m.id and k.mark <> 'pinned')
  and not exists (select from memory.lineage l
                  join log.events e on e.tenant_id = l.tenant_id and e.id = l.source_id and e.channel = 'import'
                  where l.tenant_id = m.tenant_id and l.memory_id = m.id and l.source = 'event')
order by m.subject_id, m.happened_at, m.id
