select
    tenant_id,
    subject_id,
    relation,
    reason,
    since
from {{ source('memory', 'conflicts') }}
