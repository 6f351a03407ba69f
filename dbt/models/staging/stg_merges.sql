select
    tenant_id,
    loser_id as memory_id,
    similarity
from {{ source('memory', 'merges') }}
