-- One row per tenant: the same counts as `reverie.evaluate.health.measure`.
with said as (
    select tenant_id, sum(turns) as turns, min(day) as first_day, max(day) as last_day
    from {{ ref('subject_days') }}
    group by tenant_id
),

read_turns as (
    select tenant_id, count(*) as turns from {{ ref('stg_extractions') }} group by tenant_id
),

by_subject as (
    select
        tenant_id,
        subject_id,
        count(*) filter (where fate = 'candidate') as candidates,
        count(*) filter (where fate = 'active') as memories,
        count(*) filter (where fate = 'active' and kind = 'fact') as facts,
        count(*) filter (where fate = 'active' and kind = 'preference') as preferences,
        count(*) filter (where fate = 'active' and kind = 'instruction') as instructions,
        count(*) filter (where fate = 'active' and kind = 'episode') as episodes,
        count(*) filter (where fate = 'active' and kind = 'pattern') as patterns,
        count(*) filter (where fate = 'active' and kind = 'summary') as summaries,
        count(*) filter (where fate = 'merged') as merged,
        count(*) filter (where fate = 'rewritten') as rewritten,
        count(*) filter (where fate = 'compressed') as compressed,
        count(*) filter (where fate = 'superseded') as superseded,
        count(*) filter (where fate = 'forgotten') as forgotten,
        sum(importance) filter (where fate = 'active') as importance
    from {{ ref('stg_lives') }}
    group by tenant_id, subject_id
),

remembered as (
    select
        tenant_id,
        max(memories) as largest_subject,
        sum(candidates) as candidates,
        sum(memories) as memories,
        sum(facts) as facts,
        sum(preferences) as preferences,
        sum(instructions) as instructions,
        sum(episodes) as episodes,
        sum(patterns) as patterns,
        sum(summaries) as summaries,
        sum(merged) as merged,
        sum(rewritten) as rewritten,
        sum(compressed) as compressed,
        sum(superseded) as superseded,
        sum(forgotten) as forgotten,
        sum(importance) as importance
    from by_subject
    group by tenant_id
),

known as (select tenant_id, count(*) as subjects from {{ ref('stg_subjects') }} group by tenant_id),
conflicts as (select tenant_id, count(*) as n from {{ ref('stg_conflicts') }} group by tenant_id),
entities as (select tenant_id, count(*) as n from {{ ref('stg_entities') }} group by tenant_id),
recalls as (select tenant_id, count(*) as n from {{ ref('stg_recalls') }} group by tenant_id),
letters as (select tenant_id, count(*) as n from {{ ref('stg_dead_letters') }} group by tenant_id),
calls as (select tenant_id, sum(coalesce(cost_usd, reserved_usd)) as cost_usd from {{ ref('stg_calls') }} group by tenant_id)

select
    t.tenant_id,
    t.policy,
    t.created_at,
    c.as_of,
    s.first_day,
    s.last_day,
    coalesce(s.turns, 0)::bigint as turns,
    (coalesce(s.turns, 0) - coalesce(x.turns, 0))::bigint as turns_unread,
    coalesce(w.subjects, 0)::bigint as subjects,
    coalesce(m.memories, 0)::bigint as memories,
    {{ share('m.memories', 'w.subjects') }} as memories_per_subject,
    {{ share('m.memories', 's.turns') }} as memories_per_turn,
    coalesce(m.largest_subject, 0)::bigint as largest_subject,
    {{ share('m.importance', 'm.memories') }} as mean_importance,
    coalesce(m.facts, 0)::bigint as facts,
    coalesce(m.preferences, 0)::bigint as preferences,
    coalesce(m.instructions, 0)::bigint as instructions,
    coalesce(m.episodes, 0)::bigint as episodes,
    coalesce(m.patterns, 0)::bigint as patterns,
    coalesce(m.summaries, 0)::bigint as summaries,
    coalesce(m.candidates, 0)::bigint as candidates,
    coalesce(m.merged, 0)::bigint as merged,
    coalesce(m.rewritten, 0)::bigint as rewritten,
    coalesce(m.compressed, 0)::bigint as compressed,
    coalesce(m.superseded, 0)::bigint as superseded,
    coalesce(m.forgotten, 0)::bigint as forgotten,
    coalesce(k.n, 0)::bigint as conflicts,
    coalesce(e.n, 0)::bigint as entities,
    coalesce(r.n, 0)::bigint as recalls,
    coalesce(l.n, 0)::bigint as dead_letters,
    coalesce(o.cost_usd, 0)::double precision as cost_usd
from {{ ref('stg_tenants') }} t
join {{ ref('tenant_clocks') }} c on c.tenant_id = t.tenant_id
left join said s on s.tenant_id = t.tenant_id
left join read_turns x on x.tenant_id = t.tenant_id
left join remembered m on m.tenant_id = t.tenant_id
left join known w on w.tenant_id = t.tenant_id
left join conflicts k on k.tenant_id = t.tenant_id
left join entities e on e.tenant_id = t.tenant_id
left join recalls r on r.tenant_id = t.tenant_id
left join letters l on l.tenant_id = t.tenant_id
left join calls o on o.tenant_id = t.tenant_id
