-- The requests of the current month and the one before, which each build recounts.
{{ config(meta={'dagster': {'ref': {'name': 'model_costs'}}}) }}

with counted as (
    select tenant_id, sum(requests) as requests, sum(cost_usd) as cost_usd
    from {{ ref('model_costs') }}
    where day >= date_trunc('month', now() at time zone 'UTC') - interval '1 month'
    group by tenant_id
),

booked as (
    select tenant_id, count(*) as requests, sum(coalesce(cost_usd, reserved_usd)) as cost_usd
    from {{ source('ops', 'calls') }}
    where {{ day_of('booked_at') }} >= date_trunc('month', now() at time zone 'UTC') - interval '1 month'
    group by tenant_id
)

select tenant_id
from counted c
full join booked b using (tenant_id)
where coalesce(c.requests, 0) <> coalesce(b.requests, 0) or abs(coalesce(c.cost_usd, 0) - coalesce(b.cost_usd, 0)) > 0.000001
