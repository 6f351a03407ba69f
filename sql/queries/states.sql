-- name: lock
-- One reader at a time notices changes, so that positions are committed in their order and a cursor passes over none.
select pg_advisory_xact_lock(hashtextextended('states/' || %(tenant)s, 0))

-- name: notice
-- Give a version and the next position to each state that differs from the one that was noticed last: of all subjects, or of
-- some. Of whoever was erased, or is not recalled, the state is nothing.
with current as (
    select v.subject_id, case when c.subject_id is null then decode(md5(v.state::text), 'hex') end as hash
    from memory.subject_states v
    left join ops.consents c on c.tenant_id = v.tenant_id and c.subject_id = v.subject_id and not c.recall
    where v.tenant_id = %(tenant)s and (%(subjects)s::text[] is null or v.subject_id = any(%(subjects)s))
),
changed as (
    select coalesce(o.id, gen_random_uuid()) as id, n.subject_id, n.hash, o.version
    from current n
    left join ops.state_versions o on o.tenant_id = %(tenant)s and o.subject_id = n.subject_id
    where o.id is null or o.hash is distinct from n.hash
    union all
    select o.id, o.subject_id, null, o.version from ops.state_versions o
    where o.tenant_id = %(tenant)s and o.hash is not null
      and (o.subject_id is null
           or (%(subjects)s::text[] is null or o.subject_id = any(%(subjects)s))
              and not exists (select from memory.subjects s where s.tenant_id = o.tenant_id and s.subject_id = o.subject_id))
),
placed as (
    select c.id, c.subject_id, c.hash, c.version,
           (select coalesce(max(position), 0) from ops.state_versions where tenant_id = %(tenant)s)
           + row_number() over (order by c.subject_id, c.id) as position
    from changed c
)
insert into ops.state_versions as o (tenant_id, id, subject_id, position, hash, changed_at)
select %(tenant)s, p.id, p.subject_id, p.position, p.hash, %(now)s from placed p
on conflict (tenant_id, id) do update
set version = o.version + 1, position = excluded.position, hash = excluded.hash, changed_at = excluded.changed_at

-- name: page
-- The latest version of each state after a place in the feed, in the order in which changes were noticed.
select o.id, o.subject_id, o.version, o.position, o.changed_at, case when o.hash is not null then v.state end as state
from (select id, subject_id, version, position, changed_at, hash from ops.state_versions
      where tenant_id = %(tenant)s and position > %(after)s and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
      order by position
      limit %(limit)s) o
left join memory.subject_states v on v.tenant_id = %(tenant)s and v.subject_id = o.subject_id
order by o.position
