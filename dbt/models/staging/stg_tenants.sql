select
    tenant_id,
    policy,
    created_at,
    clock_at
from {{ source('ops', 'tenants') }}
