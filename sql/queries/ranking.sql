-- name: subjects
-- The speakers in each subject's conversations, and the time of the last turn.
select s.subject_id, s.speakers, max(t.said_at)
from memory.subjects s
join log.turns t on t.tenant_id = s.tenant_id and t.subject_id = s.subject_id
where s.tenant_id = %(tenant)s
group by s.subject_id, s.speakers

-- name: turns
-- The caller's id of each turn.
select id, source_id from log.turns where tenant_id = %(tenant)s

-- name: recalled
-- Recalls whose question is still kept, with the turns behind their items that had a good outcome afterwards and no bad
-- one.
select r.subject_id, r.question, r.asked_at, array_agg(distinct t.id::text)
from log.recalls r
cross join lateral unnest(r.item_ids) as g (id)
left join memory.memories m on m.tenant_id = r.tenant_id and m.id = g.id
join log.turns t on t.tenant_id = r.tenant_id and t.id = coalesce(m.turn_id, g.id)
cross join lateral (
    select bool_and(o.positive) as good
    from log.outcomes o
    where o.tenant_id = t.tenant_id and o.subject_id = t.subject_id and o.session_id = t.session_id
      and o.source_id = t.source_id and o.observed_at >= r.asked_at) o
where r.tenant_id = %(tenant)s and r.question <> '' and o.good
group by r.tenant_id, r.id, r.subject_id, r.question, r.asked_at
order by r.asked_at, r.id
