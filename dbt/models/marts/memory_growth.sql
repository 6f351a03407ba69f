-- One row per tenant and day, without gaps from the first to the last day on which anything happened. It sums unions
-- instead of joining, so that it does not depend on the planner's estimates.
with happened as (
    select tenant_id, day, turns, sessions, 1 as subjects, 0 as added, null as fate from {{ ref('subject_days') }}
    union all
    select tenant_id, born_on, 0, 0, 0, 1, null from {{ ref('memory_lives') }}
    union all
    select tenant_id, left_on, 0, 0, 0, 0, fate from {{ ref('memory_lives') }} where left_on is not null
),

counted as (
    select
        tenant_id,
        day,
        sum(turns) as turns,
        sum(sessions) as sessions,
        sum(subjects) as subjects,
        sum(added) as added,
        count(*) filter (where fate = 'merged') as merged,
        count(*) filter (where fate = 'rewritten') as rewritten,
        count(*) filter (where fate = 'compressed') as compressed,
        count(*) filter (where fate = 'superseded') as superseded,
        count(*) filter (where fate = 'forgotten') as forgotten
    from happened
    group by tenant_id, day
),

without_gaps as (
    select * from counted
    union all
    select tenant_id, generate_series(min(day), max(day), interval '1 day')::date, 0, 0, 0, 0, 0, 0, 0, 0, 0
    from counted
    group by tenant_id
),

days as (
    select
        tenant_id,
        day,
        sum(turns)::bigint as turns,
        sum(sessions)::bigint as sessions,
        sum(subjects)::bigint as subjects,
        sum(added)::bigint as added,
        sum(merged)::bigint as merged,
        sum(rewritten)::bigint as rewritten,
        sum(compressed)::bigint as compressed,
        sum(superseded)::bigint as superseded,
        sum(forgotten)::bigint as forgotten
    from without_gaps
    group by tenant_id, day
)

select
    *,
    sum(added - merged - rewritten - compressed - superseded - forgotten) over (partition by tenant_id order by day)::bigint as memories
from days
