select
    tenant_id,
    subject_id,
    session_id,
    said_at
from {{ source('ops', 'pending_turns') }}
