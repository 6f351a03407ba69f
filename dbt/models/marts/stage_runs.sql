-- Runs of stages by the day on which they were recorded, built by month. The ledger is deleted after some time; the
-- months already counted stay here as long as the tenant exists.
-- depends_on: {{ ref('stg_tenants') }}
{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='day',
    batch_size='month',
    lookback=1,
    begin=var('begin'),
    unique_key=['tenant_id', 'day', 'stage', 'driver'],
    on_schema_change='fail',
    post_hook="delete from {{ this }} where tenant_id not in (select tenant_id from {{ ref('stg_tenants') }})",
) }}

select
    tenant_id,
    finished_on as day,
    stage,
    driver,
    count(*) as runs,
    count(*) filter (where status = 'failed') as failed,
    sum(attempts)::bigint as attempts,
    {{ rounded('sum(seconds)') }} as seconds,
    {{ rounded('max(seconds)') }} as max_seconds,
    sum(model_calls)::bigint as model_calls,
    sum(tokens)::bigint as tokens,
    sum(cost_usd)::double precision as cost_usd,
    max(as_of) as as_of,
    -- the run that was least behind, since a run over a history is behind by the age of the history
    min({{ hours('as_of', 'finished_at') }}) as lag_hours
from {{ ref('stg_runs') }}
group by tenant_id, finished_on, stage, driver
