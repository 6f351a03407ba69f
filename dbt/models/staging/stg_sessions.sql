select
    tenant_id,
    subject_id,
    session_id,
    touched_at,
    flush_at
from {{ source('ops', 'sessions') }}
