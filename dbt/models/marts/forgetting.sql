select
    tenant_id,
    left_on as day,
    kind,
    reason,
    count(*) as memories,
    avg(importance)::double precision as mean_importance,
    (avg(extract(epoch from left_at - born_at)) / 86400)::double precision as mean_days_kept
from {{ ref('memory_lives') }}
where state = 'forgotten'
group by tenant_id, left_on, kind, reason
