-- A row a tenant and day, from the first to the last on which anything happened, without gaps.
with moves as (
    select tenant_id, born_on as day, 1 as added, null as state from {{ ref('memory_lives') }}
    union all
    select tenant_id, left_on, 0, state from {{ ref('memory_lives') }} where left_on is not null
),

moved as (
    select
        tenant_id,
        day,
        sum(added) as added,
        count(*) filter (where state = 'merged') as merged,
        count(*) filter (where state = 'compressed') as compressed,
        count(*) filter (where state = 'superseded') as superseded,
        count(*) filter (where state = 'forgotten') as forgotten
    from moves
    group by tenant_id, day
),

said as (
    select tenant_id, day, sum(turns) as turns, sum(sessions) as sessions, count(*) as subjects
    from {{ ref('subject_days') }}
    group by tenant_id, day
),

ends as (
    select tenant_id, min(day) as first_day, max(day) as last_day
    from (select tenant_id, day from moved union all select tenant_id, day from said) days
    group by tenant_id
),

days as (
    select tenant_id, generate_series(first_day, last_day, interval '1 day')::date as day from ends
)

select
    d.tenant_id,
    d.day,
    coalesce(s.turns, 0)::bigint as turns,
    coalesce(s.sessions, 0)::bigint as sessions,
    coalesce(s.subjects, 0)::bigint as subjects,
    coalesce(m.added, 0)::bigint as added,
    coalesce(m.merged, 0)::bigint as merged,
    coalesce(m.compressed, 0)::bigint as compressed,
    coalesce(m.superseded, 0)::bigint as superseded,
    coalesce(m.forgotten, 0)::bigint as forgotten,
    sum(coalesce(m.added - m.merged - m.compressed - m.superseded - m.forgotten, 0))
        over (partition by d.tenant_id order by d.day)::bigint as memories
from days d
left join said s on s.tenant_id = d.tenant_id and s.day = d.day
left join moved m on m.tenant_id = d.tenant_id and m.day = d.day
