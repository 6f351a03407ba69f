-- The path from turns and events to memories, by event day.
with read_turns as (
    select
        t.tenant_id,
        t.said_on as day,
        case when e.turn_id is null then 'unread' else coalesce(e.reason, 'kept') end as reason,
        count(*) as items,
        sum(e.candidates) as candidates
    from {{ ref('stg_turns') }} t
    left join {{ ref('stg_extractions') }} e on e.tenant_id = t.tenant_id and e.turn_id = t.turn_id
    group by 1, 2, 3
),

read_events as (
    select
        v.tenant_id,
        v.observed_on as day,
        case when o.event_id is null then 'unread' else coalesce(o.reason, 'kept') end as reason,
        count(*) as items,
        sum(o.candidates) as candidates
    from {{ ref('stg_events') }} v
    left join {{ ref('stg_observations') }} o on o.tenant_id = v.tenant_id and o.event_id = v.event_id
    group by 1, 2, 3
),

steps as (
    select tenant_id, day, 'turns' as stage, 'turn' as kind, reason, items from read_turns
    union all
    select tenant_id, day, 'events', 'event', reason, items from read_events
    union all
    select tenant_id, day, 'candidates', 'from turns', 'extracted', candidates from read_turns
    union all
    select tenant_id, day, 'candidates', 'from events', 'extracted', candidates from read_events
    union all
    select tenant_id, born_on, 'memories', kind, coalesce(reason, fate), 1 from {{ ref('stg_lives') }}
)

select tenant_id, day, stage, kind, reason, sum(items)::bigint as items
from steps
where items > 0
group by tenant_id, day, stage, kind, reason
