-- The counts by day over all incremental builds hold every turn that was recorded more than a day ago, and no more turns
-- than the log: turns may be recorded between a build and this test. The bound is not read from the mart, which would say
-- nothing if a build missed turns.
{{ config(meta={'dagster': {'ref': {'name': 'subject_days'}}}) }}

with counted as (
    select tenant_id, sum(turns) as turns from {{ ref('subject_days') }} group by tenant_id
),

said as (
    select tenant_id, count(*) as turns, count(*) filter (where recorded_at < now() - interval '1 day') as settled
    from {{ source('log', 'turns') }}
    group by tenant_id
)

select tenant_id, c.turns as counted, s.turns as said, s.settled
from counted c
full join said s using (tenant_id)
where coalesce(c.turns, 0) not between coalesce(s.settled, 0) and coalesce(s.turns, 0)
