-- name: lock
-- Let one reader at a time notice changes, so that positions are committed in order and a cursor skips none.
select pg_advisory_xact_lock(hashtextextended('states/' || %(tenant)s, 0))

-- template: notice
-- Give a version and the next position to each state that differs from the last one noticed: of all subjects, or of some.
-- States are compared by sums of hashes of their parts, one scan per table: building every state would take ten times as
-- long. A subject that was erased, or is not recalled, has no state. Feature: `some`, subjects are named.
with parts as (
    select subject_id, 'facts' as part, sum(hash_record_extended(row(id, value, confidence), 0)) as hash
    from memory.structured_facts
    where tenant_id = %(tenant)s and valid_to is null /* some.facts */
    group by subject_id
    union all
    select subject_id, 'memories', sum(hash_record_extended(row(id, content_hash, phase, polarity, expires_at), 0))
    from memory.memories
    where tenant_id = %(tenant)s and state = 'active' and kind in ('fact', 'preference', 'instruction') /* some.memories */
    group by subject_id
    union all
    select subject_id, 'scaffold', sum(hash_record_extended(row(id, value, confidence), 0))
    from memory.scaffold
    where tenant_id = %(tenant)s and state = 'active' /* some.scaffold */
    group by subject_id
    union all
    select subject_id, 'narrative', sum(hash_record_extended(row(id, told_until), 0))
    from memory.profiles
    where tenant_id = %(tenant)s and replaced_at is null /* some.profiles */
    group by subject_id
    union all
    select s.subject_id, 'mood', hash_record_extended(row(d.turn_id, d.mood, d.energy), 0)
    from memory.subjects s
    cross join lateral (
        select turn_id, mood, energy from memory.moods
        where tenant_id = %(tenant)s and subject_id = s.subject_id
        order by said_at desc, turn_id desc
        limit 1) d
    where s.tenant_id = %(tenant)s /* some.moods */
    union all
    select subject_id, 'tie', hash_record_extended(row(day, strength, churn_risk), 0)
    from memory.ties
    where tenant_id = %(tenant)s /* some.ties */
    union all
    select subject_id, 'period', sum(hash_record_extended(row(opened_at), 0))
    from memory.periods
    where tenant_id = %(tenant)s and closed_at is null /* some.periods */
    group by subject_id
    union all
    select subject_id, 'relationship', sum(hash_record_extended(row(stage, since, sessions), 0))
    from memory.relationships
    where tenant_id = %(tenant)s /* some.relationships */
    group by subject_id
    union all
    select subject_id, 'marks', sum(hash_record_extended(row(item_id, mark), 0))
    from memory.marks
    where tenant_id = %(tenant)s and mark <> 'pinned' /* some.marks */
    group by subject_id
),
current as (
    select s.subject_id, case when c.subject_id is null then decode(md5(coalesce(p.hash, '')), 'hex') end as hash
    from memory.subjects s
    left join (select subject_id, string_agg(part || hash, ' ' order by part) as hash from parts group by subject_id) p
        on p.subject_id = s.subject_id
    left join ops.consents c on c.tenant_id = s.tenant_id and c.subject_id = s.subject_id and not c.recall
    where s.tenant_id = %(tenant)s /* some.subjects */
),
changed as (
    select coalesce(o.id, gen_random_uuid()) as id, n.subject_id, n.hash
    from current n
    left join ops.state_versions o on o.tenant_id = %(tenant)s and o.subject_id = n.subject_id
    where o.id is null or o.hash is distinct from n.hash
    union all
    select o.id, o.subject_id, null
    from ops.state_versions o
    left join memory.subjects s on s.tenant_id = o.tenant_id and s.subject_id = o.subject_id
    where o.tenant_id = %(tenant)s and o.hash is not null and s.subject_id is null
)
insert into ops.state_versions as o (tenant_id, id, subject_id, position, hash, changed_at)
select %(tenant)s, c.id, c.subject_id,
       (select coalesce(max(position), 0) from ops.state_versions where tenant_id = %(tenant)s)
       + row_number() over (order by c.subject_id, c.id),
       c.hash, %(now)s
from changed c
on conflict (tenant_id, id) do update
set version = o.version + 1, position = excluded.position, hash = excluded.hash, changed_at = excluded.changed_at

-- part: some.facts
and subject_id = any(%(subjects)s::text[])

-- part: some.memories
and subject_id = any(%(subjects)s::text[])

-- part: some.scaffold
and subject_id = any(%(subjects)s::text[])

-- part: some.profiles
and subject_id = any(%(subjects)s::text[])

-- part: some.moods
and s.subject_id = any(%(subjects)s::text[])

-- part: some.ties
and subject_id = any(%(subjects)s::text[])

-- part: some.periods
and subject_id = any(%(subjects)s::text[])

-- part: some.relationships
and subject_id = any(%(subjects)s::text[])

-- part: some.marks
and subject_id = any(%(subjects)s::text[])

-- part: some.subjects
and s.subject_id = any(%(subjects)s::text[])

-- name: page
-- The latest version of each state after a place in the feed, in the order in which changes were noticed. An erased state
-- names no subject, so readers of some subjects get every erasure, unless they begin and have nothing to drop.
select o.id, o.subject_id, o.version, o.position, o.changed_at, case when o.hash is not null then v.state end as state
from (select id, subject_id, version, position, changed_at, hash from ops.state_versions
      where tenant_id = %(tenant)s and position > %(after)s
        and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s) or subject_id is null and %(after)s > 0)
      order by position
      limit %(limit)s) o
left join lateral (
    select v.state from memory.subject_states v
    where v.tenant_id = %(tenant)s and v.subject_id = o.subject_id
    offset 0) v on true
order by o.position
