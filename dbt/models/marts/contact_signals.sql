-- Signs of subjects' well-being and activity by day, as counts only.
with signals as (
    select tenant_id, said_on as day, 'mood' as signal, mood as value, null::boolean as positive, confidence::double precision as number
    from {{ ref('stg_moods') }}
    union all
    select tenant_id, observed_on, 'outcome', metric, positive, value from {{ ref('stg_outcomes') }}
    union all
    select tenant_id, corrected_on, 'correction', kind, null, null from {{ ref('stg_corrections') }}
    union all
    select tenant_id, observed_on, 'observation', type, null, null from {{ ref('stg_events') }}
    union all
    select tenant_id, flagged_on, 'review', reason, null, null from {{ ref('stg_reviews') }}
    union all
    select tenant_id, assembled_on, 'relationship', relationship_stage, null, null
    from {{ ref('stg_contexts') }} where relationship_stage is not null
)

select
    tenant_id,
    day,
    signal,
    value,
    count(*) as occurrences,
    count(*) filter (where positive) as positive,
    {{ rounded('avg(number)') }} as mean_number
from signals
group by tenant_id, day, signal, value
