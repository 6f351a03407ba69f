-- name: read_dirty
-- Groups (subject and kind) with candidates, and the number of rows that each compares; nothing else is touched.
with fresh as (
    select m.subject_id, m.kind, count(*) as candidates
    from memory.memories m
    where m.tenant_id = %(tenant)s and m.state = 'candidate' and m.happened_at <= %(as_of)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    group by m.subject_id, m.kind
)
select f.subject_id, f.kind,
       f.candidates + (select count(*) from memory.memories m
                       where m.tenant_id = %(tenant)s and m.subject_id = f.subject_id and m.kind = f.kind
                         and m.state in ('active', 'superseded'))
from fresh f
order by f.subject_id, f.kind

-- name: read_slices
-- Times that split the candidates of a large subject into slices in event order.
select distinct x.happened_at
from (select m.happened_at, row_number() over (order by m.happened_at, m.id) as place
      from memory.memories m
      where m.tenant_id = %(tenant)s and m.subject_id = any(%(dirty)s) and m.state = 'candidate'
        and m.happened_at <= %(as_of)s) x
where x.place %% %(slice)s = 0
order by x.happened_at

-- name: near_pairs
-- Pairs of a candidate and a live memory of its group above the threshold. `offset 0` keeps both reads on their keys: one
-- range of memories per group, one probe of vectors per memory, whatever the statistics say.
with placed as materialized (
    select g.number, m.id, m.state = 'candidate' as fresh, v.vec
    from unnest(%(groups_subject)s::text[], %(groups_kind)s::text[]) with ordinality as g (subject_id, kind, number)
    cross join lateral (
        select m.id, m.state, m.happened_at from memory.memories m
        where m.tenant_id = %(tenant)s and m.subject_id = g.subject_id and m.kind = g.kind offset 0) m
    cross join lateral (
        select v.vec from memory.vectors v
        where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.model = %(model)s and v.item_id = m.id
          and v.part = 0 offset 0) v
    where m.state in ('active', 'superseded') or (m.state = 'candidate' and m.happened_at <= %(until)s)
)
select a.id, b.id, 1 - (a.vec <=> b.vec)
from placed a
join placed b on b.number = a.number
where a.fresh and (not b.fresh or b.id < a.id) and 1 - (a.vec <=> b.vec) > %(threshold)s

-- name: pull_groups
-- The same rows for a matrix product: for each group its candidates and its active memories, as ids and wire vectors.
select g.number,
       coalesce(string_agg(uuid_send(m.id) || halfvec_send(v.vec), ''::bytea) filter (where m.state = 'candidate'), ''),
       coalesce(string_agg(uuid_send(m.id) || halfvec_send(v.vec), ''::bytea) filter (where m.state in ('active', 'superseded')), '')
from unnest(%(groups_subject)s::text[], %(groups_kind)s::text[]) with ordinality as g (subject_id, kind, number)
cross join lateral (
    select m.id, m.state, m.happened_at from memory.memories m
    where m.tenant_id = %(tenant)s and m.subject_id = g.subject_id and m.kind = g.kind offset 0) m
cross join lateral (
    select v.vec from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.model = %(model)s and v.item_id = m.id
      and v.part = 0 offset 0) v
where m.state in ('active', 'superseded') or (m.state = 'candidate' and m.happened_at <= %(until)s)
group by g.number

-- name: measure_pairs
-- The exact cosine of pairs that a matrix product found near, by the same expression as near_pairs.
select p.one, p.other, 1 - (a.vec <=> b.vec)
from unnest(%(pairs_subject)s::text[], %(firsts)s::uuid[], %(seconds)s::uuid[]) as p (subject_id, one, other)
cross join lateral (
    select v.vec from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = p.subject_id and v.model = %(model)s and v.item_id = p.one
      and v.part = 0 offset 0) a
cross join lateral (
    select v.vec from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = p.subject_id and v.model = %(model)s and v.item_id = p.other
      and v.part = 0 offset 0) b
where 1 - (a.vec <=> b.vec) > %(threshold)s

-- name: read_members
-- The data needed to decide on the memories in near pairs, with the arrival of their turns. The condition on role keeps
-- their look-up on the primary key: see read_judged in facts.sql.
select m.id, m.subject_id, m.kind, m.state, m.content, m.polarity, m.peak, m.happened_at, m.accessed_at, m.access_count,
       t.session_id, t.turn_index, m.turn_id, m.lasting, m.expires_at, m.who, m.relation, m.topic, m.object, m.phase,
       m.origin,
       m.id = any(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending)) as pinned
from unnest(%(ids)s::uuid[]) as x (id)
cross join lateral (select * from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.id offset 0) m
left join lateral (
    select t.session_id, t.turn_index from log.turns t
    where t.tenant_id = %(tenant)s and t.id = m.turn_id
      and t.role <> '' offset 0) t on true

-- name: read_apart
-- Pairs that a person keeps apart. A retracted pair counts as applied and is left out.
select c.memory_id, c.other_id from log.corrections c
where c.tenant_id = %(tenant)s and c.subject_id = any(%(dirty)s) and c.kind = 'keep_apart'
  and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)

-- name: activate
-- Activate candidates with a vector. Their state is tested indirectly, because the index of all candidates would be read
-- once per chunk.
update memory.memories m set state = 'active'
from unnest(%(groups_subject)s::text[], %(groups_kind)s::text[]) as g (subject_id, kind)
where m.tenant_id = %(tenant)s and m.subject_id = g.subject_id and m.kind = g.kind
  and m.state not in ('active', 'merged', 'compressed', 'superseded') and m.happened_at <= %(until)s
  and exists (select from memory.vectors v
              where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.model = %(model)s and v.item_id = m.id
                and v.part = 0 offset 0)

-- name: write_losers
-- Mark memories as merged, with those merged into them before. Rows to change are read by key first: see plans.sql.
update memory.memories m set state = 'merged', into_id = x.into_id, forget_at = null
from (select c.id, c.into_id
      from (select l.id, l.into_id from unnest(%(losers)s::uuid[], %(roots)s::uuid[]) as l (id, into_id)
            union all
            select h.id, l.into_id
            from unnest(%(losers)s::uuid[], %(roots)s::uuid[]) as l (id, into_id)
            cross join lateral (
                select h.id, h.state from memory.memories h
                where h.tenant_id = %(tenant)s and h.into_id = l.id offset 0) h
            where h.state = 'merged') c
      cross join lateral (
          select from memory.memories m where m.tenant_id = %(tenant)s and m.id = c.id and m.content <> '' offset 0) k
      offset 0) x
where m.tenant_id = %(tenant)s and m.id = x.id

-- name: write_survivors
-- Reinforce memories by those merged into them; importance is as of then. A superseded one stays so: facts decides.
update memory.memories m
set state = case when m.state = 'superseded' then m.state else 'active' end, peak = x.peak, importance = x.peak, accessed_at = x.accessed_at, decayed_at = x.accessed_at,
    access_count = x.access_count, forget_at = x.forget_at, lasting = x.lasting, expires_at = x.expires_at
from (select x.*
      from unnest(%(survivors)s::uuid[], %(peaks)s::real[], %(accessed_at)s::timestamptz[], %(access_counts)s::int[],
                  %(forget_at)s::timestamptz[], %(lasting)s::boolean[], %(expires_at)s::timestamptz[])
          as x (id, peak, accessed_at, access_count, forget_at, lasting, expires_at)
      cross join lateral (
          select from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.id and m.content <> '' offset 0) k
      offset 0) x
where m.tenant_id = %(tenant)s and m.id = x.id

-- name: write_merges
-- Record each merge with its changes, and its line in the survivor's lineage.
with merged as (
    insert into memory.merges (tenant_id, loser_id, survivor_id, subject_id, similarity, peak_before, peak_after, as_of,
                               run_id)
    select %(tenant)s, x.loser_id, x.survivor_id, x.subject_id, x.similarity, x.peak_before, x.peak_after, x.merged_at,
           %(run_id)s
    from unnest(%(losers)s::uuid[], %(winners)s::uuid[], %(losers_subject)s::text[], %(similarities)s::real[],
                %(peaks_before)s::real[], %(peaks_after)s::real[], %(merged_at)s::timestamptz[])
        as x (loser_id, survivor_id, subject_id, similarity, peak_before, peak_after, merged_at)
    returning survivor_id, loser_id, as_of
)
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
select %(tenant)s, survivor_id, 'merged', 'memory', loser_id, as_of, %(run_id)s from merged
on conflict do nothing

