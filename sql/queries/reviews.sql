-- name: page_reviews
-- A page of the turns that a person should review, the longest wait first, with their text from the buffer or the log.
select r.turn_id, r.subject_id, r.session_id, r.reason, r.flagged_at, r.seen_at, r.seen_by,
       coalesce((select p.text from ops.pending_turns p
                 where p.tenant_id = (select %(tenant)s::text) and p.subject_id = r.subject_id
                   and p.session_id = r.session_id and p.id = r.turn_id limit 1),
                (select t.text from log.turns t
                 where t.tenant_id = (select %(tenant)s::text) and t.id = r.turn_id)) as text
from ops.reviews r
where r.tenant_id = (select %(tenant)s::text) and (%(seen)s::boolean or r.seen_at is null)
  and (%(after)s::timestamptz is null or (r.flagged_at, r.turn_id) > (%(after)s::timestamptz, %(after_turn)s::uuid))
order by r.flagged_at, r.turn_id
limit %(limit)s

-- name: mark_seen
-- Record that a person reviewed a turn; one reviewed before keeps its time and reviewer.
update ops.reviews r
set seen_by = case when r.seen_at is null then %(seen_by)s else r.seen_by end, seen_at = coalesce(r.seen_at, %(seen_at)s)
where r.tenant_id = (select %(tenant)s::text) and r.turn_id = %(turn)s
returning r.turn_id
