select
    tenant_id,
    turn_id,
    candidates,
    reason
from {{ source('memory', 'extractions') }}
