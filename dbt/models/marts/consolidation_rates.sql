-- The current state of the memories of each day. Rates of the latest days rise for some time, since merging looks back.
with similar_pairs as (
    select tenant_id, memory_id, similarity from {{ ref('stg_merges') }}
)

select
    l.tenant_id,
    l.born_on as day,
    l.kind,
    count(*) as memories,
    count(*) filter (where l.fate = 'active') as active,
    count(*) filter (where l.fate = 'merged') as merged,
    count(*) filter (where l.fate = 'superseded') as superseded,
    count(*) filter (where l.fate = 'compressed') as compressed,
    count(*) filter (where l.fate = 'forgotten') as forgotten,
    {{ share("count(*) filter (where l.fate = 'merged')", 'count(*)') }} as merge_rate,
    {{ share("count(*) filter (where l.fate = 'superseded')", 'count(*)') }} as supersession_rate,
    {{ rounded('avg(p.similarity)') }} as mean_merge_similarity
from {{ ref('memory_lives') }} l
left join similar_pairs p on l.fate = 'merged' and p.tenant_id = l.tenant_id and p.memory_id = l.memory_id
-- patterns and summaries are left out: they are made from memories, and each new one replaces the last (see funnel)
where l.kind in ('fact', 'preference', 'instruction', 'episode')
group by l.tenant_id, l.born_on, l.kind
