select
    tenant_id,
    subject_id,
    type,
    first_seen_at
from {{ source('memory', 'entities') }}
