-- name: subjects_with_turns
-- The first subjects with a turn that has no vector of this model. Compares all ids of a subject at once, from two indexes,
-- for a third of the cost of a look-up per turn of the tenant. Turns without text, which get no vector, count as well.
select s.subject_id
from (select distinct subject_id from log.turns
      where tenant_id = %(tenant)s and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
      offset 0) s
cross join lateral (
    select id from log.turns where tenant_id = %(tenant)s and subject_id = s.subject_id
    except
    select item_id from memory.vectors
    where tenant_id = %(tenant)s and subject_id = s.subject_id and model = %(model)s
    limit 1) x
where ops.shard_of(%(tenant)s, s.subject_id) >= %(shard_from)s and ops.shard_of(%(tenant)s, s.subject_id) < %(shard_to)s
order by s.subject_id
limit %(most)s

-- name: read_turns
-- The next turns without a vector of this model, in the order of their sessions; a subject's are together, so that its
-- posting lists are few and long.
select t.id, t.subject_id, case when t.speaker is null then t.text else t.speaker || ': ' || t.text end as text,
       t.session_id, t.said_at as happened_at, t.speaker, t.role,
       case when right(p.text, 1) = '?' then p.id end as asked_by, t.turn_index as place
from log.turns t
left join lateral (select p.id, p.text from log.turns p
                   where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
                     and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
                   order by p.said_at desc, p.turn_index desc, p.id desc limit 1) p on true
where t.tenant_id = %(tenant)s
  and (t.subject_id, t.session_id, t.said_at, t.turn_index, t.id)
      > (%(after_subject)s::text, %(after_group)s::text, %(after_time)s::timestamptz, %(after_place)s::int,
         %(after_id)s::uuid)
  and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
  and (%(since)s::timestamptz is null or t.said_at >= %(since)s)
  and (%(until)s::timestamptz is null or t.said_at < %(until)s)
  and t.text <> ''
  and not exists (select from memory.vectors v
                  where v.tenant_id = t.tenant_id and v.subject_id = t.subject_id and v.model = %(model)s
                    and v.item_id = t.id offset 0)
order by t.subject_id, t.session_id, t.said_at, t.turn_index, t.id
limit %(limit)s

-- name: read_memories
-- The next memories without a vector of this model; a subject's are together. `asked_by`: of the first words of a message,
-- the turn before it if that asked a question.
select m.id, m.subject_id, m.content as text, m.session_id, m.happened_at, t.speaker, t.role,
       case when right(p.text, 1) = '?' then p.id end as asked_by, m.kind as place
from memory.memories m
left join log.turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
left join lateral (select p.id, p.text from log.turns p
                   where m.origin = 'said' and p.tenant_id = t.tenant_id and p.subject_id = t.subject_id
                     and p.session_id = t.session_id
                     and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
                     and (starts_with(lower(t.text), lower(m.content))
                          or starts_with(lower(t.speaker || ': ' || t.text), lower(m.content)))
                   order by p.said_at desc, p.turn_index desc, p.id desc limit 1) p on true
where m.tenant_id = %(tenant)s
  and (m.subject_id, m.kind, m.id) > (%(after_subject)s::text, %(after_group)s::text, %(after_id)s::uuid)
  and (%(kinds)s::text[] is null or m.kind = any(%(kinds)s))
  and m.happened_at <= %(as_of)s
  and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
  and (%(since)s::timestamptz is null or m.happened_at >= %(since)s)
  and (%(until)s::timestamptz is null or m.happened_at < %(until)s)
  and not exists (select from memory.vectors v
                  where v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = %(model)s
                    and v.item_id = m.id offset 0)
order by m.subject_id, m.kind, m.id
limit %(limit)s

-- name: find_uncached
-- Those of these content hashes that the cache lacks: one look-up per hash, whatever the statistics say.
select h.hash
from unnest(%(hashes)s::bytea[]) as h (hash)
where not exists (select from ops.embeddings e
                  where e.tenant_id = %(tenant)s and e.model = %(model)s and e.content_hash = h.hash offset 0)

-- name: leave_unembedded
-- Mark memories that the model cannot embed as done, so that no cycle waits for them.
update memory.memories set scored = true where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[]) and not scored

-- name: stage_cache
-- A temporary table into which COPY writes new vectors for the cache.
create temporary table new_embeddings (content_hash bytea, vec halfvec) on commit drop

-- name: copy_cache
-- Binary COPY of (hash, halfvec).
copy new_embeddings (content_hash, vec) from stdin (format binary)

-- name: write_cache
-- Write new vectors; another attempt may have been faster. Ordered, so that two writers wait and do not deadlock.
insert into ops.embeddings (tenant_id, model, content_hash, vec)
select %(tenant)s, %(model)s, content_hash, vec from new_embeddings order by content_hash
on conflict do nothing

-- name: write_vectors
-- Give each part of each item the cached vector of its text. `offset 0` keeps each read on its key, whatever the statistics say.
insert into memory.vectors (tenant_id, subject_id, model, item_id, part, item, live, vec)
select %(tenant)s, x.subject_id, %(model)s, x.item_id, x.part, %(item)s,
       coalesce(m.state in ('candidate', 'active'), true), e.vec
from unnest(%(item_ids)s::uuid[], %(subject_ids)s::text[], %(parts)s::smallint[], %(hashes)s::bytea[])
    as x (item_id, subject_id, part, hash)
cross join lateral (
    select e.vec from ops.embeddings e
    where e.tenant_id = %(tenant)s and e.model = %(model)s and e.content_hash = x.hash offset 0) e
left join lateral (
    select m.state from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.item_id offset 0) m on true
on conflict do nothing

-- name: write_items
-- For new items alone, write the properties that recall weighs, the posting lists of their stemmed terms, and their part of
-- the subject's corpus figures. tsvectors end at 1 MB, so terms come from the first 100,000 characters.
with given as materialized (
    select x.*, v.vector, (select coalesce(sum(cardinality(u.positions)), 0) from unnest(v.vector) u) as length
    from unnest(%(item_ids)s::uuid[], %(subject_ids)s::text[], %(texts)s::text[], %(session_ids)s::text[],
                %(happened_at)s::timestamptz[], %(speakers)s::text[], %(roles)s::text[], %(words)s::int[],
                %(asks)s::boolean[], %(first_person)s::boolean[], %(names_time)s::boolean[], %(asked_by)s::uuid[])
        as x (item_id, subject_id, text, session_id, happened_at, speaker, role, words, asks, first_person, names_time,
              asked_by)
    cross join lateral (select to_tsvector(%(language)s::regconfig, left(x.text, 100000)) as vector offset 0) v
),
new as (
    insert into memory.items (tenant_id, subject_id, item_id, item, session_id, happened_at, speaker, role, words, asks,
                              first_person, names_time, asked_by)
    select %(tenant)s, g.subject_id, g.item_id, %(item)s, g.session_id, g.happened_at, g.speaker, g.role, g.words, g.asks,
           g.first_person, g.names_time, g.asked_by
    from given g
    on conflict do nothing
    returning item_id
),
lists as (  -- of at most 64 items: forgetting one rewrites its list
    insert into memory.terms (tenant_id, subject_id, term, first_id, item_ids, tfs, dls)
    select %(tenant)s, p.subject_id, p.lexeme, p.item_ids[c.first], p.item_ids[c.first:c.first + 63],
           p.tfs[c.first:c.first + 63], p.dls[c.first:c.first + 63]
    from (select g.subject_id, l.lexeme, array_agg(g.item_id) as item_ids,
                 array_agg(cardinality(l.positions)::smallint) as tfs,
                 array_agg(least(g.length, 32767)::smallint) as dls
          from new n
          join given g using (item_id)
          cross join lateral unnest(g.vector) l
          group by g.subject_id, l.lexeme) p
    cross join lateral generate_series(1, cardinality(p.item_ids), 64) as c (first)
)
insert into memory.subjects (tenant_id, subject_id, items, terms)
select %(tenant)s, g.subject_id, count(n.item_id) filter (where g.length > 0),
       coalesce(sum(least(g.length, 32767)) filter (where n.item_id is not null), 0)
from given g
left join new n using (item_id)
group by g.subject_id
order by g.subject_id
on conflict (tenant_id, subject_id) do update
set items = memory.subjects.items + excluded.items, terms = memory.subjects.terms + excluded.terms
where excluded.items > 0

-- name: write_speakers
-- Update the speakers in these subjects' conversations, ordered by name.
update memory.subjects s
set speakers = f.speakers
from (select x.subject_id, array_agg(distinct x.speaker order by x.speaker) as speakers
      from (select subject_id, unnest(speakers) as speaker from memory.subjects
            where tenant_id = %(tenant)s and subject_id = any(%(subject_ids)s::text[])
            union all
            select * from unnest(%(subject_ids)s::text[], %(speakers)s::text[])) as x (subject_id, speaker)
      where x.speaker is not null group by x.subject_id) f
where s.tenant_id = %(tenant)s and s.subject_id = f.subject_id and s.speakers <> f.speakers
