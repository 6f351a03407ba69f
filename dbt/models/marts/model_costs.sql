-- Requests to models by day of request, built by month: each build recounts the current month and the one before. The
-- months already counted stay here as long as the tenant exists.
-- depends_on: {{ ref('stg_tenants') }}
{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='day',
    batch_size='month',
    lookback=1,
    begin=var('begin'),
    unique_key=['tenant_id', 'day', 'stage', 'kind', 'model'],
    on_schema_change='fail',
    post_hook="delete from {{ this }} where tenant_id not in (select tenant_id from {{ ref('stg_tenants') }})",
) }}

select
    tenant_id,
    booked_on as day,
    stage,
    kind,
    model,
    count(*) as requests,
    count(*) filter (where state = 'failed') as failed,
    count(*) filter (where state = 'reserved') as unsettled,
    sum(items)::bigint as items,
    sum(tokens_in)::bigint as tokens_in,
    sum(tokens_out)::bigint as tokens_out,
    sum(coalesce(cost_usd, reserved_usd))::double precision as cost_usd,
    count(*) filter (where not priced) as unpriced,
    count(*) filter (where repairs > 0) as repaired,
    {{ rounded("avg(seconds) filter (where state = 'done')") }} as mean_seconds,
    {{ rounded("max(seconds) filter (where state = 'done')") }} as max_seconds
from {{ ref('stg_calls') }}
group by tenant_id, booked_on, stage, kind, model
