-- name: enqueue
-- Queue sessions with new turns until they go quiet, at most `max_wait` after the first waiting turn; those known to be
-- quiet (closed, flushed) are due at once. New turns of a session that a worker holds begin a new wait, and a failed session
-- is not retried before its pause is over. Events are no turns, but they count as one while a worker holds the session: it
-- may have read the events before, and keeps a session in the queue only if there are more turns. Ordered, so that two
-- writers never wait for each other.
insert into ops.queue as q (tenant_id, subject_id, session_id, turns, said_at, first_at, last_at, due_at)
select %(tenant)s, x.subject_id, x.session_id, sum(x.turns), max(x.said_at), %(at)s, %(at)s,
       %(at)s + case when bool_or(x.quiet) then interval '0' else least(%(quiet_after)s::interval, %(max_wait)s::interval) end
from unnest(%(subjects)s::text[], %(sessions)s::text[], %(turns)s::int[], %(said_at)s::timestamptz[], %(quiet)s::boolean[])
    as x (subject_id, session_id, turns, said_at, quiet)
group by x.subject_id, x.session_id
order by x.subject_id, x.session_id
on conflict (tenant_id, subject_id, session_id) do update
set turns = q.turns + greatest(excluded.turns, (q.lease_id is not null)::int),
    said_at = greatest(q.said_at, excluded.said_at),
    first_at = case when q.leased_until > excluded.last_at then excluded.first_at
                    else least(q.first_at, excluded.first_at) end,
    last_at = greatest(q.last_at, excluded.last_at),
    due_at = case
        when q.leased_until > excluded.last_at then excluded.due_at
        when q.attempts > 0 then greatest(q.due_at, excluded.due_at)
        when excluded.due_at = excluded.last_at then least(q.due_at, excluded.due_at)
        else least(least(q.first_at, excluded.first_at) + %(max_wait)s::interval, greatest(q.due_at, excluded.due_at)) end

-- name: waiting_tenants
-- Tenants with due sessions that no worker holds, the longest wait first.
select tenant_id, sessions, due_at from ops.waiting_tenants(%(as_of)s, %(at)s)

-- name: lock_queue
-- Allow one claim of a tenant at a time: otherwise, two could claim sessions of one subject.
select pg_advisory_xact_lock(hashtextextended('queue/' || %(tenant)s, 0))

-- name: claim
-- Claim the due sessions of the subjects that wait longest and that no worker holds. A subject that failed before is tried
-- alone, so that it cannot make others fail with it. A row that an enqueue holds at this moment is left for the next claim.
with due as (
    select q.subject_id, min(q.due_at) as due_at, max(q.attempts) > 0 as tried
    from ops.queue q
    where q.tenant_id = %(tenant)s and q.due_at <= %(as_of)s
      and not exists (select from ops.queue b
                      where b.tenant_id = %(tenant)s and b.subject_id = q.subject_id and b.leased_until > %(at)s)
    group by q.subject_id
),
placed as (
    select subject_id, tried, row_number() over by_wait as place, first_value(tried) over by_wait as alone
    from due
    window by_wait as (order by due_at, subject_id)
),
chosen as (
    select subject_id from placed
    where case when alone then place = 1 else not tried end
    order by place
    limit %(limit)s
),
taken as (
    select q.subject_id, q.session_id
    from ops.queue q
    join chosen using (subject_id)
    where q.tenant_id = %(tenant)s and q.due_at <= %(as_of)s
    order by q.subject_id, q.session_id
    for update of q skip locked
)
update ops.queue q
set lease_id = %(lease)s, leased_until = %(until)s, attempts = q.attempts + 1
from taken t
where q.tenant_id = %(tenant)s and q.subject_id = t.subject_id and q.session_id = t.session_id
returning q.subject_id, q.session_id, q.turns, q.attempts, q.due_at, q.error

-- name: renew
-- Extend a lease; the number of sessions that it still holds.
update ops.queue set leased_until = %(until)s where tenant_id = %(tenant)s and lease_id = %(lease)s

-- name: finish
-- Remove consolidated sessions from the queue. A session that got turns meanwhile stays, and one with a turn said after
-- `as_of` stays until then. Sessions that another worker claimed after the lease ran out are left to it.
with mine as (
    select q.subject_id, q.session_id, x.turns, q.turns = x.turns and q.said_at <= %(as_of)s as whole
    from unnest(%(subjects)s::text[], %(sessions)s::text[], %(turns)s::int[]) as x (subject_id, session_id, turns)
    join ops.queue q on q.tenant_id = %(tenant)s and q.subject_id = x.subject_id and q.session_id = x.session_id
        and q.lease_id = %(lease)s
    for update of q
),
gone as (
    delete from ops.queue q using mine m
    where m.whole and q.tenant_id = %(tenant)s and q.subject_id = m.subject_id and q.session_id = m.session_id
),
kept as (
    update ops.queue q
    set turns = q.turns - m.turns, attempts = 0, lease_id = null, leased_until = null, error = null,
        due_at = case when q.said_at > %(as_of)s then greatest(q.due_at, q.said_at) else q.due_at end
    from mine m
    where not m.whole and q.tenant_id = %(tenant)s and q.subject_id = m.subject_id and q.session_id = m.session_id
)
select count(*) filter (where whole), count(*) filter (where not whole) from mine

-- name: postpone
-- Release failed sessions, due when their pause is over; a claim that was no attempt is not counted as one.
update ops.queue q
set lease_id = null, leased_until = null, error = %(error)s, due_at = x.due_at, attempts = q.attempts - 1 + %(attempt)s
from unnest(%(subjects)s::text[], %(sessions)s::text[], %(due_at)s::timestamptz[]) as x (subject_id, session_id, due_at)
where q.tenant_id = %(tenant)s and q.subject_id = x.subject_id and q.session_id = x.session_id and q.lease_id = %(lease)s

-- name: bury
-- Turn sessions that were tried too often into dead letters. Their turns stay in the log, and the next cycle reads them.
with gone as (
    delete from ops.queue q
    using unnest(%(ids)s::uuid[], %(subjects)s::text[], %(sessions)s::text[], %(details)s::text[])
        as x (id, subject_id, session_id, detail)
    where q.tenant_id = %(tenant)s and q.subject_id = x.subject_id and q.session_id = x.session_id
      and q.lease_id = %(lease)s
    returning x.id, q.subject_id, q.session_id, x.detail, q.attempts
)
insert into ops.dead_letters as d (tenant_id, id, source, reason, detail, attempts, subject_id, session_id)
select %(tenant)s, id, 'queue', 'not_worked_in', detail, attempts, subject_id, session_id from gone
on conflict (tenant_id, id) do update set detail = excluded.detail, attempts = d.attempts + excluded.attempts

-- name: requeue
-- Put sessions that became dead letters back in the queue, due at once.
with letters as (
    delete from ops.dead_letters
    where tenant_id = %(tenant)s and session_id is not null and (%(reason)s::text is null or reason = %(reason)s)
      and (%(source)s::text is null or source = %(source)s)
    returning subject_id, session_id
),
said as (
    select l.subject_id, l.session_id, count(t.id) as turns, coalesce(max(t.said_at), %(at)s) as said_at
    from letters l
    left join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.session_id = l.session_id
    group by l.subject_id, l.session_id
)
insert into ops.queue as q (tenant_id, subject_id, session_id, turns, said_at, first_at, last_at, due_at)
select %(tenant)s, subject_id, session_id, turns, said_at, %(at)s, %(at)s, %(at)s from said
order by subject_id, session_id
on conflict (tenant_id, subject_id, session_id) do update set due_at = least(q.due_at, excluded.due_at)

-- name: read_waiting
-- The sessions of a scope that wait now, before another tier consolidates them.
select subject_id, session_id, turns, last_at from ops.queue
where tenant_id = %(tenant)s and said_at <= %(as_of)s
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))
order by subject_id, session_id

-- name: clear
-- Remove sessions that another tier consolidated, unless they got turns since or a worker holds them.
delete from ops.queue q
using unnest(%(waiting_subjects)s::text[], %(waiting_sessions)s::text[], %(waiting_turns)s::int[],
             %(waiting_last_at)s::timestamptz[]) as x (subject_id, session_id, turns, last_at)
where q.tenant_id = %(tenant)s and q.subject_id = x.subject_id and q.session_id = x.session_id
  and q.turns = x.turns and q.last_at = x.last_at and (q.leased_until is null or q.leased_until <= %(as_of)s)

-- name: flushable_tenants
-- Tenants with sessions to flush, the longest wait first.
select tenant_id from ops.flushable_tenants(%(as_of)s)
