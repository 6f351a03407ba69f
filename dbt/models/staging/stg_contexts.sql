select
    tenant_id,
    id as context_id,
    subject_id,
    assembled_at,
    {{ day_of('assembled_at') }} as assembled_on,
    stage as relationship_stage,
    total_tokens,
    cardinality(item_ids) as items,
    cardinality(dropped_ids) as dropped
from {{ source('log', 'contexts') }}
