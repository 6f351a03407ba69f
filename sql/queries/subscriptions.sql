-- name: add_subscription
-- Add a webhook.
insert into ops.subscriptions (tenant_id, id, url, secret, events, made_at)
select %(tenant)s, %(id)s, %(url)s, %(secret)s, %(events)s::text[], %(made_at)s
where exists (select from ops.tenants t where t.tenant_id = %(tenant)s)
returning id

-- name: know_memories
-- Record memories as they are when somebody subscribes to memories: only later changes are announced. Changes that another
-- webhook in force waits for are not recorded.
insert into ops.announced as a (tenant_id, memory_id, subject_id, state)
select m.tenant_id, m.id, m.subject_id, m.state from memory.memories m
where m.tenant_id = %(tenant)s and m.state <> 'candidate'
union all
select k.tenant_id, k.memory_id, k.subject_id, 'forgotten' from ops.announced k
join memory.tombstones f on f.tenant_id = k.tenant_id and f.memory_id = k.memory_id
where k.tenant_id = %(tenant)s
  and not exists (select from memory.memories m where m.tenant_id = k.tenant_id and m.id = k.memory_id)
on conflict (tenant_id, memory_id) do update set state = excluded.state
where not exists (select from ops.subscriptions s, unnest(s.events) e
                  where s.tenant_id = excluded.tenant_id and s.id <> %(id)s and s.ended_at is null
                    and e like 'memory.%%')

-- name: list_subscriptions
-- Webhooks, those in force first, with the numbers of messages that wait, were delivered and were given up.
select s.id, s.url, s.events, s.made_at, s.ended_at,
       count(o.id) filter (where o.delivered_at is null and o.dead_at is null) as waiting, count(o.delivered_at) as delivered,
       count(o.dead_at) as dead
from ops.subscriptions s
left join ops.outbox o on o.tenant_id = s.tenant_id and o.subscription_id = s.id
where s.tenant_id = %(tenant)s
group by s.id, s.url, s.events, s.made_at, s.ended_at
order by s.ended_at is not null, s.made_at, s.id

-- name: end_subscription
-- End a webhook: nothing is sent to it any more, and waiting messages are dropped.
with ended as (
    update ops.subscriptions set ended_at = coalesce(ended_at, %(at)s)
    where tenant_id = %(tenant)s and id = %(id)s
    returning id
),
dropped as (
    delete from ops.outbox o using ended e
    where o.tenant_id = %(tenant)s and o.subscription_id = e.id and o.delivered_at is null
)
select id from ended

-- name: replay_dead
-- Send messages that were given up again: of one webhook, or of all.
update ops.outbox o set dead_at = null, attempts = 0, due_at = %(at)s, leased_until = null
from ops.subscriptions s
where o.tenant_id = %(tenant)s and o.dead_at is not null and (%(id)s::uuid is null or o.subscription_id = %(id)s)
  and s.tenant_id = o.tenant_id and s.id = o.subscription_id and s.ended_at is null
returning o.id
