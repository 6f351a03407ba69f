select
    tenant_id,
    event_id,
    candidates,
    discarded,
    reason
from {{ source('memory', 'observations') }}
