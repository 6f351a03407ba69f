select
    tenant_id,
    subject_id,
    session_id,
    turns,
    first_at,
    due_at,
    attempts,
    leased_until
from {{ source('ops', 'queue') }}
