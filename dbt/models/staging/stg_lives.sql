select
    tenant_id,
    memory_id,
    subject_id,
    kind,
    fate,
    reason,
    importance,
    born_at,
    {{ day_of('born_at') }} as born_on,
    left_at,
    {{ day_of('left_at') }} as left_on
from {{ source('memory', 'lives') }}
