-- Recalls and contexts by day. Their log is deleted after some time; what was already counted stays here as long as the
-- tenant exists.
-- depends_on: {{ ref('stg_tenants') }}
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key=['tenant_id', 'day'],
    on_schema_change='fail',
    post_hook="{% if is_incremental() %}
        delete from {{ this }} where tenant_id not in (select tenant_id from {{ ref('stg_tenants') }})
    {% endif %}",
) }}

with recalls as (
    select tenant_id, asked_on as day, subject_id, hits, dropped from {{ ref('stg_recalls') }}
),

contexts as (
    select tenant_id, assembled_on as day, items, total_tokens, dropped from {{ ref('stg_contexts') }}
)

{% if is_incremental() %}
-- by tenant, since a tenant's clock may be stopped; three days, since a question may be as of a past time; from today at
-- the latest, since a question may also be as of a future time
, since as (
    select tenant_id, least(max(day), {{ day_of('now()') }}) - 3 as day from {{ this }} group by tenant_id
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
),

counted as (
    select
        tenant_id,
        day,
        coalesce(a.recalls, 0) as recalls,
        coalesce(a.subjects, 0) as subjects,
        coalesce(a.hits, 0) as hits,
        coalesce(a.dropped, 0) as dropped,
        coalesce(a.zero_hit_recalls, 0) as zero_hit_recalls,
        coalesce(c.contexts, 0) as contexts,
        coalesce(c.tokens, 0) as context_tokens,
        coalesce(c.items, 0) as context_items,
        coalesce(c.dropped, 0) as context_dropped
    from asked a
    full join assembled c using (tenant_id, day)
)

{% if is_incremental() %}
-- a day of which a part was deleted keeps what was counted before
, kept as (
    select
        tenant_id,
        day,
        greatest(n.recalls, o.recalls) as recalls,
        greatest(n.subjects, o.subjects) as subjects,
        greatest(n.hits, o.hits) as hits,
        greatest(n.dropped, o.dropped) as dropped,
        greatest(n.zero_hit_recalls, o.zero_hit_recalls) as zero_hit_recalls,
        greatest(n.contexts, o.contexts) as contexts,
        greatest(n.context_tokens, o.context_tokens) as context_tokens,
        greatest(n.context_items, o.context_items) as context_items,
        greatest(n.context_dropped, o.context_dropped) as context_dropped
    from counted n
    left join {{ this }} o using (tenant_id, day)
)
{% endif %}

select
    tenant_id,
    day,
    recalls::bigint as recalls,
    subjects::bigint as subjects,
    hits::bigint as hits,
    dropped::bigint as dropped,
    zero_hit_recalls::bigint as zero_hit_recalls,
    {{ share('hits', 'recalls') }} as hits_per_recall,
    {{ share('zero_hit_recalls', 'recalls') }} as zero_hit_rate,
    contexts::bigint as contexts,
    context_tokens::bigint as context_tokens,
    context_items::bigint as context_items,
    context_dropped::bigint as context_dropped
from {{ 'kept' if is_incremental() else 'counted' }}
