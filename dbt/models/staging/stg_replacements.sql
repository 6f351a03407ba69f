select
    tenant_id,
    source_id as memory_id,
    memory_id as into_id,
    as_of as replaced_at
from {{ source('memory', 'lineage') }}
where source = 'memory' and relation in ('merged', 'compressed')
