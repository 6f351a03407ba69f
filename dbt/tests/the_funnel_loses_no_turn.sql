-- Every turn that was recorded more than a day ago is in the funnel, and so are the candidates of every turn that was read
-- by then; none is there twice. Later turns may have been recorded and read between a build and this test.
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
    select
        t.tenant_id,
        count(*) as turns,
        count(*) filter (where t.recorded_at < now() - interval '1 day') as settled_turns,
        sum(e.candidates) as candidates,
        -- the ledger deletes only old runs
        sum(e.candidates) filter (where r.run_id is null or r.finished_at < now() - interval '1 day') as settled_candidates
    from {{ source('log', 'turns') }} t
    left join {{ source('memory', 'extractions') }} e on e.tenant_id = t.tenant_id and e.turn_id = t.id
    left join {{ source('ops', 'runs') }} r on r.tenant_id = e.tenant_id and r.run_id = e.run_id
    group by t.tenant_id
)

select tenant_id
from counted c
full join said s using (tenant_id)
where
    coalesce(c.turns, 0) not between coalesce(s.settled_turns, 0) and coalesce(s.turns, 0)
    or coalesce(c.candidates, 0) not between coalesce(s.settled_candidates, 0) and coalesce(s.candidates, 0)
