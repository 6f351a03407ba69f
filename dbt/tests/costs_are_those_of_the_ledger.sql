-- The requests of the current month and the one before, which each build recounts. Requests may be booked between a build and
-- this test, and one that was booked before may be settled: see turns_of_days_are_turns_of_the_log. So costs are compared up
-- to the day before yesterday.
{{ config(meta={'dagster': {'ref': {'name': 'model_costs'}}}) }}

with counted as (
    select
        tenant_id,
        sum(requests) as requests,
        sum(cost_usd) filter (where day < {{ day_of('now()') }} - 1) as cost_usd
    from {{ ref('model_costs') }}
    where day >= date_trunc('month', now() at time zone 'UTC') - interval '1 month'
    group by tenant_id
),

booked as (
    select
        tenant_id,
        count(*) as requests,
        count(*) filter (where booked_at < now() - interval '1 day') as earlier,
        sum(coalesce(cost_usd, reserved_usd)) filter (where {{ day_of('booked_at') }} < {{ day_of('now()') }} - 1) as cost_usd
    from {{ source('ops', 'calls') }}
    where {{ day_of('booked_at') }} >= date_trunc('month', now() at time zone 'UTC') - interval '1 month'
    group by tenant_id
)

select tenant_id
from counted c
full join booked b using (tenant_id)
where coalesce(c.requests, 0) not between coalesce(b.earlier, 0) and coalesce(b.requests, 0)
   or abs(coalesce(c.cost_usd, 0) - coalesce(b.cost_usd, 0)) > 0.000001
