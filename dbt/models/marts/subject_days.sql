-- The turns of each subject by day, rebuilt for the days to which turns were added since the last build: today, and the
-- days of an imported history. Deleting the rows of these days and counting again gives the same as a full build.
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key=['tenant_id', 'day'],
    on_schema_change='fail',
    indexes=[{'columns': ['tenant_id', 'day']}],
    post_hook='analyze {{ this }}',
) }}

with turns as (
    select tenant_id, subject_id, session_id, role, said_on, recorded_at from {{ ref('stg_turns') }}
)

{% if is_incremental() %}
, changed as (
    select distinct tenant_id, said_on from turns
    -- rows of a transaction that was open during the last build are visible now; an hour is longer than any takes
    where recorded_at > (select coalesce(max(recorded_until), '-infinity') - interval '1 hour' from {{ this }})
)
{% endif %}

select
    t.tenant_id,
    t.subject_id,
    t.said_on as day,
    count(*) as turns,
    count(*) filter (where t.role = 'user') as user_turns,
    count(distinct t.session_id) as sessions,
    max(t.recorded_at) as recorded_until
from turns t
{% if is_incremental() %}
join changed c on c.tenant_id = t.tenant_id and c.said_on = t.said_on
{% endif %}
group by t.tenant_id, t.subject_id, t.said_on
