-- name: narrative
-- The narrative in force at a time; empty if something that it may contain was found wrong by then.
select p.id, case when exists (select from memory.tombstones t
                               where t.tenant_id = p.tenant_id and t.subject_id = p.subject_id and t.reason in ('wrong', 'forgotten_on_request')
                                 and t.forgotten_at > p.made_at and t.forgotten_at <= %(as_of)s)
                      or exists (select from memory.marks k
                                 where k.tenant_id = p.tenant_id and k.subject_id = p.subject_id and k.pending
                                   and k.mark <> 'pinned')
                  then '' else p.narrative end,
       p.told_until, p.made_at, p.model,
       (select count(*) from ops.unsynthesized o
        where o.tenant_id = p.tenant_id and o.subject_id = p.subject_id and o.at <= %(as_of)s
          and (%(from_memories)s or o.item = 'event'))
from memory.profiles p
where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s and p.made_at <= %(as_of)s
  and (p.replaced_at is null or p.replaced_at > %(as_of)s)
order by p.made_at desc, p.id
limit 1

-- name: entries
-- Entries of the scaffold without those that a person found wrong: those in force at a time and, beside them, the values
-- with another basis that they contradict; or the whole history. A value that was confirmed later by a stronger entry held
-- until then.
select s.id, s.connection_id, s.path, s.value, s.confidence, s.basis, s.state, s.valid_from,
       case when s.state = 'repeated' and b.valid_from > s.valid_from then b.valid_from else s.valid_to end, s.replaced_by,
       s.sources, s.model, s.run_id, s.policy_hash, b.basis as against
from memory.scaffold s
left join memory.scaffold b on b.tenant_id = s.tenant_id and b.id = s.replaced_by
where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s and s.valid_from <= %(as_of)s
  and (%(history)s or s.state in ('active', 'outweighed') or s.state = 'replaced' and (s.valid_to > %(as_of)s or b.basis <> s.basis)
       or s.state = 'repeated' and b.valid_from > %(as_of)s)
  and not exists (select from memory.tombstones t
                  where t.tenant_id = s.tenant_id and t.subject_id = s.subject_id and t.reason in ('wrong', 'forgotten_on_request')
                    and t.forgotten_at <= %(as_of)s
                    and (t.memory_id = any(s.sources)
                         or exists (select from memory.lineage l
                                    where l.tenant_id = t.tenant_id and l.memory_id = t.memory_id and l.source = 'event'
                                      and l.source_id = any(s.sources))))
  and not s.sources && array(select item_id from memory.marks
                             where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned')
order by s.connection_id, s.path, s.valid_from, s.id

-- name: learned
-- Facts that agents learned on their own, as remembered now, the latest first: merged ones once, forgotten ones not at all.
-- Reads from the subject's events to their memories by key, whatever the planner expects: a plan made while lineage looked
-- small joined all lineage of a tenant to all of its memories. Conditions that would tempt it to another index are outside.
select x.id, x.content, x.learned_at
from (select distinct on (r.id) r.id, r.content, e.observed_at as learned_at
      from (select id, type, observed_at from log.events
            where tenant_id = %(tenant)s and subject_id = %(subject)s offset 0) e
      cross join lateral (
          select memory_id, relation, source from memory.lineage
          where tenant_id = %(tenant)s and source_id = e.id offset 0) l
      cross join lateral (
          select coalesce(into_id, id) as id from memory.memories
          where tenant_id = %(tenant)s and id = l.memory_id limit 1) m
      cross join lateral (
          select id, content, state from memory.memories
          where tenant_id = %(tenant)s and id = m.id limit 1) r
      where e.type = 'learned_fact' and e.observed_at <= %(as_of)s and l.relation = 'extracted' and l.source = 'event'
        and r.state in ('candidate', 'active')
        and r.id <> all(array(select item_id from memory.marks
                              where tenant_id = %(tenant)s and subject_id = %(subject)s and mark <> 'pinned'))
      order by r.id, e.observed_at desc) x
order by x.learned_at desc, x.id
limit %(limit)s

-- name: sources
-- The sources of an entry: events, memories that still exist, and tombstones of forgotten ones.
select e.id, 'event' as source, e.type as kind, e.channel, e.observed_at as at, e.content
from log.events e where e.tenant_id = %(tenant)s and e.id = any(%(sources)s)
union all
select m.id, 'memory', m.kind, m.state, m.happened_at, m.content
from memory.memories m where m.tenant_id = %(tenant)s and m.id = any(%(sources)s)
union all
select t.memory_id, 'tombstone', t.kind, t.reason, t.forgotten_at, ''
from memory.tombstones t where t.tenant_id = %(tenant)s and t.memory_id = any(%(sources)s)
order by 5, 1

-- name: find_entry
-- Entries whose ids begin with these digits.
select s.id, s.subject_id from memory.scaffold s
where s.tenant_id = %(tenant)s and s.id between %(first)s and %(last)s
order by s.id
limit 2
