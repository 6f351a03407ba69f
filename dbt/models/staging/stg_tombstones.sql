select
    tenant_id,
    memory_id,
    subject_id,
    kind,
    importance,
    reason,
    {{ time_of_id('memory_id') }} as happened_at,
    forgotten_at
from {{ source('memory', 'tombstones') }}
