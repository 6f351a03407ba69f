-- name: turns
-- Turns by the decision of extract.
select coalesce(e.reason, 'kept') as verdict, count(*) as turns, coalesce(sum(e.candidates), 0) as candidates
from log.turns t
left join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
where t.tenant_id = %(tenant)s
group by 1 order by 2 desc, 1

-- name: memories
-- Memories by kind and fate.
select kind, fate, count(*) as memories from memory.lives where tenant_id = %(tenant)s group by 1, 2 order by 1, 2

-- name: stages
-- Sums over the runs of each stage.
select stage, count(*) as runs, sum(seconds) as seconds, sum(model_calls) as model_calls, sum(tokens) as tokens,
       sum(cost_usd) as cost_usd
from ops.runs  -- the row of an opened cycle spans the rows of its steps
where tenant_id = %(tenant)s and status = 'done' and stage <> 'cycle' group by 1

-- name: subjects
-- Subjects by the number of their memories.
select s.subject_id, count(m.id) filter (where m.state = 'active') as memories
from log.subjects s
left join memory.memories m on m.tenant_id = s.tenant_id and m.subject_id = s.subject_id
where s.tenant_id = %(tenant)s
group by 1 order by 2 desc, 1

-- name: entities
-- The subject's entities by the number of memories that mention them.
select e.type || ':' || e.slug as entity, e.label, count(*) as memories
from memory.entities e
join memory.links l on l.tenant_id = e.tenant_id and l.entity_id = e.id
join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id and m.state in ('active', 'superseded')
where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
group by e.type, e.slug, e.label order by 3 desc, 1
limit %(limit)s

-- name: last_said
-- The end of the tenant's history.
select max(said_at) from log.turns where tenant_id = %(tenant)s

-- name: by_whom
-- Memories in force by kind: the number in the words of rules, and in those of a language model.
select kind, count(*) filter (where model is null) as by_rules, count(*) filter (where model is not null) as by_model
from memory.memories where tenant_id = %(tenant)s and state = 'active' group by 1

-- name: asked
-- Questions, answered requests and tokens of language models, by stage.
select stage, sum(items) as items, count(*) filter (where state = 'done') as answered,
       sum(tokens_in)::bigint as tokens_in, sum(tokens_out)::bigint as tokens_out
from ops.calls where tenant_id = %(tenant)s and kind = 'completion' group by 1

-- name: worded
-- Memories of a subject in a language model's words, the most important of each kind first.
select kind, content, session_id
from (
    select m.*, row_number() over (partition by kind order by importance desc, happened_at, id) as place
    from memory.memories m
    where tenant_id = %(tenant)s and subject_id = %(subject)s and state = 'active' and model is not null
) x
where place <= %(limit)s
order by kind, place
