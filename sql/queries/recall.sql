-- name: read_subject
-- Who speaks in the subject's conversations; nothing when the subject is unknown.
select speakers from memory.subjects where tenant_id = %(tenant)s and subject_id = %(subject)s

-- name: search
-- Candidates of three arms, each exact within the subject, with every signal and the weighted sum.
-- Ids start with their event time, so `item_id < horizon` leaves out what was said after the question.
with query as materialized (  -- the speakers' names are no search words, unless there is nothing else
    select s.items, greatest(s.terms, 1)::float8 / greatest(s.items, 1) as average, w.asked,
           case when w.asked <@ n.names then w.asked
                else array(select unnest(w.asked) except select unnest(n.names)) end as words,
           case when s.speakers <@ m.mentioned then '{}' else m.mentioned end as mentioned
    from memory.subjects s
    cross join lateral (
        select tsvector_to_array(to_tsvector(%(language)s::regconfig, %(question)s)) as asked) w
    cross join lateral (
        select tsvector_to_array(to_tsvector(%(language)s::regconfig, array_to_string(s.speakers, ' '))) as names) n
    cross join lateral (
        select coalesce(array_agg(p), '{}') as mentioned from unnest(s.speakers) p
        where to_tsvector('simple', %(question)s) @@ phraseto_tsquery('simple', p)) m
    where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s
),
dense as materialized (
    select item_id, max(similarity) as similarity, row_number() over (order by max(similarity) desc, item_id) as place
    from (select v.item_id, -(v.vec <#> %(vector)s::halfvec) as similarity
          from memory.vectors v
          where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s
            and v.item_id < %(horizon)s and (v.live or %(include_compressed)s) and v.item = any(%(items)s)
            and (%(kinds)s::text[] is null
                 or exists (select from memory.memories m
                            where m.tenant_id = v.tenant_id and m.id = v.item_id and m.kind = any(%(kinds)s)))
          order by (v.vec <#> %(vector)s::halfvec) + 0
          limit %(candidates)s) nearest
    where similarity >= %(min_similarity)s
    group by item_id
),
matches as materialized (  -- BM25, as a share of the best match's
    select item_id, bm25 / max(bm25) over () as lexical, row_number() over (order by bm25 desc, item_id) as place
    from (select t.item_id,
                 sum(ln(1 + (q.items - t.df + 0.5) / (t.df + 0.5)) * t.tf * (%(k1)s::float8 + 1)
                     / (t.tf + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * t.dl / q.average))) as bm25
          from query q
          cross join lateral (
              select p.item_id, p.tf, p.dl, count(*) over (partition by p.term)::float8 as df
              from memory.terms p
              where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s and p.term = any(q.words)
                and p.item_id < %(horizon)s and (p.live or %(include_compressed)s)) t
          where %(words)s
          group by t.item_id) scored
),
entity as materialized (
    select l.memory_id as item_id, row_number() over (order by max(m.importance) desc, l.memory_id) as place
    from query q
    join memory.entities e on e.tenant_id = %(tenant)s and e.subject_id = %(subject)s and e.terms <@ q.asked
        and e.terms <> '{}'
    join memory.links l on l.tenant_id = e.tenant_id and l.entity_id = e.id
    join memory.memories m on m.tenant_id = l.tenant_id and m.id = l.memory_id
    where m.id < %(horizon)s and (m.state in ('candidate', 'active') or %(include_compressed)s and m.state = 'compressed')
      and 'memory' = any(%(items)s) and (%(kinds)s::text[] is null or m.kind = any(%(kinds)s))
    group by l.memory_id order by 2 limit %(candidates)s
),
found as (
    select item_id from dense
    union select x.item_id from matches x
        where x.place <= %(candidates)s
          and (%(kinds)s::text[] is null or exists (select from memory.memories m where m.tenant_id = %(tenant)s
                                                    and m.id = x.item_id and m.kind = any(%(kinds)s)))
    union select item_id from entity
),
measured as (
    select i.item_id, i.item, i.session_id, i.happened_at, m.kind, m.content, m.turn_id,
           case when m.importance < %(min_importance)s then 'importance'
                when m.expires_at <= %(as_of)s then 'expired' end as dropped,
           m.importance as memory_importance,
           d.place as dense_rank, x.place as lexical_rank, e.place as entity_rank,
           coalesce(d.similarity, n.similarity, 0) as similarity,
           coalesce(x.lexical, 0) as lexical,
           coalesce(a.lexical, 0) as answers,
           (i.speaker = any(q.mentioned))::int as speaker,
           coalesce(w.date, 0) as date,
           i.first_person::int as first_person,
           i.names_time::int as names_time,
           i.asks::int as asks,
           (i.role is not distinct from 'assistant')::int as assistant,
           (i.role is not distinct from 'assistant' and %(asks_assistant)s)::int as asked_assistant,
           (i.item = 'memory')::int as memory,
           greatest(0, least(1, 1 - extract(epoch from %(as_of)s - coalesce(m.accessed_at, i.happened_at))::float8
                                    / 86400 / %(recency_days)s::float8)) as recency,
           coalesce(m.importance, 0) as importance,
           least(coalesce(m.access_count, 0)::float8 / %(access_cap)s, 1) as access,
           (e.item_id is not null)::int as entity
    from found f
    cross join query q
    join memory.items i on i.tenant_id = %(tenant)s and i.subject_id = %(subject)s and i.item_id = f.item_id
        and i.item = any(%(items)s)
    left join dense d on d.item_id = f.item_id
    left join matches x on x.item_id = f.item_id
    left join matches a on a.item_id = i.asked_by
    left join entity e on e.item_id = f.item_id
    left join memory.memories m on i.item = 'memory' and m.tenant_id = %(tenant)s and m.id = f.item_id
    left join lateral (
        select max(-(v.vec <#> %(vector)s::halfvec)) as similarity from memory.vectors v
        where d.item_id is null and v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s
          and v.item_id = f.item_id) n on true
    left join lateral (  -- how near to a date that the question names: soon after counts more than before
        select max(case when i.happened_at < since then exp(-extract(epoch from since - i.happened_at)::float8 / 86400 / 1.5)
                        when i.happened_at >= until then exp(-extract(epoch from i.happened_at - until)::float8 / 86400 / 5)
                        else 1 end) as date
        from unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) as dates (since, until)) w on true
),
weighed as (
    select *,
           max(similarity) over (partition by coalesce(session_id, item_id::text)) as session_similarity
    from measured
),
best as (
    select *
    from weighed
    cross join lateral (values (array[similarity, lexical, answers, session_similarity, speaker, date, first_person,
                                      names_time, asks, assistant, asked_assistant, memory, recency, importance, access,
                                      entity]::float8[])) as v (signals)
    cross join lateral (
        select sum(signal * weight) as score from unnest(v.signals, %(weights)s::float8[]) as s (signal, weight)) s
    order by dropped is not null, score desc, item_id
    limit %(limit)s
)
select b.item_id, b.item, coalesce(b.kind, 'turn') as kind,
       coalesce(b.content, case when t.speaker is null then t.text else t.speaker || ': ' || t.text end) as content,
       b.session_id, b.happened_at, coalesce(b.turn_id, t.id) as turn_id, b.memory_importance,
       b.dense_rank, b.lexical_rank, b.entity_rank, b.dropped, b.score, b.signals
from best b
left join log.turns t on t.tenant_id = %(tenant)s and t.id = b.item_id and b.item = 'turn'
order by b.dropped is not null, b.score desc, b.item_id

-- name: write_recall
-- The question and the items given.
insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, model, item_ids, dropped)
values (%(tenant)s, %(id)s, %(subject)s, %(asked_at)s, %(question)s, %(policy_hash)s, %(model)s, %(item_ids)s, %(dropped)s)
on conflict do nothing
