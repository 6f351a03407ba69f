select
    tenant_id,
    id as recall_id,
    subject_id,
    asked_at,
    {{ day_of('asked_at') }} as asked_on,
    cardinality(item_ids) as hits,
    dropped
from {{ source('log', 'recalls') }}
