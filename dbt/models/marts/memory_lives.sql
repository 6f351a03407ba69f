-- Every memory that there is or was, and how it left: the facts behind growth, forgetting, funnel, rates and cohorts.
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
-- what is extracted and waits for its cycle is no memory yet
where fate <> 'candidate'
