-- name: read_waiting
-- The next subjects with unprocessed observations, except those on which a model failed at this time already.
select distinct o.subject_id
from ops.unsynthesized o
where o.tenant_id = %(tenant)s and o.at <= %(horizon)s and o.subject_id > %(after)s
  and (%(from_memories)s or o.item = 'event')
  and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
  and not (%(asks)s and exists (select from ops.synthesis_failures f
                                where f.tenant_id = o.tenant_id and f.subject_id = o.subject_id
                                  and f.failed_at >= %(as_of)s))
order by o.subject_id
limit %(limit)s

-- name: read_observations
-- The first observations of each of these subjects, by event time, then arrival (events after memories of turns). Those that
-- are only quoted are read no further than they are shown.
select x.subject_id, x.item, x.item_id, x.at, x.type, x.channel, x.connection_id, x.key,
       case when x.type in ('scaffold_update', 'connection_context') then x.content
            else left(x.content, %(letters)s + 1) end
from (select o.*, row_number() over (
          partition by o.subject_id
          order by o.at, t.id is null, t.session_id collate "C", t.turn_index, t.id, o.item_id) as place
      from ops.unsynthesized o
      left join lateral (
          select m.turn_id from memory.memories m
          where o.item = 'memory' and m.tenant_id = %(tenant)s and m.id = o.item_id offset 0) m on true
      left join lateral (
          select t.id, t.session_id, t.turn_index from log.turns t
          where t.tenant_id = %(tenant)s and t.id = m.turn_id offset 0) t on true
      where o.tenant_id = %(tenant)s and o.subject_id = any(%(portion)s) and o.at <= %(horizon)s
        and (%(from_memories)s or o.item = 'event')) x
where %(most)s::int is null or x.place <= %(most)s
order by x.subject_id, x.place

-- name: read_entries
-- All entries ever stated of these subjects, and whether a person called a source of each wrong: a memory, or one made from
-- an event.
select s.subject_id, s.id, s.connection_id, s.path, s.value, s.confidence, s.basis, s.valid_from, s.sources, s.model,
       s.state, s.valid_to, s.replaced_by,
       exists (select from memory.tombstones t
               where t.tenant_id = s.tenant_id and t.reason in ('wrong', 'forgotten_on_request')
                 and (t.memory_id = any(s.sources)
                      or exists (select from memory.lineage l
                                 where l.tenant_id = t.tenant_id and l.memory_id = t.memory_id and l.source = 'event'
                                   and l.source_id = any(s.sources)))
                 and t.subject_id = s.subject_id)
from memory.scaffold s
where s.tenant_id = %(tenant)s and s.subject_id = any(%(portion)s)

-- name: read_narratives
-- The narratives in force of these subjects; empty if something that they may contain was found wrong since.
select p.subject_id, p.id,
       case when exists (select from memory.tombstones t
                         where t.tenant_id = p.tenant_id and t.subject_id = p.subject_id and t.reason in ('wrong', 'forgotten_on_request')
                           and t.forgotten_at > p.made_at) then '' else p.narrative end,
       p.told_until, p.made_at
from memory.profiles p
where p.tenant_id = %(tenant)s and p.subject_id = any(%(portion)s) and p.replaced_at is null

-- name: read_failures
-- How often in a row a model failed on each of these subjects.
select subject_id, attempts from ops.synthesis_failures
where tenant_id = %(tenant)s and subject_id = any(%(portion)s)

-- name: mark_synthesized
-- Mark observations as processed.
insert into memory.synthesized (tenant_id, item_id, item, subject_id, run_id, model)
select %(tenant)s, x.item_id, x.item, x.subject_id, %(run_id)s, x.model
from unnest(%(item_ids)s::uuid[], %(items)s::text[], %(subject_ids)s::text[], %(models)s::text[])
    as x (item_id, item, subject_id, model)

-- name: change_entries
-- Write the new states of known entries.
update memory.scaffold s
set state = x.state, valid_to = x.valid_to, replaced_by = x.replaced_by
from unnest(%(ids)s::uuid[], %(states)s::text[], %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[])
    as x (id, state, valid_to, replaced_by)
where s.tenant_id = %(tenant)s and s.id = x.id

-- name: write_entries
-- Write new entries, those in force and outweighed ones.
insert into memory.scaffold (tenant_id, id, subject_id, connection_id, path, value, confidence, basis, state, valid_from,
                             valid_to, replaced_by, sources, run_id, policy_hash, model, prompt_hash)
select %(tenant)s, x.id, x.subject_id, x.connection_id,
       array(select jsonb_array_elements_text(x.path::jsonb)), nullif(x.value, 'null')::jsonb, x.confidence, x.basis,
       x.state, x.valid_from, x.valid_to, x.replaced_by, string_to_array(x.sources, ',')::uuid[], %(run_id)s,
       %(policy_hash)s, x.model, case when x.model is not null then %(prompt_hash)s::bytea end
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(connection_ids)s::text[], %(paths)s::text[], %(values)s::text[],
            %(confidences)s::float8[], %(bases)s::text[], %(states)s::text[], %(valid_from)s::timestamptz[],
            %(valid_to)s::timestamptz[], %(replaced_by)s::uuid[], %(sources)s::text[], %(models)s::text[])
    as x (id, subject_id, connection_id, path, value, confidence, basis, state, valid_from, valid_to, replaced_by, sources,
          model)
on conflict do nothing

-- name: replace_narratives
-- End the narratives that new ones replace.
update memory.profiles p
set replaced_at = x.made_at, replaced_by = x.id
from unnest(%(subject_ids)s::text[], %(ids)s::uuid[], %(made_at)s::timestamptz[]) as x (subject_id, id, made_at)
where p.tenant_id = %(tenant)s and p.subject_id = x.subject_id and p.replaced_at is null and p.id <> x.id

-- name: write_narratives
-- Write new narratives.
insert into memory.profiles (tenant_id, id, subject_id, narrative, told_until, made_at, run_id, policy_hash, model,
                             prompt_hash)
select %(tenant)s, x.id, x.subject_id, x.narrative, x.told_until, x.made_at, %(run_id)s, %(policy_hash)s, %(model)s,
       %(prompt_hash)s
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(narratives)s::text[], %(told_until)s::timestamptz[],
            %(made_at)s::timestamptz[]) as x (id, subject_id, narrative, told_until, made_at)

-- name: drop_narratives
-- Delete old narratives beyond those that are kept, and those that were never in force.
delete from memory.profiles p
using (select p.id, p.replaced_at = p.made_at as never,
              row_number() over (partition by p.subject_id
                                 order by p.replaced_at is null desc, p.replaced_at = p.made_at, p.made_at desc, p.id) as place
       from memory.profiles p
       where p.tenant_id = %(tenant)s and p.subject_id = any(%(subject_ids)s)) x
where p.tenant_id = %(tenant)s and p.id = x.id and (x.never or x.place > %(most)s)

-- name: read_known_facts
-- Facts that are known word for word of their subject, or that a person called wrong or had forgotten.
select x.id
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(contents)s::text[]) as x (id, subject_id, content)
cross join lateral (select sha256(convert_to(x.content, 'UTF8')) as content_hash) h
where exists (select from memory.memories m
              where m.tenant_id = %(tenant)s and m.subject_id = x.subject_id and m.kind = 'fact'
                and m.content_hash = h.content_hash)
   or exists (select from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.id)
   or exists (select from memory.tombstones t
              where t.tenant_id = %(tenant)s and t.subject_id = x.subject_id and t.reason in ('wrong', 'forgotten_on_request')
                and t.content_hash = h.content_hash)

-- name: write_failures
-- Let subjects wait for the next cycle, with the number of useless replies in a row.
insert into ops.synthesis_failures (tenant_id, subject_id, failed_at, attempts, reason)
select %(tenant)s, x.subject_id, %(as_of)s, x.attempts, x.reason
from unnest(%(subject_ids)s::text[], %(attempts)s::int[], %(reasons)s::text[]) as x (subject_id, attempts, reason)
on conflict (tenant_id, subject_id) do update
set failed_at = greatest(ops.synthesis_failures.failed_at, excluded.failed_at), attempts = excluded.attempts,
    reason = excluded.reason

-- name: clear_failures
-- Clear the failures of subjects that were processed after all.
delete from ops.synthesis_failures where tenant_id = %(tenant)s and subject_id = any(%(done)s)
