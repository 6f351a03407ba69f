-- The counts by day over all incremental builds equal those of the log, without turns that were recorded after the build.
{{ config(meta={'dagster': {'ref': {'name': 'subject_days'}}}) }}

with counted as (
    select tenant_id, sum(turns) as turns from {{ ref('subject_days') }} group by tenant_id
),

said as (
    select tenant_id, count(*) as turns
    from {{ source('log', 'turns') }}
    where recorded_at <= (select max(recorded_until) from {{ ref('subject_days') }})
    group by tenant_id
)

select tenant_id, c.turns as counted, s.turns as said
from counted c
full join said s using (tenant_id)
where coalesce(c.turns, 0) <> coalesce(s.turns, 0)
