-- One row per tenant and milestone that a subject has reached: the number of memories that subjects had then.
select
    tenant_id,
    milestone,
    days::integer as days,
    count(*)::bigint as subjects,
    {{ rounded('avg(memories)') }} as mean_memories,
    percentile_cont(0.5) within group (order by memories)::double precision as median_memories,
    max(memories)::bigint as most_memories,
    {{ rounded('avg(statements)') }} as mean_statements,
    {{ rounded('avg(episodes)') }} as mean_episodes,
    {{ rounded('avg(compressions)') }} as mean_compressions
from {{ ref('stg_milestones') }}
group by tenant_id, milestone, days
