-- Every memory that there is or was, and how it left: the facts behind growth, forgetting, funnel, rates and cohorts.
{{ config(
    indexes=[{'columns': ['tenant_id', 'born_on']}],
    post_hook='analyze {{ this }}',
) }}

with replaced as (
    -- what replaced a memory may have been replaced since; it left when the first one did
    select tenant_id, memory_id, min(replaced_at) as replaced_at
    from {{ ref('stg_replacements') }}
    group by tenant_id, memory_id
),

kept as (
    select
        m.tenant_id,
        m.memory_id,
        m.subject_id,
        m.kind,
        m.state,
        null::text as reason,
        m.importance,
        m.happened_at as born_at,
        case
            when m.state in ('merged', 'compressed') then coalesce(r.replaced_at, m.happened_at)
            when m.state = 'superseded' then m.valid_to
        end as left_at
    from {{ ref('stg_memories') }} m
    left join replaced r
        on m.state in ('merged', 'compressed') and r.tenant_id = m.tenant_id and r.memory_id = m.memory_id
    -- what is extracted and waits for its cycle is no memory yet
    where m.state <> 'candidate'
),

lives as (
    select * from kept
    union all
    select tenant_id, memory_id, subject_id, kind, 'forgotten', reason, importance, happened_at, forgotten_at
    from {{ ref('stg_tombstones') }}
)

select
    tenant_id,
    memory_id,
    subject_id,
    kind,
    state,
    reason,
    importance,
    born_at,
    {{ day_of('born_at') }} as born_on,
    -- nothing leaves before it came
    greatest(left_at, born_at) as left_at,
    case when state <> 'active' then {{ day_of('greatest(left_at, born_at)') }} end as left_on
from lives
