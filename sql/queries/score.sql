-- name: write_novelty
-- Importance of new memories by their distance from the subject's earlier memories, and by salience (which extract left in
-- base). Pieces of one turn or document are not compared with one another. The centre runs in event order, so it does not
-- depend on how the work is split. It is computed once: expecting one memory in a small tenant, the planner would compute it
-- for each (measured: 6 s for 330 memories). `kept`: whether it lasts, is pinned, or is a person's replacement, or holds one
-- that was merged into it.
with dirty as (
    select distinct subject_id from memory.memories
    where tenant_id = %(tenant)s and not scored and linked and state in ('active', 'compressed', 'superseded')
      and (structured or relation is null and stated is null and not origin = any(%(origins)s)) and happened_at <= %(as_of)s
      and shard >= %(shard_from)s and shard < %(shard_to)s
      and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
),
placed as (
    select m.id, not m.scored and m.linked and m.state in ('active', 'compressed', 'superseded')
               and (m.structured or m.relation is null and m.stated is null and not m.origin = any(%(origins)s)) as new, m.base, v.vec,
           avg(v.vec) over (partition by m.subject_id
                            order by m.happened_at, m.turn_id is null, t.session_id collate "C", t.turn_index, m.turn_id
                            groups between unbounded preceding and 1 preceding) as centre
    from dirty d
    join memory.memories m on m.tenant_id = %(tenant)s and m.subject_id = d.subject_id and m.happened_at <= %(as_of)s
    join memory.vectors v on v.tenant_id = %(tenant)s and v.subject_id = m.subject_id and v.model = %(model)s
        and v.item_id = m.id and v.part = 0
    left join lateral (
        select t.session_id, t.turn_index from log.turns t
        where t.tenant_id = %(tenant)s and t.id = m.turn_id and t.role <> '' offset 0) t on true
),
rated as materialized (
    select id, (%(novelty_weight)s * least(greatest(coalesce(vec <=> centre, 1.0), 0.0), 1.0)
                + %(salience_weight)s * base)::real as importance
    from placed where new
)
update memory.memories m
set base = n.importance, scored = true, peak = n.peak, importance = n.peak, decayed_at = m.accessed_at,
    -- as `reschedule` of prune.sql has it
    forget_at = least(greatest(case when n.days <= 1e6
                                    then greatest(m.accessed_at, m.valid_to) + make_interval(secs => 86400 * n.days) end,
                               case when n.days <= 1e6 and m.lasting
                                    then m.valid_to + make_interval(secs => 86400 * %(history_days)s::float8) end),
                      case when not m.lasting
                           then m.expires_at + make_interval(secs => 86400 * %(expired_days)s::float8) end)
from (select p.id, p.importance, p.peak,
             greatest(%(unaccessed_days)s::float8,
                      case when p.lasting and p.valid_to is null then 'infinity'
                           when p.peak < %(below)s::real then 0
                           when r.rate = 0 then 'infinity'
                           else %(grace_days)s::float8 + (p.peak::float8 - %(below)s::float8) / r.rate end) as days
      from (select m.id, m.kind, m.lasting, m.valid_to, r.importance, least(1.0, greatest(m.peak - m.base, 0) + r.importance)::real as peak
            from rated r
            join memory.memories m on m.tenant_id = %(tenant)s and m.id = r.id) p
      join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) on r.kind = p.kind) n
where m.tenant_id = %(tenant)s and m.id = n.id
returning m.id, m.base,
    m.lasting or m.id = any(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending))
    or exists (select from memory.lineage l
               where l.tenant_id = %(tenant)s and l.relation = 'corrected'
                 and l.memory_id = any(m.id || array(select h.id from memory.memories h
                                                     where h.tenant_id = %(tenant)s and h.into_id = m.id))
               offset 0) as kept

-- name: mark_scored
-- Other memories keep the importance of their rule or kind. Those that link or facts has yet to process wait: the deferred
-- tier is at work on them.
update memory.memories set scored = true
where tenant_id = %(tenant)s and not scored and linked and state <> 'candidate' and happened_at <= %(as_of)s
  and (structured or relation is null and stated is null and not origin = any(%(origins)s))
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))

-- name: take_touches
-- Recalls and positive outcomes not yet counted, with the memory they touch, in event order for each memory. Records these
-- recalls as counted in the same statement, so that one logged meanwhile waits for the next run. The touches are found once
-- and `offset 0` keeps every read on its key: without statistics, as after an import, the planner would find the touches
-- again for every pair of memories (measured: 4 s instead of 10 ms for 160 memories).
with uncounted as materialized (
    -- known: counted, but without its mark; it is not counted twice
    select r.id, r.asked_at, r.item_ids,
           exists (select from memory.accesses a where a.tenant_id = r.tenant_id and a.recall_id = r.id) as known
    from log.recalls r
    where r.tenant_id = %(tenant)s and r.standing is null and r.asked_at <= %(as_of)s
      and ops.shard_of(r.tenant_id, r.subject_id) >= %(shard_from)s
      and ops.shard_of(r.tenant_id, r.subject_id) < %(shard_to)s
      and (%(subjects)s::text[] is null or r.subject_id = any(%(subjects)s))
),
counted as (
    insert into memory.accesses (tenant_id, recall_id, run_id)
    select %(tenant)s, id, %(run_id)s from uncounted
    on conflict do nothing
),
marked as (
    update log.recalls r set standing = 'counted'
    from uncounted u
    where r.tenant_id = %(tenant)s and r.id = u.id
),
recalled as (
    select u.id as source_id, u.asked_at as at, item_id from uncounted u, unnest(u.item_ids) item_id where not u.known
),
succeeded as (
    select o.id as source_id, o.observed_at as at, l.memory_id as item_id
    from log.outcomes o
    cross join lateral (
        select t.id from log.turns t
        where t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
          and t.source_id = o.source_id offset 0) t
    cross join lateral (
        select l.tenant_id, l.memory_id from memory.lineage l
        where l.tenant_id = o.tenant_id and l.source_id = t.id and l.relation = 'extracted' offset 0) l
    where o.tenant_id = %(tenant)s and o.positive and o.observed_at <= %(as_of)s
      and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
      and not exists (select from memory.lineage d
                      where d.tenant_id = l.tenant_id and d.memory_id = l.memory_id and d.relation = 'outcome'
                        and d.source_id = o.id)
),
touches as materialized (
    select false as outcome, * from recalled union all select true, * from succeeded
)
select s.id, s.kind, s.peak, s.accessed_at, s.access_count, s.lasting, s.valid_to, s.expires_at,
       s.id = any(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending)) as pinned,
       x.outcome, x.source_id, x.at, m.id as touched_id
from touches x
cross join lateral (
    select m.id, case m.state when 'merged' then m.into_id else m.id end as bearer_id from memory.memories m
    where m.tenant_id = %(tenant)s and m.id = x.item_id and m.state <> 'candidate' offset 0) m
cross join lateral (
    select s.* from memory.memories s where s.tenant_id = %(tenant)s and s.id = m.bearer_id offset 0) s
where s.shard >= %(shard_from)s and s.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or s.subject_id = any(%(subjects)s))
order by s.id, x.at, x.source_id

-- name: write_touched
-- Update the touched memories; importance is as of the last touch.
update memory.memories m
set peak = x.peak, importance = x.peak, accessed_at = x.accessed_at, decayed_at = x.accessed_at,
    access_count = x.access_count, forget_at = case when m.state = 'merged' then null else x.forget_at end
from unnest(%(ids)s::uuid[], %(peaks)s::real[], %(accessed_at)s::timestamptz[], %(access_counts)s::int[],
            %(forget_at)s::timestamptz[]) as x (id, peak, accessed_at, access_count, forget_at)
where m.tenant_id = %(tenant)s and m.id = x.id

-- name: write_outcomes
-- Record these outcomes as counted, in the lineage of each memory that they raised.
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
select %(tenant)s, x.memory_id, 'outcome', 'outcome', x.outcome_id, x.at, %(run_id)s
from unnest(%(memory_ids)s::uuid[], %(outcome_ids)s::uuid[], %(at)s::timestamptz[]) as x (memory_id, outcome_id, at)
on conflict do nothing
