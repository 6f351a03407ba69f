-- Subjects by the week of their first turn, and how many of them had a turn in each later week. Weeks begin on Monday. A
-- week in which a cohort has neither turns nor memories has no row.
with weeks as (
    select
        tenant_id,
        subject_id,
        date_trunc('week', day)::date as week,
        sum(turns) as turns,
        min(date_trunc('week', min(day))::date) over (partition by tenant_id, subject_id) as cohort_week
    from {{ ref('subject_days') }}
    group by tenant_id, subject_id, date_trunc('week', day)
),

firsts as (
    select distinct tenant_id, subject_id, cohort_week from weeks
),

sizes as (
    select tenant_id, cohort_week, count(*) as subjects from firsts group by tenant_id, cohort_week
),

spoken as (
    select tenant_id, cohort_week, week, count(*) as active_subjects, sum(turns) as turns
    from weeks
    group by tenant_id, cohort_week, week
),

remembered as (
    select f.tenant_id, f.cohort_week, date_trunc('week', l.born_on)::date as week, count(*) as memories_added
    from {{ ref('memory_lives') }} l
    join firsts f on f.tenant_id = l.tenant_id and f.subject_id = l.subject_id
    -- memories dated before the first turn do not come from turns
    where l.born_on >= f.cohort_week
    group by f.tenant_id, f.cohort_week, date_trunc('week', l.born_on)
)

select
    tenant_id,
    cohort_week,
    week,
    (week - cohort_week) / 7 as weeks_since,
    s.subjects,
    coalesce(p.active_subjects, 0)::bigint as active_subjects,
    {{ share('coalesce(p.active_subjects, 0)', 's.subjects') }} as retention,
    coalesce(p.turns, 0)::bigint as turns,
    coalesce(r.memories_added, 0)::bigint as memories_added
from spoken p
full join remembered r using (tenant_id, cohort_week, week)
join sizes s using (tenant_id, cohort_week)
