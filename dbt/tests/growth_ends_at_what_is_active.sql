-- The last day of each tenant has as many memories as the raw table has active ones.
{{ config(meta={'dagster': {'ref': {'name': 'memory_growth'}}}) }}

with ends as (
    select distinct on (tenant_id) tenant_id, memories from {{ ref('memory_growth') }} order by tenant_id, day desc
),

active as (
    select tenant_id, count(*) as memories from {{ source('memory', 'memories') }} where state = 'active' group by tenant_id
)

select tenant_id, e.memories as at_the_end, a.memories as active
from ends e
full join active a using (tenant_id)
where coalesce(e.memories, 0) <> coalesce(a.memories, 0)
