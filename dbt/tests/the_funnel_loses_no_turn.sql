-- Every turn of the log is in the funnel exactly once, and so are its candidates.
{{ config(meta={'dagster': {'ref': {'name': 'funnel'}}}) }}

with counted as (
    select
        tenant_id,
        sum(items) filter (where stage = 'turns') as turns,
        sum(items) filter (where stage = 'candidates' and kind = 'from turns') as candidates
    from {{ ref('funnel') }}
    group by tenant_id
),

said as (
    select t.tenant_id, count(*) as turns, sum(e.candidates) as candidates
    from {{ source('log', 'turns') }} t
    left join {{ source('memory', 'extractions') }} e on e.tenant_id = t.tenant_id and e.turn_id = t.id
    group by t.tenant_id
)

select tenant_id
from counted c
full join said s using (tenant_id)
where coalesce(c.turns, 0) <> coalesce(s.turns, 0) or coalesce(c.candidates, 0) <> coalesce(s.candidates, 0)
