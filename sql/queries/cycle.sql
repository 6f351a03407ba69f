-- name: pending_cycles
-- Cycles in which something can change, each with its first subjects and their number: memories, recalls, outcomes,
-- corrections and observations not yet processed, messages of which a language model has yet to say what they end, too many
-- sessions, and running sessions with too many turns. Judged by the data, so a killed run, or a tier that did a part of the
-- work earlier, leaves the cycle pending.
with recursive unknown as (
    select o.id as outcome_id, o.subject_id, o.observed_at as at, o.positive, l.memory_id, true as direct
    from log.outcomes o
    join log.turns t on t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
        and t.source_id = o.source_id
    join memory.lineage l on l.tenant_id = o.tenant_id and l.source_id = t.id and l.relation = 'extracted'
    where o.tenant_id = %(tenant)s and o.observed_at <= %(until)s
      and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
    union
    select u.outcome_id, u.subject_id, u.at, u.positive, l.memory_id, false
    from unknown u
    join memory.lineage l on l.tenant_id = %(tenant)s and l.source_id = u.memory_id
        and l.relation in ('merged', 'compressed')
),
fresh as materialized (
    select m.subject_id, min(m.happened_at) as at from memory.memories m
    where m.tenant_id = %(tenant)s and not m.scored and m.happened_at <= %(until)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    group by m.subject_id
),
sessions as (
    select s.subject_id, s.at, row_number() over (partition by s.subject_id order by s.at, s.session_id) as place
    from (select distinct on (t.subject_id, t.session_id) t.subject_id, t.session_id, t.id, t.said_at as at
          from log.turns t
          where t.tenant_id = %(tenant)s and %(session_threshold)s > 0 and t.said_at <= %(until)s
            -- not the stored shard: so the index `turns_by_place` has all that is read
            and ops.shard_of(t.tenant_id, t.subject_id) >= %(shard_from)s
            and ops.shard_of(t.tenant_id, t.subject_id) < %(shard_to)s
            and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
          order by t.subject_id, t.session_id, t.said_at, t.turn_index, t.id) s
    where not exists (select from memory.lineage l
                      where l.tenant_id = %(tenant)s and l.source_id = s.id and l.relation = 'compressed'
                        and l.source = 'turn' offset 0)
),
running as (
    -- when the oldest turns of a running session are due: if no summary has its last turns, at each range's last turn
    select t.subject_id, t.said_at as at,
           row_number() over (partition by t.subject_id, t.session_id
                              order by t.said_at, t.turn_index, t.id) as place
    from (select subject_id, session_id from log.turns
          where tenant_id = %(tenant)s and %(running)s > 0 and said_at <= %(until)s
            and ops.shard_of(tenant_id, subject_id) >= %(shard_from)s and ops.shard_of(tenant_id, subject_id) < %(shard_to)s
            and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
          group by subject_id, session_id having count(*) >= %(running)s) l
    cross join lateral (
        select t.id from log.turns t
        where t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.session_id = l.session_id
          and t.said_at <= %(until)s
        order by t.said_at desc, t.turn_index desc, t.id desc offset greatest(%(running)s - 1, 0) limit 1) f
    join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.session_id = l.session_id
        and t.said_at <= %(until)s
    where not exists (select from memory.lineage k
                      where k.tenant_id = %(tenant)s and k.source_id = f.id and k.source = 'turn'
                        and k.relation in ('compressed', 'summarised') offset 0)
      and not exists (select from memory.lineage k
                      where k.tenant_id = %(tenant)s and k.source_id = t.id and k.source = 'turn'
                        and k.relation in ('compressed', 'summarised') offset 0)
),
pending as (
    select m.subject_id, m.happened_at as at from memory.memories m
    where m.tenant_id = %(tenant)s and not m.scored and m.happened_at <= %(until)s
      and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    union all
    select r.subject_id, r.asked_at from log.recalls r
    where r.tenant_id = %(tenant)s and r.standing is null and r.asked_at <= %(until)s
      and ops.shard_of(r.tenant_id, r.subject_id) >= %(shard_from)s
      and ops.shard_of(r.tenant_id, r.subject_id) < %(shard_to)s
      and (%(subjects)s::text[] is null or r.subject_id = any(%(subjects)s))
    union all
    select u.subject_id, u.at
    from unknown u
    join memory.memories m on m.tenant_id = %(tenant)s and m.id = u.memory_id
    -- a bad outcome changes only patterns: existing ones, or ones that new memories may form before it
    where (u.direct and (u.positive or exists (select from fresh f where f.subject_id = u.subject_id and f.at <= u.at))
           or m.kind = 'pattern' and m.state = 'active')
      and not exists (select from memory.lineage k
                      where k.tenant_id = %(tenant)s and k.memory_id = u.memory_id and k.relation = 'outcome'
                        and k.source_id = u.outcome_id)
    union all
    select c.subject_id, c.corrected_at from log.corrections c
    where c.tenant_id = %(tenant)s and c.kind not in ('keep_apart', 'retract') and c.corrected_at <= %(until)s
      and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s
      and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
      and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
      and not exists (select from memory.corrected d where d.tenant_id = c.tenant_id and d.correction_id = c.id)
    union all
    select subject_id, at from sessions where place > %(session_threshold)s
    union all
    select subject_id, at from running
    where place >= %(running)s and mod(place - %(running)s, %(range_turns)s) = 0
    union all
    -- `lag` later, as turns may still arrive if a model is asked, and after the cycle at which it failed
    select o.subject_id, greatest(o.at + %(lag)s::interval, f.failed_at + interval '1 microsecond')
    from ops.unsynthesized o
    left join ops.synthesis_failures f on f.tenant_id = o.tenant_id and f.subject_id = o.subject_id and %(asks)s
    where o.tenant_id = %(tenant)s and o.at <= %(until)s - %(lag)s::interval and (%(from_memories)s or o.item = 'event')
      and (f.failed_at is null or f.failed_at < %(until)s)
      and o.shard >= %(shard_from)s and o.shard < %(shard_to)s
      and (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
    union all
    -- at the last cycle, as earlier ones have decided without the model
    select e.subject_id, %(until)s::timestamptz from memory.extractions e
    join log.turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
    where e.tenant_id = %(tenant)s and e.ends_wait and %(asks_ends)s and t.said_at <= %(until)s
      and ops.shard_of(e.tenant_id, e.subject_id) >= %(shard_from)s
      and ops.shard_of(e.tenant_id, e.subject_id) < %(shard_to)s
      and (%(subjects)s::text[] is null or e.subject_id = any(%(subjects)s))
)
select cycle, (array_agg(subject_id order by subject_id))[1:%(most)s], count(*)
from (select distinct date_bin(%(period)s::interval, at - interval '1 microsecond', timestamptz '2000-01-01 00:00:00+00')
                          + %(period)s::interval as cycle, subject_id
      from pending) x
group by cycle
order by cycle

-- name: analyze_tables
-- Update statistics after a bulk load, for the plans of the stages that follow.
select ops.analyze_tables()
