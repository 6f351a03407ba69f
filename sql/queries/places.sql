-- name: around
-- The turns before and after these turns in their sessions, in the order of the conversation.
select i.item_id, t.id, t.speaker, t.role, t.text, t.said_at, t.is_before
from unnest(%(ids)s::uuid[]) as i (item_id)
cross join lateral (
    select subject_id, session_id, said_at, turn_index, id from log.turns t
    where t.tenant_id = %(tenant)s and t.id = i.item_id limit 1) o
cross join lateral (
    (select id, speaker, role, text, said_at, turn_index, true as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) < (o.said_at, o.turn_index, o.id)
     order by t.said_at desc, t.turn_index desc, t.id desc limit %(neighbours)s)
    union all
    (select id, speaker, role, text, said_at, turn_index, false as is_before from log.turns t
     where t.tenant_id = %(tenant)s and t.subject_id = o.subject_id and t.session_id = o.session_id
       and (t.said_at, t.turn_index, t.id) > (o.said_at, o.turn_index, o.id) and t.id < %(horizon)s
     order by t.said_at, t.turn_index, t.id limit %(neighbours)s)) t
where not exists (
    select from memory.marks k
    where k.tenant_id = %(tenant)s and k.subject_id = o.subject_id and k.item_id = t.id and k.mark <> 'pinned')
order by i.item_id, t.said_at, t.turn_index, t.id
