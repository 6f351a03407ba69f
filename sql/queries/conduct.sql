-- name: injected
-- The latest contexts and recalls with items, each with the assistant's reply after it and the message before that reply.
select g.id, g.item_ids, q.text as message, a.id as reply_id, a.text as reply
from (select id, subject_id, assembled_at as at, item_ids from log.contexts
      where tenant_id = %(tenant)s and item_ids <> '{}' and assembled_at <= %(as_of)s
      union all
      select id, subject_id, asked_at, item_ids from log.recalls
      where tenant_id = %(tenant)s and item_ids <> '{}' and asked_at <= %(as_of)s
      order by at desc, id limit %(limit)s) g
cross join lateral (
    select t.id, t.text, t.session_id, t.said_at, t.turn_index from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = g.subject_id and t.role = 'assistant' and t.text <> ''
      and t.said_at >= g.at and t.said_at <= least(g.at + %(minutes)s * interval '1 minute', %(as_of)s)
    order by t.said_at, t.turn_index, t.id limit 1) a
left join lateral (
    select t.text from log.turns t
    where t.tenant_id = %(tenant)s and t.subject_id = g.subject_id and t.session_id = a.session_id and t.role = 'user'
      and (t.said_at, t.turn_index) < (a.said_at, a.turn_index)
    order by t.said_at desc, t.turn_index desc, t.id desc limit 1) q on true

-- name: item_texts
-- The present texts of injected items; forgotten ones have none.
select id, content from memory.memories where tenant_id = %(tenant)s and id = any(%(ids)s)
union all
select id, text from log.turns where tenant_id = %(tenant)s and id = any(%(ids)s)
union all
select id, key || ' ' || value from memory.structured_facts where tenant_id = %(tenant)s and id = any(%(ids)s)
union all
select id, array_to_string(path, ' ') || ' ' || (value #>> '{}') from memory.scaffold
where tenant_id = %(tenant)s and id = any(%(ids)s)
union all
select id, narrative from memory.profiles where tenant_id = %(tenant)s and id = any(%(ids)s)

-- name: item_vectors
-- The vectors of turns and memories, one for each part of a long one.
select v.item_id, halfvec_send(v.vec) from memory.vectors v
where v.tenant_id = %(tenant)s and v.model = %(model)s and v.item_id = any(%(ids)s)
  and v.subject_id in (select subject_id from log.turns where tenant_id = %(tenant)s and id = any(%(ids)s)
                       union select subject_id from memory.memories where tenant_id = %(tenant)s and id = any(%(ids)s))
order by v.item_id, v.part

-- name: questions
-- The latest turns with a question, in order of time, each with whether anybody else said something after it in its session;
-- all up to the time.
select x.subject_id, x.session_id, x.role, x.text, x.answered
from (select t.id, t.subject_id, t.session_id, t.role, t.text, t.said_at, t.turn_index,
             exists (select from log.turns r
                     where r.tenant_id = t.tenant_id and r.subject_id = t.subject_id and r.session_id = t.session_id
                       and (r.said_at, r.turn_index) > (t.said_at, t.turn_index) and r.said_at <= %(as_of)s
                       and (r.role, coalesce(r.speaker, '')) <> (t.role, coalesce(t.speaker, ''))) as answered
      from log.turns t
      where t.tenant_id = %(tenant)s and t.text like '%%?%%' and t.role in ('user', 'assistant') and t.said_at <= %(as_of)s
      order by t.said_at desc, t.id desc limit %(limit)s) x
order by x.subject_id, x.said_at, x.turn_index, x.id

-- name: sessions
-- Each session of each subject: its beginning, and the numbers of user turns, of observations recorded in it, and of
-- corrections until the next one; all up to the time.
with sessions as (
    select subject_id, session_id, min(said_at) as began, count(*) filter (where role = 'user') as messages, count(*) as turns
    from log.turns where tenant_id = %(tenant)s and said_at <= %(as_of)s group by subject_id, session_id
), spans as (
    select s.*, coalesce(lead(began) over (partition by subject_id order by began, session_id), 'infinity') as ended,
           row_number() over (partition by subject_id order by began, session_id) as number
    from sessions s
)
select s.subject_id, s.number, s.began, s.messages,
       (select count(*) from log.events e
        where e.tenant_id = %(tenant)s and e.subject_id = s.subject_id and e.channel = 'interactive'
          and e.observed_at <= %(as_of)s
          and coalesce(e.session_id = s.session_id, e.observed_at >= s.began and e.observed_at < s.ended)) as observations,
       (select count(*) from log.corrections c
        where c.tenant_id = %(tenant)s and c.subject_id = s.subject_id and c.kind in ('wrong', 'replace')
          and c.corrected_at <= %(as_of)s
          and not exists (select from log.corrections u
                          where u.tenant_id = c.tenant_id and u.other_id = c.id and u.kind = 'retract'
                            and u.corrected_at <= %(as_of)s)
          and (c.corrected_at >= s.began or s.number = 1) and c.corrected_at < s.ended) as corrections
from spans s
order by s.subject_id, s.number

-- name: keys
-- The time at which each key of a subject was first known: structured facts, and entries of the scaffold.
select subject_id, kind, min(valid_from) from (
    select subject_id, 'fact' as kind, speaker || '/' || category || '/' || key as name, valid_from
    from memory.structured_facts where tenant_id = %(tenant)s
    union all
    select subject_id, 'scaffold', connection_id || '/' || array_to_string(path, '/'), valid_from
    from memory.scaffold where tenant_id = %(tenant)s) k
where valid_from <= %(as_of)s
group by subject_id, kind, name

-- name: wrong
-- Numbers of facts, preferences and instructions learned up to the time, and of those that a person had called wrong by then;
-- the same of entries. A repeat that was merged before it was forgotten is one with its survivor. An entry has no time of its
-- own at which it was called wrong: it is that of a source; one that was forgotten on request was no error.
select m.learned, m.wrong, e.entries, e.wrong_entries
from (select count(*) filter (where fate in ('active', 'superseded', 'candidate', 'forgotten') or left_at > %(as_of)s) as learned,
             count(*) filter (where reason = 'wrong' and left_at <= %(as_of)s) as wrong
      from memory.lives v
      where tenant_id = %(tenant)s and kind in ('fact', 'preference', 'instruction') and born_at <= %(as_of)s
        and not (fate = 'forgotten'
                 and exists (select from memory.lineage l
                             where l.tenant_id = %(tenant)s and l.source_id = v.memory_id and l.source = 'memory'
                               and l.relation = 'merged' and l.as_of <= %(as_of)s))) m,
     (select count(*) as entries,
             count(*) filter (where s.state = 'wrong' and exists (
                 select from memory.tombstones t
                 where t.tenant_id = s.tenant_id and t.subject_id = s.subject_id
                   and t.reason = 'wrong' and t.forgotten_at <= %(as_of)s
                   and (t.memory_id = any(s.sources)
                        or exists (select from memory.lineage l
                                   where l.tenant_id = t.tenant_id and l.memory_id = t.memory_id and l.source = 'event'
                                     and l.source_id = any(s.sources))))) as wrong_entries
      from memory.scaffold s
      where s.tenant_id = %(tenant)s and s.state <> 'repeated' and s.valid_from <= %(as_of)s) e
