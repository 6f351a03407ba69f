-- The current backlog. A view, so that it is as of the time of the query.
{{ config(materialized='view') }}

with queued as (
    select
        tenant_id,
        count(*) as sessions,
        sum(turns) as turns,
        count(*) filter (where due_at <= now() and coalesce(leased_until, '-infinity') <= now()) as due,
        min(due_at) filter (where due_at <= now() and coalesce(leased_until, '-infinity') <= now()) as due_since,
        count(*) filter (where leased_until > now()) as leased,
        count(*) filter (where attempts > 1) as retried,
        min(first_at) as first_at
    from {{ ref('stg_queue') }}
    group by tenant_id
),

open_sessions as (
    select tenant_id, count(*) as sessions, count(*) filter (where flush_at <= now()) as unflushed
    from {{ ref('stg_sessions') }}
    group by tenant_id
),

buffered as (
    select tenant_id, count(*) as turns from {{ ref('stg_pending_turns') }} group by tenant_id
),

letters as (
    select tenant_id, count(*) as letters from {{ ref('stg_dead_letters') }} group by tenant_id
),

reviews as (
    select tenant_id, count(*) as reviews from {{ ref('stg_reviews') }} where seen_at is null group by tenant_id
)

select
    t.tenant_id,
    now() as measured_at,
    c.as_of,
    greatest({{ hours('c.as_of', 'coalesce(t.clock_at, now())') }}, 0) as hours_behind,
    t.clock_at is not null as clock_stopped,
    {{ hours('c.last_run_at', 'now()') }} as hours_since_run,
    coalesce(q.sessions, 0)::bigint as sessions_queued,
    coalesce(q.turns, 0)::bigint as turns_queued,
    coalesce(q.due, 0)::bigint as sessions_due,
    coalesce({{ hours('q.due_since', 'now()') }} * 60, 0) as overdue_minutes,
    coalesce({{ hours('q.first_at', 'now()') }} * 60, 0) as longest_wait_minutes,
    coalesce(q.leased, 0)::bigint as sessions_leased,
    coalesce(q.retried, 0)::bigint as sessions_retried,
    coalesce(o.sessions, 0)::bigint as sessions_open,
    coalesce(o.unflushed, 0)::bigint as sessions_unflushed,
    coalesce(b.turns, 0)::bigint as turns_buffered,
    coalesce(l.letters, 0)::bigint as dead_letters,
    coalesce(r.reviews, 0)::bigint as reviews_unseen
from {{ ref('stg_tenants') }} t
join {{ ref('tenant_clocks') }} c on c.tenant_id = t.tenant_id
left join queued q on q.tenant_id = t.tenant_id
left join open_sessions o on o.tenant_id = t.tenant_id
left join buffered b on b.tenant_id = t.tenant_id
left join letters l on l.tenant_id = t.tenant_id
left join reviews r on r.tenant_id = t.tenant_id
