-- name: last_policy
-- The policy of this scope's last prune if it is another one, or else another policy by which a larger or smaller scope of the
-- tenant was pruned since. That may have had an earlier time only if it was run for the past, so older rows are not read.
-- Policies are found by steps along the index: there are few, with many runs each.
with recursive last as materialized (
    select policy_hash, as_of, finished_at from ops.runs
    where tenant_id = %(tenant)s and stage = 'prune' and status = 'done' and scope = %(limits)s
    order by as_of desc, finished_at desc limit 1
), policies (policy_hash) as (
    select min(policy_hash) from ops.runs where tenant_id = %(tenant)s and stage = 'prune' and status = 'done'
    union all
    select (select min(r.policy_hash) from ops.runs r
            where r.tenant_id = %(tenant)s and r.stage = 'prune' and r.status = 'done' and r.policy_hash > p.policy_hash)
    from policies p
    where p.policy_hash is not null
)
select coalesce(
    (select policy_hash from last where policy_hash <> %(policy_hash)s),
    (select p.policy_hash from policies p
     where p.policy_hash <> %(policy_hash)s
       and exists (select from ops.runs r
                   where r.tenant_id = %(tenant)s and r.stage = 'prune' and r.status = 'done' and r.policy_hash = p.policy_hash
                     and r.as_of >= coalesce((select as_of from last), '-infinity')
                     and r.finished_at > coalesce((select finished_at from last), '-infinity') offset 0)
     limit 1))

-- name: reschedule
-- The time at which the present policy forgets each memory: the closed form of reverie/policy/fading.py.
update memory.memories m
set forget_at = x.forget_at
from (select d.id, least(greatest(case when d.days <= 1e6 then d.since + make_interval(secs => 86400 * d.days) end,
                                  case when d.days <= 1e6 then d.history_until end),
                         case when not d.lasting
                              then d.expires_at + make_interval(secs => 86400 * %(expired_days)s::float8) end) as forget_at
      from (select m.id, greatest(m.accessed_at, m.valid_to) as since, m.lasting, m.expires_at,
                   case when m.lasting
                        then m.valid_to + make_interval(secs => 86400 * %(history_days)s::float8) end as history_until, greatest(%(unaccessed_days)s::float8,
                       case when m.lasting and m.valid_to is null then 'infinity'
                            when m.peak < %(below)s::real then 0
                            when r.rate = 0 then 'infinity'
                            else %(grace_days)s::float8 + (m.peak::float8 - %(below)s::float8) / r.rate end) as days
            from memory.memories m
            join unnest(%(kinds)s::text[], %(rates)s::float8[]) as r (kind, rate) on r.kind = m.kind
            where m.tenant_id = %(tenant)s and m.state <> 'merged'
              and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
              and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))) d) x
where m.tenant_id = %(tenant)s and m.id = x.id and m.forget_at is distinct from x.forget_at

-- name: read_doomed
-- The next memories to forget, each with the cycle at which its time came, and whether it ended by its own time (`expired`).
-- A faded one also waits until its subject has said something on `active_days` days since its last access; a superseded or
-- compressed one does not.
with faded as materialized (
    select id, subject_id, accessed_at, forget_at, state = 'active' and %(active_days)s::int > 0 as waits,
           case when not lasting then expires_at + make_interval(secs => 86400 * %(expired_days)s::float8) end as ends_at
    from memory.memories
    where tenant_id = %(tenant)s and forget_at < %(as_of)s
      and shard >= %(shard_from)s and shard < %(shard_to)s
      and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
      -- a pinned memory existed before its pin, so no earlier cycle forgets it; the one it was merged into has its mark
      and id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned' and not pending
                          union all
                          select c.memory_id from log.corrections c
                          where c.tenant_id = %(tenant)s and c.kind = 'pin'
                            and not exists (select from log.corrections u
                                            where u.tenant_id = c.tenant_id and u.subject_id = c.subject_id
                                              and u.memory_id = c.memory_id and u.kind = 'unpin'
                                              and (u.corrected_at, u.id) > (c.corrected_at, c.id) and u.corrected_at <= %(as_of)s)))
),
active as materialized (  -- the days on which each subject said something: their first and last turns
    select d.subject_id, array_agg(d.first_at order by d.first_at) as firsts, array_agg(d.last_at order by d.first_at) as lasts
    from (select t.subject_id, min(t.said_at) as first_at, max(t.said_at) as last_at
          from log.turns t
          where t.tenant_id = %(tenant)s and t.said_at < %(as_of)s
            and t.subject_id = any(array(select distinct subject_id from faded where waits))
          group by t.subject_id, (t.said_at at time zone 'UTC')::date) d
    group by d.subject_id
),
dated as materialized (  -- null: the subject has not said enough since
    select f.id, f.subject_id, f.ends_at,
           case when not f.waits then f.forget_at
                when enough.at is not null then greatest(f.forget_at, enough.at) end as faded_at
    from faded f
    left join active a using (subject_id)
    cross join lateral (select a.firsts[width_bucket(f.accessed_at, a.lasts) + %(active_days)s::int] as at) enough
),
due as materialized (
    select id, subject_id, least(faded_at, ends_at) as due_at, coalesce(ends_at <= faded_at, ends_at is not null) as expired
    from dated
    where least(faded_at, ends_at) < %(as_of)s
    order by due_at, id
    limit %(limit)s
),
locked as materialized (  -- before their memories, as every other writer does
    select from memory.subjects
    where tenant_id = %(tenant)s and subject_id in (select subject_id from due)
    order by subject_id
    for update
)
select m.id, least(%(as_of)s, date_bin(%(period)s::interval, d.due_at, timestamptz '2000-01-01 00:00:00+00')
                              + %(period)s::interval),
       d.expired
from due d
join memory.memories m on m.tenant_id = %(tenant)s and m.id = d.id and m.forget_at < %(as_of)s
where (select count(*) from locked) >= 0
for update of m

-- name: read_due_facts
-- The subjects with structured facts that are due.
select distinct subject_id from memory.structured_facts
where tenant_id = %(tenant)s and expires_at <= %(as_of)s::timestamptz - make_interval(secs => 86400 * %(expired_days)s::float8)
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))

-- name: forget_facts
-- Delete the structured facts that ended by themselves, as long after their end as their memories: their text may be kept for no
-- longer, unless a person pinned the memory. A value that one of them replaced has ended all the same.
with gone as (
    delete from memory.structured_facts
    where tenant_id = %(tenant)s and expires_at <= %(as_of)s::timestamptz - make_interval(secs => 86400 * %(expired_days)s::float8)
      and subject_id = any(%(names)s)
      and memory_id <> all(array(select item_id from memory.marks where tenant_id = %(tenant)s and mark = 'pinned'))
    returning id, subject_id
)
update memory.structured_facts set replaced_by = null
where tenant_id = %(tenant)s and subject_id = any(array(select subject_id from gone))
  and replaced_by = any(array(select id from gone)) and id <> all(array(select id from gone))
