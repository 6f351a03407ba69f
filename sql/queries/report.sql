-- name: span
-- The tenants with marts, all or one, and the first and last day of their turns and memories.
select coalesce(array_agg(t.tenant_id order by t.turns desc, t.tenant_id), '{}') as tenants, min(g.first_day) as first_day,
       max(g.last_day) as last_day
from marts.tenants t
left join (select tenant_id, min(day) as first_day, max(day) as last_day from marts.memory_growth group by tenant_id) g
    on g.tenant_id = t.tenant_id
where %(tenant)s::text is null or t.tenant_id = %(tenant)s

-- name: tenants
-- One row per tenant, the largest first.
select tenant_id as tenant, policy, as_of as "memory as of", subjects, turns, turns_unread as "turns unread", memories,
       round(memories_per_turn::numeric, 3) as "memories per turn", round(mean_importance::numeric, 2) as "mean importance",
       forgotten, recalls, dead_letters as "dead letters", round(cost_usd::numeric, 2) as "cost (USD)"
from marts.tenants
where tenant_id = any(%(tenants)s)
order by turns desc, tenant_id
limit 100

-- name: memories
-- Active memories of each tenant at the end of a day, up to the last day on which anything happened to any of these
-- tenants. After its own last day, a tenant keeps as many.
select d.day::date::timestamptz as time, t.tenant_id as series, g.memories as value
from (select tenant_id, min(day) as first_day, max(day) as last_day, max(max(day)) over () as last_of_all
      from marts.memory_growth
      where tenant_id = any(%(tenants)s)
      group by tenant_id) t
cross join lateral generate_series(greatest(t.first_day, %(since)s), t.last_of_all, interval '1 day') as d (day)
join marts.memory_growth g on g.tenant_id = t.tenant_id and g.day = least(d.day::date, t.last_day)
where d.day < %(until)s
order by d.day, t.tenant_id

-- name: changes
-- Memories added and removed, by week.
select date_trunc('week', day)::timestamptz as time, c.series, sum(c.value) as value
from marts.memory_growth
cross join lateral (values ('added', added), ('merged', -merged), ('rewritten', -rewritten), ('compressed', -compressed),
                           ('superseded', -superseded), ('forgotten', -forgotten)) as c (series, value)
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
having sum(c.value) <> 0
order by 1, 2

-- name: turns
-- Turns by week, of each tenant.
select date_trunc('week', day)::timestamptz as time, tenant_id as series, sum(turns) as value
from marts.memory_growth
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
order by 1, 2

-- name: ages
-- Active memories by age and kind, as of each tenant's last cycle.
select age as category, kind as series, sum(memories) as value
from marts.memory_ages
where tenant_id = any(%(tenants)s)
group by age_from_days, age, kind
order by age_from_days, kind

-- name: importance
-- Active memories by tenth of importance and kind.
select round(importance_from::numeric, 1) || '–' || round(importance_from::numeric + 0.1, 1) as category, kind as series, sum(memories) as value
from marts.memory_ages
where tenant_id = any(%(tenants)s)
group by importance_from, kind
order by importance_from, kind

-- name: discards
-- Turns by result: those that gave candidates, and the others by reason.
select coalesce(w.words, f.reason) as category, 'turns' as series, sum(f.items) as value
from marts.funnel f
left join (values ('kept', 'something extracted'), ('unread', 'not read yet'), ('role', 'assistant, system or tool'),
                  ('low_content', 'says nothing (lol, ok)'), ('question', 'only asks a question'),
                  ('quoted', 'quotes somebody else'), ('language', 'in a language that is not read'),
                  ('no_rule', 'states nothing to keep')) as w (reason, words) on w.reason = f.reason
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s and stage = 'turns'
group by 1
order by sum(f.items) desc
limit 20

-- name: forgetting
-- Forgotten memories by reason and kind.
select coalesce(w.words, f.reason) as category, f.kind as series, sum(f.memories) as value
from marts.forgetting f
left join (values ('faded', 'faded, unused'), ('expired', 'ended by its own time'), ('budget', 'beyond the budget'), ('unimportant', 'unimportant from the start'),
                  ('wrong', 'marked as wrong'), ('forgotten_on_request', 'on request')) as w (reason, words) on w.reason = f.reason
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
order by sum(sum(f.memories)) over (partition by coalesce(w.words, f.reason)) desc, kind

-- name: rates
-- Share of a week's memories that were merged or superseded later.
select date_trunc('week', day)::timestamptz as time, c.series, sum(c.value)::float8 / nullif(sum(memories), 0) as value
from marts.consolidation_rates
cross join lateral (values ('merged', merged), ('superseded', superseded)) as c (series, value)
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
order by 1, 2

-- name: recalls
-- Recalls by week, and those that returned nothing.
select date_trunc('week', day)::timestamptz as time, c.series, sum(c.value) as value
from marts.recall_usage
cross join lateral (values ('answered', recalls - zero_hit_recalls), ('without a hit', zero_hit_recalls)) as c (series, value)
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
order by 1, 2

-- name: costs
-- Costs of models by week, in USD.
select date_trunc('week', day)::timestamptz as time, model as series, sum(cost_usd) as value
from marts.model_costs
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
having sum(cost_usd) > 0
order by 1, 2

-- name: stages
-- Seconds of stage runs, by day of the wall clock.
select day::timestamptz as time, stage as series, sum(seconds) as value
from marts.stage_runs
where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s
group by 1, 2
order by 1, 2

-- name: lag
-- Work that waits now, the longest wait first.
select tenant_id as tenant, as_of as "memory as of", round(hours_behind::numeric, 1) as "hours behind",
       sessions_due as "sessions due", round(overdue_minutes::numeric) as "overdue (min)", turns_buffered as "turns buffered",
       dead_letters as "dead letters", reviews_unseen as "reviews unseen"
from marts.tenant_lag
where tenant_id = any(%(tenants)s)
order by overdue_minutes desc nulls last, hours_behind desc nulls last, tenant_id
limit 100

-- name: moods
-- Share of each mood among a week's messages.
select time, series, value::float8 / sum(value) over (partition by time) as value
from (select date_trunc('week', day)::timestamptz as time, value as series, sum(occurrences) as value
      from marts.contact_signals
      where tenant_id = any(%(tenants)s) and day >= %(since)s and day < %(until)s and signal = 'mood'
      group by 1, 2) m
order by 1, 2

-- name: retention
-- Share of subjects that spoke again, by weeks since their first turn. Cohorts of which nobody came back count as well.
select w.weeks::text as category, 'subjects' as series, coalesce(sum(a.active_subjects), 0)::float8 / sum(c.subjects) as value
from marts.subject_cohorts c
join (select tenant_id, max(week) as week from marts.subject_cohorts group by tenant_id) l on l.tenant_id = c.tenant_id
cross join lateral generate_series(0, least((l.week - c.cohort_week) / 7, 26)) as w (weeks)
left join marts.subject_cohorts a on a.tenant_id = c.tenant_id and a.cohort_week = c.cohort_week and a.weeks_since = w.weeks
where c.tenant_id = any(%(tenants)s) and c.weeks_since = 0
group by w.weeks
order by w.weeks
