-- The turns of each subject by day, rebuilt for the days whose turns are not those of the last build: today, the days of an
-- imported history, and those of erased turns. Deleting their rows and counting again gives the same as a full build. A day
-- without turns has nothing to count, so its rows are deleted after that.
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key=['tenant_id', 'day'],
    on_schema_change='fail',
    indexes=[{'columns': ['tenant_id', 'day']}],
    post_hook=[
        "{% if is_incremental() %}
            delete from {{ this }}
            where (tenant_id, day) in (
                select tenant_id, day from {{ this }} except select tenant_id, said_on from {{ ref('stg_turns') }}
            )
        {% endif %}",
        'analyze {{ this }}',
    ],
) }}

with turns as (
    select tenant_id, subject_id, session_id, role, said_on, recorded_at from {{ ref('stg_turns') }}
)

{% if is_incremental() %}
, present as (
    select tenant_id, said_on, count(*) as turns, max(recorded_at) as recorded_until from turns group by tenant_id, said_on
),

counted as (
    select tenant_id, day, sum(turns) as turns from {{ this }} group by tenant_id, day
),

changed as (
    select p.tenant_id, p.said_on
    from present p
    left join counted c on c.tenant_id = p.tenant_id and c.day = p.said_on
    -- by number as well, since erased turns leave no time, and those of a tenant that moved here were recorded elsewhere
    where c.turns is distinct from p.turns
        -- rows of a transaction that was open during the last build are visible now; an hour is longer than any takes
        or p.recorded_until > (select coalesce(max(recorded_until), '-infinity') - interval '1 hour' from {{ this }})
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
