-- name: acknowledge_trigger
-- Record an action on a trigger; the first one stays. Returns the subject of the trigger.
with known as (
    select g.subject_id from memory.triggers g where g.tenant_id = (select %(tenant)s::text) and g.id = %(trigger)s
),
added as (
    insert into log.acknowledgements (tenant_id, trigger_id, subject_id, action, acted_at, actor)
    select %(tenant)s, %(trigger)s, k.subject_id, %(action)s, %(acted_at)s, %(actor)s from known k
    on conflict do nothing
)
select subject_id from known
