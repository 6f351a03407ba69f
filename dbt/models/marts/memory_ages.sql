-- Ages are as of the tenant's last cycle, which computed importance, so that both are of the same time.
with ages as (
    select
        m.*,
        c.as_of,
        case
            when m.happened_at > c.as_of - interval '7 days' then 0
            when m.happened_at > c.as_of - interval '30 days' then 7
            when m.happened_at > c.as_of - interval '90 days' then 30
            when m.happened_at > c.as_of - interval '365 days' then 90
            else 365
        end as age_from_days,
        -- a float just below .7 counts as .7; 1 belongs to the highest tenth
        least(floor(round(m.importance::numeric, 4) * 10), 9) / 10 as importance_from
    from {{ ref('stg_memories') }} m
    join {{ ref('tenant_clocks') }} c on c.tenant_id = m.tenant_id
    where m.state = 'active'
)

select
    tenant_id,
    kind,
    age_from_days,
    case age_from_days
        when 0 then 'under a week'
        when 7 then 'a week to a month'
        when 30 then 'one to three months'
        when 90 then 'three months to a year'
        else 'over a year'
    end as age,
    importance_from::double precision as importance_from,
    count(*) as memories,
    count(*) filter (where access_count = 0) as never_used,
    count(*) filter (where lasting) as lasting,
    count(*) filter (where forget_at <= as_of + interval '30 days') as due_in_30_days,
    {{ rounded('avg(importance)') }} as mean_importance
from ages
group by tenant_id, kind, age_from_days, importance_from
