select
    tenant_id,
    left_on as day,
    kind,
    reason,
    count(*) as memories,
    {{ rounded('avg(importance)') }} as mean_importance,
    {{ rounded('avg(extract(epoch from left_at - born_at)) / 86400') }} as mean_days_kept
from {{ ref('memory_lives') }}
where fate = 'forgotten'
group by tenant_id, left_on, kind, reason
