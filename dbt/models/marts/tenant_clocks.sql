-- The logical time that each tenant's memory has reached.
{{ config(materialized='view') }}

select
    t.tenant_id,
    coalesce(max(r.as_of), t.created_at) as as_of,
    max(r.finished_at) as last_run_at
from {{ ref('stg_tenants') }} t
left join {{ ref('stg_runs') }} r on r.tenant_id = t.tenant_id and r.status = 'done'
group by t.tenant_id, t.created_at
