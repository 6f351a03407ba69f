-- The last day of each tenant has as many memories as `memory_lives` has active ones, and its view as many as the raw table.
-- Each comparison is of one time, since memories may be made and forgotten between a build and this test.
{{ config(meta={'dagster': {'ref': {'name': 'memory_growth'}}}) }}

with ends as (
    select distinct on (tenant_id) tenant_id, memories from {{ ref('memory_growth') }} order by tenant_id, day desc
),

built as (
    select tenant_id, count(*) as memories from {{ ref('memory_lives') }} where fate = 'active' group by tenant_id
),

viewed as (
    select tenant_id, count(*) as memories from {{ ref('stg_lives') }} where fate = 'active' group by tenant_id
),

active as (
    select tenant_id, count(*) as memories from {{ source('memory', 'memories') }} where state = 'active' group by tenant_id
)

select tenant_id, 'memory_growth' as counted_in, e.memories as counted, b.memories as active
from ends e
full join built b using (tenant_id)
where coalesce(e.memories, 0) <> coalesce(b.memories, 0)
union all
select tenant_id, 'stg_lives', v.memories, a.memories
from viewed v
full join active a using (tenant_id)
where coalesce(v.memories, 0) <> coalesce(a.memories, 0)
