-- name: listens
-- The events with a subscription.
select coalesce(array_agg(distinct e), '{}') from ops.subscriptions s, unnest(s.events) e
where s.tenant_id = %(tenant)s and s.ended_at is null

-- name: fill_triggers
-- Write a message for each due trigger and each webhook subscribed to it. Triggers for a person are never sent.
insert into ops.outbox (tenant_id, id, subscription_id, subject_id, event, item_id, payload, made_at, due_at)
select g.tenant_id, md5(s.id::text || g.id::text || 'trigger.due')::uuid, s.id, g.subject_id, 'trigger.due', g.id,
       jsonb_build_object('type', 'trigger.due', 'timestamp', g.due_at,
                          'data', jsonb_build_object('trigger_id', g.id, 'subject_id', g.subject_id, 'kind', g.kind,
                                                     'audience', g.audience, 'due_at', g.due_at, 'until_at', g.until_at,
                                                     'why', g.why, 'turn_id', g.turn_id)),
       g.due_at, %(now)s
from memory.triggers g
join ops.subscriptions s on s.tenant_id = g.tenant_id and s.ended_at is null and 'trigger.due' = any(s.events)
where g.tenant_id = %(tenant)s and g.due_at <= %(as_of)s and g.until_at > %(as_of)s and g.withheld is null
  and g.audience <> 'person'
  and not exists (select from log.acknowledgements a where a.tenant_id = g.tenant_id and a.trigger_id = g.id)
on conflict do nothing

-- name: withdraw_triggers
-- Delete messages about triggers that were acknowledged, are over, or no longer follow from the log.
delete from ops.outbox o
where o.tenant_id = %(tenant)s and o.event = 'trigger.due' and o.delivered_at is null
  and (exists (select from log.acknowledgements a where a.tenant_id = o.tenant_id and a.trigger_id = o.item_id)
       or not exists (select from memory.triggers g where g.tenant_id = %(tenant)s and g.id = o.item_id and g.until_at > %(as_of)s
                        and g.withheld is null))

-- name: changed_subjects
-- The subjects whose memory may have changed since all memories were last compared with what was announced, and the time by the
-- clock of the database. Null: all are to be compared, since a webhook is new, a run named no subjects, or `every` has passed,
-- which finds what no run recorded. A run may be committed `lag` after it was recorded.
with last as materialized (
    select min(coalesce(s.compared_at, '-infinity')) as at
    from ops.subscriptions s
    where s.tenant_id = %(tenant)s and s.ended_at is null and exists (select from unnest(s.events) e where e like 'memory.%%')
),
recent as materialized (
    select r.scope -> 'subjects' as subjects
    from ops.runs r
    where r.tenant_id = %(tenant)s and r.finished_at > (select at from last) - %(lag)s::interval
)
select case when (select at from last) > clock_timestamp() - %(every)s::interval
                 and not exists (select from recent where subjects is null)
            then array(select distinct jsonb_array_elements_text(subjects) from recent) end,
       clock_timestamp()

-- name: note_comparison
-- Record when all memories were compared.
update ops.subscriptions set compared_at = %(at)s where tenant_id = %(tenant)s and ended_at is null

-- name: fill_memories
-- Write a message for each memory, of these subjects or of all, created, superseded or forgotten since it was announced, and
-- each webhook subscribed to that. A memory that a rebuild has not made again yet is no change, and the tombstone of one that
-- was made again tells of none.
with changed as materialized (
    select m.id, m.subject_id, m.kind, m.state, m.happened_at as at,
           case when a.memory_id is null and m.state = 'active' then 'memory.created'
                when m.state = 'superseded' and (a.state is null or a.state <> 'superseded') then 'memory.superseded' end as event,
           m.superseded_by
    from memory.memories m
    left join ops.announced a on a.tenant_id = m.tenant_id and a.memory_id = m.id
    where m.tenant_id = %(tenant)s and m.state <> 'candidate' and m.state is distinct from a.state
      and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
    union all
    select f.memory_id, f.subject_id, f.kind, 'forgotten', f.forgotten_at, 'memory.forgotten', null
    from ops.announced a
    join memory.tombstones f on f.tenant_id = a.tenant_id and f.memory_id = a.memory_id
    where a.tenant_id = %(tenant)s and a.state <> 'forgotten'
      and (%(subjects)s::text[] is null or a.subject_id = any(%(subjects)s))
      and not exists (select from memory.memories m where m.tenant_id = a.tenant_id and m.id = a.memory_id)
),
noted as (
    insert into ops.announced as a (tenant_id, memory_id, subject_id, state)
    select %(tenant)s, c.id, c.subject_id, c.state from changed c
    on conflict (tenant_id, memory_id) do update set state = excluded.state
)
insert into ops.outbox (tenant_id, id, subscription_id, subject_id, event, item_id, payload, made_at, due_at)
select %(tenant)s, md5(s.id::text || c.id::text || c.event)::uuid, s.id, c.subject_id, c.event, c.id,
       jsonb_build_object('type', c.event, 'timestamp', c.at,
                          'data', jsonb_build_object('memory_id', c.id, 'subject_id', c.subject_id, 'kind', c.kind,
                                                     'superseded_by', c.superseded_by)),
       c.at, %(now)s
from changed c
join ops.subscriptions s on s.tenant_id = %(tenant)s and s.ended_at is null and c.event = any(s.events)
where c.event is not null
on conflict do nothing

-- name: claim_messages
-- Lease the next messages that were due at a time to webhooks in force, and count the attempt.
with due as (
    select o.id, s.url, s.secret from ops.outbox o
    join ops.subscriptions s on s.tenant_id = o.tenant_id and s.id = o.subscription_id and s.ended_at is null
    where o.tenant_id = %(tenant)s and o.delivered_at is null and o.dead_at is null and o.due_at <= %(due)s
      and (o.leased_until is null or o.leased_until <= %(now)s)
    order by o.due_at, o.made_at, o.id
    limit %(limit)s
    for update of o skip locked
)
update ops.outbox o set leased_until = %(until)s, attempts = o.attempts + 1
from due
where o.tenant_id = %(tenant)s and o.id = due.id
returning o.id, o.subscription_id, due.url, due.secret, o.payload, o.attempts, o.made_at

-- name: settle_messages
-- Record the outcome of messages: accepted, to be sent again at a time, or given up. A sender whose lease ended does not
-- undo that another one delivered the message.
update ops.outbox o
set delivered_at = case when x.status = 'delivered' then %(now)s::timestamptz end,
    dead_at = case when x.status = 'dead' then %(now)s::timestamptz end,
    due_at = coalesce(x.due_at, o.due_at), leased_until = null, error = x.error
from unnest(%(ids)s::uuid[], %(statuses)s::text[], %(due_at)s::timestamptz[], %(errors)s::text[]) as x (id, status, due_at, error)
where o.tenant_id = %(tenant)s and o.id = x.id and o.delivered_at is null

-- name: end_gone
-- End webhooks that answered that they are gone for good, and drop their messages that were not delivered.
with ended as (
    update ops.subscriptions set ended_at = coalesce(ended_at, %(now)s)
    where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])
    returning id
)
delete from ops.outbox o using ended e
where o.tenant_id = %(tenant)s and o.subscription_id = e.id and o.delivered_at is null

-- name: drop_delivered
-- Delete messages that were accepted long ago; the message of a trigger is kept while the trigger may be due.
delete from ops.outbox o
where o.tenant_id = %(tenant)s and o.delivered_at < %(before)s
  and not exists (select from memory.triggers g where g.tenant_id = o.tenant_id and g.id = o.item_id and g.until_at > %(as_of)s)
