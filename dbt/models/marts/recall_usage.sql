-- Recalls and contexts by day. Their log is deleted after some time; the days already counted stay here.
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key=['tenant_id', 'day'],
    on_schema_change='fail',
) }}

with recalls as (
    select tenant_id, asked_on as day, subject_id, hits, dropped from {{ ref('stg_recalls') }}
),

contexts as (
    select tenant_id, assembled_on as day, items, total_tokens, dropped from {{ ref('stg_contexts') }}
)

{% if is_incremental() %}
-- by tenant, since a tenant's clock may be stopped; three days, since a question may be as of a past time
, since as (
    select tenant_id, max(day) - 3 as day from {{ this }} group by tenant_id
)
{% endif %}

, asked as (
    select
        r.tenant_id,
        r.day,
        count(*) as recalls,
        count(distinct r.subject_id) as subjects,
        sum(r.hits) as hits,
        sum(r.dropped) as dropped,
        count(*) filter (where r.hits = 0) as zero_hit_recalls
    from recalls r
    {% if is_incremental() %}
    left join since s on s.tenant_id = r.tenant_id
    where s.day is null or r.day >= s.day
    {% endif %}
    group by r.tenant_id, r.day
),

assembled as (
    select
        c.tenant_id,
        c.day,
        count(*) as contexts,
        sum(c.total_tokens) as tokens,
        sum(c.items) as items,
        sum(c.dropped) as dropped
    from contexts c
    {% if is_incremental() %}
    left join since s on s.tenant_id = c.tenant_id
    where s.day is null or c.day >= s.day
    {% endif %}
    group by c.tenant_id, c.day
)

select
    tenant_id,
    day,
    coalesce(a.recalls, 0)::bigint as recalls,
    coalesce(a.subjects, 0)::bigint as subjects,
    coalesce(a.hits, 0)::bigint as hits,
    coalesce(a.dropped, 0)::bigint as dropped,
    coalesce(a.zero_hit_recalls, 0)::bigint as zero_hit_recalls,
    {{ share('a.hits', 'a.recalls') }} as hits_per_recall,
    {{ share('a.zero_hit_recalls', 'a.recalls') }} as zero_hit_rate,
    coalesce(c.contexts, 0)::bigint as contexts,
    coalesce(c.tokens, 0)::bigint as context_tokens,
    coalesce(c.items, 0)::bigint as context_items,
    coalesce(c.dropped, 0)::bigint as context_dropped
from asked a
full join assembled c using (tenant_id, day)
