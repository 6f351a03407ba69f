-- Of a tombstone only the id is left to say when it was said; of a memory both are there, and agree to the millisecond.
{{ config(meta={'dagster': {'ref': {'name': 'stg_memories'}}}) }}

select tenant_id, memory_id
from {{ ref('stg_memories') }}
where abs(extract(epoch from happened_at - {{ time_of_id('memory_id') }})) > 0.001
