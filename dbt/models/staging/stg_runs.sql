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
-- the cycle that an orchestrator opened is no work of its own: its steps are rows too
where stage <> 'cycle'
