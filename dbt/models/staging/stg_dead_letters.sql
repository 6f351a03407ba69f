select
    tenant_id,
    reason,
    recorded_at
from {{ source('ops', 'dead_letters') }}
