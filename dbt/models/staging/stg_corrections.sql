select
    tenant_id,
    subject_id,
    kind,
    {{ day_of('corrected_at') }} as corrected_on
from {{ source('log', 'corrections') }}
