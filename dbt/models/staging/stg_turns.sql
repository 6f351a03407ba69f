select
    tenant_id,
    id as turn_id,
    subject_id,
    session_id,
    role,
    said_at,
    {{ day_of('said_at') }} as said_on,
    recorded_at
from {{ source('log', 'turns') }}
