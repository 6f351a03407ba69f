-- name: life_events
-- Life events of a subject as known at a time, by day: those within a range of days, and all that recur every year. Leaves
-- out events that were moved or repeat another, and those that a person corrected or wants forgotten.
select e.id, e.subject_id, e.title, e.speaker, e.who, e.first_on, e.last_on, e.precision, e.certainty, e.clock, e.zone, e.yearly,
       e.worth, e.told_at, e.turn_id, e.memory_id,
       case when e.kind = 'told' then 'told' when e.ended_at is null or e.ended_at > %(as_of)s then 'planned' else e.state end as state,
       case when e.ended_at <= %(as_of)s then e.ended_at end as ended_at,
       case when e.confirmed_at <= %(as_of)s then e.confirmed_at end as confirmed_at,
       array(with recursive before as (
                 select p.id, p.told_at from memory.life_events p
                 where p.tenant_id = e.tenant_id and p.subject_id = e.subject_id and p.by_id = e.id and p.told_at < e.told_at
                   and p.ended_at <= %(as_of)s and p.state in ('moved', 'repeated')
                 union
                 select p.id, p.told_at from before b
                 join memory.life_events p on p.tenant_id = e.tenant_id and p.subject_id = e.subject_id and p.by_id = b.id
                     and p.told_at < b.told_at and p.state in ('moved', 'repeated'))
             select b.id from before b order by b.told_at, b.id) as earlier_ids
from memory.life_events e
where e.tenant_id = (select %(tenant)s::text) and e.subject_id = %(subject)s and e.told_at <= %(as_of)s and e.first_on is not null
  and (e.state not in ('moved', 'repeated') or e.ended_at > %(as_of)s) and e.state <> 'change'
  and (e.forget_at is null or e.forget_at > %(as_of)s)
  and (e.yearly or (e.last_on >= %(since)s::date and e.first_on <= %(until)s::date))
  and (%(every)s::boolean or e.state <> 'cancelled' or e.ended_at > %(as_of)s)
  and not exists (select from memory.marks k
                  where k.tenant_id = e.tenant_id and k.subject_id = e.subject_id and k.mark <> 'pinned'
                    and k.item_id in (e.turn_id, e.memory_id))
order by e.first_on, e.id
