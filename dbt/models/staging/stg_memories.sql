select
    tenant_id,
    id as memory_id,
    subject_id,
    kind,
    state,
    happened_at,
    importance,
    access_count,
    lasting,
    forget_at,
    valid_to
from {{ source('memory', 'memories') }}
