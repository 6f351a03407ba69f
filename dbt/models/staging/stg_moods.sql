select
    tenant_id,
    mood,
    energy,
    method,
    confidence,
    {{ day_of('said_at') }} as said_on
from {{ source('memory', 'moods') }}
