select
    tenant_id,
    run_id,
    stage,
    as_of,
    driver,
    status,
    attempts,
    model_calls,
    tokens,
    cost_usd,
    seconds,
    finished_at,
    {{ day_of('finished_at') }} as finished_on
from {{ source('ops', 'runs') }}
-- without the cycles that an orchestrator opened, since their steps have their own rows
where stage <> 'cycle'
