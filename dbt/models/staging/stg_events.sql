select
    tenant_id,
    id as event_id,
    subject_id,
    type,
    channel,
    observed_at,
    {{ day_of('observed_at') }} as observed_on
from {{ source('log', 'events') }}
