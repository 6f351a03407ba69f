-- name: read_subject
-- The speakers in the subject's conversations, the embedding model, whether the subject refuses recall, and whether turns
-- may wait to become memory. No row if the subject is unknown; a subject whose turns all wait is known by them.
select s.speakers, (select t.model from ops.tenants t where t.tenant_id = %(tenant)s),
       exists (select from ops.consents c where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s and not c.recall),
       exists (select from ops.pending_turns p where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s)
       or exists (select from ops.queue q where q.tenant_id = %(tenant)s and q.subject_id = %(subject)s)
from memory.subjects s
where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s
union all
select coalesce(array_agg(distinct p.speaker) filter (where p.speaker is not null), '{}'),
       (select t.model from ops.tenants t where t.tenant_id = %(tenant)s),
       exists (select from ops.consents c where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s and not c.recall),
       true
from (select p.speaker from ops.pending_turns p where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s
      union all
      select null from ops.queue q where q.tenant_id = %(tenant)s and q.subject_id = %(subject)s) p
where not exists (select from memory.subjects s where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s)
having count(*) > 0

-- template: search
-- Candidates of three arms, each exact within the subject, with every signal and the weighted sum. Ids start with their
-- event time, so `item_id < horizon` leaves out what was said after the question. The plan is made once for all subjects, so
-- nothing here may depend on expected numbers of rows: `limit 1` and `offset 0` keep look-ups by key, a full join never
-- becomes a nested loop, and a series function is expected to return a thousand rows, so joins with it become hash joins.
-- Each node and column of the plan costs time before the first row: a part is sent only if the question needs it, and no
-- `select *` is passed up from a table. Features: `embedded`, the question has a vector (else `unembedded`); `filtered`, by
-- item, kind or id; `dated`, it names dates; `rated`, the worth of an item itself counts; `cached`, the caller's data on the
-- subject may be out of date; `standing`, the nearest preferences, instructions and lasting facts are candidates.
with query as materialized (  -- the speakers' names are no search words, unless there is nothing else
    select s.items, greatest(s.terms, 1)::float8 / greatest(s.items, 1) as average, tsvector_to_array(w.asked) as asked,
           tsvector_to_array(case when length(w.words) > 0 then w.words else w.asked end) as words
    from memory.subjects s
    cross join lateral (
        select asked, ts_delete(asked, tsvector_to_array(
                   to_tsvector(%(language)s::regconfig, array_to_string(s.speakers, ' ')))) as words
        from to_tsvector(%(language)s::regconfig, %(question)s) as asked offset 0) w
    where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s
),
marks as materialized (  -- what a person corrected, forgot or pinned: usually nothing
    select item_id, item, mark from memory.marks where tenant_id = %(tenant)s and subject_id = %(subject)s offset 0
),
/* embedded.dense */
/* standing.arm */
matches as materialized (  -- BM25
    select t.item_id, sum(ln(1 + (q.items - t.df + 0.5) / (t.df + 0.5)) * t.tf * (%(k1)s::float8 + 1)
                          / (t.tf + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * t.dl / q.average))) as bm25
    from query q
    cross join lateral generate_subscripts(q.words, 1) as place
    cross join lateral (
        select p.item_id, p.tf, p.dl, count(*) over ()::float8 as df
        from memory.terms l
        cross join lateral unnest(l.item_ids, l.tfs, l.dls) as p (item_id, tf, dl)
        where l.tenant_id = %(tenant)s and l.subject_id = %(subject)s and l.term = q.words[place]
          and p.item_id < %(horizon)s
        offset 0) t
    where %(words)s
    group by t.item_id
),
lexical as (  -- merged and compressed memories are still on the lists: leave them out until there are enough
    select item_id, similarity, row_number() over (order by bm25 desc, item_id) as place
    from (select x.item_id, x.bm25,
                 /* embedded.lexical_similarity */
                 0 as similarity
          from (select item_id, bm25 from matches order by bm25 desc, item_id offset 0) x
          /* embedded.lexical_vectors */
          /* unembedded.lexical_memories */
          where (%(include_compressed)s or true
                 /* embedded.live */
                 /* unembedded.live */
                )
            /* filtered.lexical */
          limit %(candidates)s) most
),
entity as (
    select m.id as item_id, row_number() over (order by m.importance desc, m.id) as place
    from memory.memories m
    where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.id < %(horizon)s
      and m.id = any(array(
              select l.memory_id from memory.links l
              where l.tenant_id = %(tenant)s and l.entity_id = any(array(
                        select e.id from memory.entities e
                        cross join query q
                        where e.tenant_id = %(tenant)s and e.subject_id = %(subject)s
                          and e.terms <@ q.asked and e.terms <> '{}'))))
      and (m.state in ('candidate', 'active') or %(include_compressed)s and m.state = 'compressed')
      /* filtered.entity */
    order by m.importance desc, m.id
    limit %(candidates)s
),
found as materialized (
    select item_id, max(similarity) as similarity, min(dense) as dense, max(lexical) as lexical, max(entity) as entity,
           bool_and(dense is not null or not is_found) as by_vector_alone, max(mark) as mark
    from (select item_id, similarity, null::bigint as dense, place as lexical, null::bigint as entity,
                 null::text as mark, true as is_found
          from lexical
          /* embedded.found */
          /* standing.found */
          union all select item_id, null, null, null, place, null, true from entity
          union all
          select k.item_id, null, null, null, null, nullif(k.mark, 'pinned'),
                 k.mark in ('pinned', 'replaced') and k.item_id < %(horizon)s
                 and (k.mark = 'replaced' or exists (
                     select from memory.memories m
                     where m.tenant_id = %(tenant)s and m.id = k.item_id and m.state in ('candidate', 'active')))
                 /* filtered.marks */
          from marks k) arms
    group by item_id
    having bool_or(is_found)
),
placed as (  -- with the properties of each item; rows are narrow while they are sorted by session
    select *, count(*) over ()::int as found,
           max(similarity) over (partition by session_id, case when session_id is null then item_id end)
               as session_similarity
    from (select f.item_id, f.mark, f.dense, f.lexical, f.entity,
                 f.by_vector_alone and f.similarity < %(min_similarity)s::float8 as too_far,
                 coalesce(f.similarity,
                          /* embedded.other_similarity */
                          0) as similarity,
                 i.item, i.session_id, i.happened_at, i.speaker, i.role, i.words, i.asks, i.first_person, i.names_time,
                 i.asked_by
          from generate_series(1, (select 1))  -- always one row
          cross join found f
          full join (  -- all keys in one pass over the index
              select item_id, item, session_id, happened_at, speaker, role, words, asks, first_person, names_time,
                     asked_by
              from memory.items i
              where i.tenant_id = %(tenant)s and i.subject_id = %(subject)s
                and i.item_id = any(array(select item_id from found))
              offset 0) i on i.item_id = f.item_id
          offset 0) p
    where item is not null
),
measured as (
    select p.item_id, p.item, p.session_id, p.happened_at, p.dense, p.lexical as lexical_rank, p.entity as entity_rank,
           p.found, case when p.words <= %(longest_reply)s then p.asked_by end as asked_by,
           case when m.origin = 'working' then m.origin else m.kind end as kind, m.content, m.turn_id,
           m.importance as memory_importance, m.doubted_by,
           case when p.mark is not null then p.mark
                when p.too_far then 'similarity'
                when m.state = 'superseded' and not %(former)s::boolean and coalesce(m.valid_to <= %(as_of)s, true)
                then 'superseded'
                when m.importance < %(min_importance)s then 'importance'
                when m.expires_at <= %(as_of)s then 'expired' end as dropped,
           best.bm25 as best_bm25, p.similarity, coalesce(x.bm25 / best.bm25, 0) as lexical,
           coalesce(a.bm25 / best.bm25, 0) as answers, p.session_similarity,
           coalesce(p.speaker = any(%(mentioned)s::text[]), false) as speaker, p.first_person, p.names_time, p.asks,
           coalesce(p.role = 'assistant', false) as assistant
           /* rated.measured */
           /* dated.measured */
    from placed p
    left join matches x on x.item_id = p.item_id
    left join matches a on a.item_id = p.asked_by
    left join lateral (
        select kind, state, origin, content, turn_id, importance, expires_at, valid_to, doubted_by
               /* rated.columns */
        from memory.memories m
        where p.item = 'memory' and m.tenant_id = %(tenant)s and m.id = p.item_id offset 0) m on true
    /* rated.query */
    cross join (select max(bm25) as bm25 from matches) best
    offset 0  -- each signal is computed once, however often it is named below
),
best as (
    select *, similarity * %(w_similarity)s + lexical * %(w_lexical)s + answers * %(w_answers)s
              + speaker::int * %(w_speaker)s::float8
              /* dated.score */
              + first_person::int * %(w_first_person)s::float8 + names_time::int * %(w_names_time)s::float8
              + asks::int * %(w_asks)s::float8 + assistant::int * %(w_assistant)s::float8
              /* rated.score */
              + session_similarity * %(w_session_similarity)s as score,
           coalesce(dropped <> 'replaced', false) as last
    from measured
    order by last, score desc, item_id
    limit %(limit)s
),
former as materialized (  -- statements that no longer hold, by the memory itself and by each turn that it was made from
    select x.item_id, array_agg(s.id) as ids
    from (select id from memory.memories m
          where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.state = 'superseded'
            and m.valid_to <= %(as_of)s
          offset 0) s
    cross join lateral (
        select s.id as item_id
        union
        select l.source_id from memory.lineage l
        where l.tenant_id = %(tenant)s and l.memory_id = s.id and l.relation = 'extracted'
        union
        select l.source_id
        from (select id from memory.memories h
              where h.tenant_id = %(tenant)s and h.into_id = s.id and h.state = 'merged' offset 0) h
        cross join lateral (
            select source_id from memory.lineage l
            where l.tenant_id = %(tenant)s and l.memory_id = h.id and l.relation = 'extracted' offset 0) l
        offset 0) x
    group by x.item_id
)
select b.dropped, b.item_id, b.kind, coalesce(b.content, t.text) as content, b.happened_at, b.score, b.turn_id,
       b.session_id, b.memory_importance, b.dense, b.lexical_rank, b.entity_rank, t.speaker, t.role,
       case when q.id is not null then jsonb_build_array(q.id, q.speaker, q.role, q.text, q.said_at) end as question,
       b.best_bm25, b.found, e.ids as former_ids, b.doubted_by,
       b.similarity, b.lexical, b.answers, b.session_similarity, b.speaker as is_mentioned, b.first_person,
       b.names_time, b.asks, b.assistant
       /* rated.signals */
       /* dated.signal */
       /* cached.column */
from best b
left join lateral (
    select id, speaker, role, text from log.turns t
    where b.item = 'turn' and t.tenant_id = %(tenant)s and t.id = b.item_id offset 0) t on true
left join lateral (  -- the question that a short reply answers
    select id, speaker, role, text, said_at from log.turns q
    where q.tenant_id = %(tenant)s and q.id = b.asked_by and (q.speaker, q.role) is distinct from (t.speaker, t.role)
      and not exists (select from marks k where k.item_id = q.id and k.mark <> 'pinned')
    offset 0) q on true
left join former e on e.item_id = b.item_id
/* cached.subject */
order by b.last, b.score desc, b.item_id

-- part: embedded.dense
dense as (  -- each part of a long turn has its own place
    select item_id, -distance as similarity, row_number() over (order by distance, item_id) as place
    from (select v.item_id, (v.vec <#> %(vector)s::halfvec) + 0 as distance
          from memory.vectors v
          where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s
            and v.item_id < %(horizon)s and (v.live or %(include_compressed)s)
            /* filtered.dense */
          order by distance, item_id
          limit %(candidates)s) nearest
),

-- part: standing.arm
-- Small talk about the same things is often nearer to a message than a preference or restriction.
standing as (
    select m.id as item_id, v.similarity
    from (select m.id from memory.memories m
          where m.tenant_id = %(tenant)s and m.subject_id = %(subject)s and m.id < %(horizon)s
            and m.state in ('candidate', 'active') and (m.kind in ('preference', 'instruction') or m.lasting)
            /* filtered.standing */
          offset 0) m
    cross join lateral (
        select -min(v.vec <#> %(vector)s::halfvec) as similarity from memory.vectors v
        where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s and v.item_id = m.id
        offset 0) v
    where v.similarity is not null
    order by v.similarity desc, m.id
    limit %(standing)s
),

-- part: standing.found
union all select item_id, similarity, null, null, null, null, true from standing

-- part: filtered.dense
and (%(among)s::uuid[] is null or v.item_id in (select unnest(%(among)s::uuid[])))
and (%(item)s::text is null or v.item = %(item)s)
and (%(kinds)s::text[] is null
     or exists (select from memory.memories m
                where m.tenant_id = %(tenant)s and m.id = v.item_id and (m.kind = any(%(kinds)s) or m.happened_at > %(now_since)s and (m.origin = any(%(now_origins)s) or lower(m.content) like any(%(about_now)s)))))

-- part: embedded.lexical_similarity
v.similarity +

-- part: embedded.lexical_vectors
cross join lateral (
    select -min(v.vec <#> %(vector)s::halfvec) as similarity, bool_or(v.live) as live
    from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.item_id = x.item_id
      and (%(model)s::text is null or v.model = %(model)s)
    offset 0) v

-- part: unembedded.lexical_memories
-- The memory's state says the same as `live`, so no page of vectors is read.
cross join lateral (
    select coalesce(bool_or(m.state in ('candidate', 'active')), true) as live
    from memory.memories m where m.tenant_id = %(tenant)s and m.id = x.item_id offset 0) m

-- part: embedded.live
and v.live

-- part: unembedded.live
and m.live

-- part: filtered.lexical
and (%(among)s::uuid[] is null or x.item_id in (select unnest(%(among)s::uuid[])))
and (%(item)s::text is null
     or (%(item)s = 'memory') = exists (
            select from memory.memories m
            where m.tenant_id = %(tenant)s and m.id = x.item_id
              and (%(kinds)s::text[] is null or (m.kind = any(%(kinds)s) or m.happened_at > %(now_since)s and (m.origin = any(%(now_origins)s) or lower(m.content) like any(%(about_now)s))))))

-- part: filtered.entity
and (%(among)s::uuid[] is null or m.id in (select unnest(%(among)s::uuid[])))
and (%(item)s::text is null or %(item)s = 'memory') and (%(kinds)s::text[] is null or (m.kind = any(%(kinds)s) or m.happened_at > %(now_since)s and (m.origin = any(%(now_origins)s) or lower(m.content) like any(%(about_now)s))))

-- part: filtered.standing
and (%(among)s::uuid[] is null or m.id in (select unnest(%(among)s::uuid[])))
and (%(item)s::text is null or %(item)s = 'memory') and (%(kinds)s::text[] is null or (m.kind = any(%(kinds)s) or m.happened_at > %(now_since)s and (m.origin = any(%(now_origins)s) or lower(m.content) like any(%(about_now)s))))

-- part: embedded.found
union all select item_id, similarity, place, null, null, null, true from dense

-- part: filtered.marks
and (%(among)s::uuid[] is null or k.item_id in (select unnest(%(among)s::uuid[])))
and (%(item)s::text is null or k.item = %(item)s)
and (%(kinds)s::text[] is null or exists (
    select from memory.memories m
    where m.tenant_id = %(tenant)s and m.id = k.item_id and (m.kind = any(%(kinds)s) or m.happened_at > %(now_since)s and (m.origin = any(%(now_origins)s) or lower(m.content) like any(%(about_now)s)))))

-- part: embedded.other_similarity
case when f.entity is not null or f.lexical is null then (  -- found by no arm that compares vectors
    select -min(v.vec <#> %(vector)s::halfvec) from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s
      and v.item_id = f.item_id) end,

-- part: dated.measured
-- Nearness to a date in the question; soon after counts more than before. Postgres refuses an exp() that is too near 0.
, coalesce((
    select max(case when p.happened_at < since
                    then exp(greatest(-100, -extract(epoch from since - p.happened_at)::float8 / 86400 / 1.5))
                    when p.happened_at >= until
                    then exp(greatest(-100, -extract(epoch from p.happened_at - until)::float8 / 86400 / 5))
                    else 1 end)
    from unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) as dates (since, until)), 0) as date

-- part: dated.score
+ date * %(w_date)s

-- part: dated.signal
, b.date

-- part: rated.measured
-- The worth of an item by itself.
, p.item = 'memory' as memory,
greatest(0, least(1, 1 - extract(epoch from %(as_of)s - coalesce(m.accessed_at, p.happened_at))::float8
                         / 86400 / %(recency_days)s::float8)) as recency,
coalesce(m.importance, 0)::float8 as importance,
least(coalesce(m.access_count, 0)::float8 / %(access_cap)s::float8, 1) as access, p.entity is not null as entity,
coalesce(m.kind in ('preference', 'instruction') or m.lasting, false) as standing,
least(p.words / (q.average * %(length_cap)s::float8), 1) as length

-- part: rated.columns
, accessed_at, access_count, lasting

-- part: rated.query
cross join query q

-- part: rated.score
+ memory::int * %(w_memory)s::float8 + recency * %(w_recency)s + importance * %(w_importance)s + access * %(w_access)s
+ entity::int * %(w_entity)s::float8 + standing::int * %(w_standing)s::float8 + length * %(w_length)s

-- part: rated.signals
, b.memory, b.recency, b.importance, b.access, b.entity, b.standing, b.length

-- part: cached.column
-- Whether the caller's data on the subject is current, also if nothing is found.
, k.holds

-- part: cached.subject
right join (
    select s.speakers = %(speakers)s::text[]
           and (select t.model from ops.tenants t where t.tenant_id = %(tenant)s) is not distinct from %(embedded_by)s::text
           and exists (select from ops.consents c
                       where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s and not c.recall) = %(is_withheld)s::boolean
           and (exists (select from ops.pending_turns p where p.tenant_id = %(tenant)s and p.subject_id = %(subject)s)
                or exists (select from ops.queue q where q.tenant_id = %(tenant)s and q.subject_id = %(subject)s))
               = %(may_wait)s::boolean as holds
    from memory.subjects s
    where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s) k on true

-- name: replacements
-- A person's replacements of these items that are not memories yet, as of a time.
select k.item_id, r.id, r.kind, r.content, r.happened_at, r.importance
from memory.marks k
join memory.replacements r on r.tenant_id = k.tenant_id and r.subject_id = k.subject_id
    and r.correction_id = k.correction_id and r.happened_at <= %(as_of)s
where k.tenant_id = %(tenant)s and k.subject_id = %(subject)s and k.mark = 'replaced' and k.item_id = any(%(ids)s)
order by k.item_id, r.happened_at desc, r.id

-- name: write_recalls
-- Log questions and the items returned for each. A question about a subject that is not captured may be in its words, and is
-- logged blank.
insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, model, item_ids, dropped)
select %(tenant)s, r.id, r.subject_id, r.asked_at,
       case when exists (select from ops.consents c
                         where c.tenant_id = %(tenant)s and c.subject_id = r.subject_id and not c.capture)
            then '' else r.question end,
       r.policy_hash, r.model, r.item_ids, r.dropped
from jsonb_to_recordset(%(rows)s) as r (id uuid, subject_id text, asked_at timestamptz, question text, policy_hash text,
                                        model text, item_ids uuid[], dropped int)
on conflict do nothing
