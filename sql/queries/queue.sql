-- name: enqueue
-- Sessions that got turns wait until they go quiet, at most `max_wait` after the first turn that waits; what is known to
-- be quiet (closed, flushed) is due at once. New turns of a session that somebody works on begin a new wait, and a
-- session that failed is not tried earlier than its pause allows. Always in this order, so that two never wait for each
-- other.
insert into ops.queue as q (tenant_id, subject_id, session_id, turns, said_at, first_at, last_at, due_at)
select %(tenant)s, x.subject_id, x.session_id, sum(x.turns), max(x.said_at), %(at)s, %(at)s,
       %(at)s + case when bool_or(x.quiet) then interval '0' else least(%(quiet_after)s::interval, %(max_wait)s::interval) end
from unnest(%(subjects)s::text[], %(sessions)s::text[], %(turns)s::int[], %(said_at)s::timestamptz[], %(quiet)s::boolean[])
    as x (subject_id, session_id, turns, said_at, quiet)
group by x.subject_id, x.session_id
order by x.subject_id, x.session_id
on conflict (tenant_id, subject_id, session_id) do update
set turns = q.turns + excluded.turns,
    said_at = greatest(q.said_at, excluded.said_at),
    first_at = case when q.leased_until > excluded.last_at then excluded.first_at
                    else least(q.first_at, excluded.first_at) end,
    last_at = greatest(q.last_at, excluded.last_at),
    due_at = case
        when q.leased_until > excluded.last_at then excluded.due_at
        when q.attempts > 0 then greatest(q.due_at, excluded.due_at)
        when excluded.due_at = excluded.last_at then least(q.due_at, excluded.due_at)
        else least(least(q.first_at, excluded.first_at) + %(max_wait)s::interval, greatest(q.due_at, excluded.due_at)) end
