select
    tenant_id,
    subject_id,
    metric,
    value,
    positive,
    {{ day_of('observed_at') }} as observed_on
from {{ source('log', 'outcomes') }}
