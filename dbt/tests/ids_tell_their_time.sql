-- A tombstone has its event time only in its id; for a memory, the id and the column agree to the millisecond.
{{ config(meta={'dagster': {'ref': {'name': 'stg_memories'}}}) }}

select tenant_id, memory_id
from {{ ref('stg_memories') }}
where abs(extract(epoch from happened_at - {{ time_of_id('memory_id') }})) > 0.001
