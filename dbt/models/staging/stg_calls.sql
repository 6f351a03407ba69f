select
    tenant_id,
    id as call_id,
    stage,
    kind,
    model,
    items,
    state,
    reserved_usd,
    cost_usd,
    priced,
    tokens_in,
    tokens_out,
    seconds,
    cardinality(repairs) as repairs,
    booked_at,
    {{ day_of('booked_at') }} as booked_on
from {{ source('ops', 'calls') }}
