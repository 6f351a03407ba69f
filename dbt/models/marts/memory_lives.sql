-- Every memory that exists or existed, and how it ended: the basis of growth, forgetting, funnel, rates and cohorts.
{{ config(
    indexes=[{'columns': ['tenant_id', 'born_on']}],
    post_hook='analyze {{ this }}',
) }}

select
    tenant_id,
    memory_id,
    subject_id,
    kind,
    fate,
    reason,
    importance,
    born_at,
    born_on,
    left_at,
    left_on
from {{ ref('stg_lives') }}
-- candidates that wait for a cycle are not memories yet
where fate <> 'candidate'
