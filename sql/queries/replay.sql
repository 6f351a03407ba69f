-- name: unread
-- Let a session's turns be read again; returns their number.
with turns as (
    select id from log.turns
    where tenant_id = %(tenant)s and subject_id = %(subject)s and session_id = %(session)s
),
gone as (
    delete from memory.extractions e using turns t where e.tenant_id = %(tenant)s and e.turn_id = t.id
)
select count(*) from turns

-- name: resolve
-- Delete the dead letter of a session that was consolidated.
delete from ops.dead_letters
where tenant_id = %(tenant)s and subject_id = %(subject)s and session_id = %(session)s
