select
    tenant_id,
    subject_id,
    first_at
from {{ source('log', 'subjects') }}
