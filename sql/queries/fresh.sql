-- name: read_fresh
-- The latest turns of a subject that are not searchable yet: those in the buffer, and those in the log that the deferred
-- tier has not embedded while their session waits for it. Each with the turn before it if that asked a question, its
-- similarity if its vector exists (see `acknowledge`), and the input of BM25: the question's words that it contains, how
-- often, and its length. The first row also has the subject's figures: the words, the number of items with each, all items
-- and their terms. These are sub-selects, which are not evaluated if nothing waits. A turn that a waiting replacement stands for
-- comes with the others, so that the replacement takes its place.
with waiting as materialized (
    select w.id, w.session_id, w.role, w.speaker, w.said_at, w.place, w.text,
           exists (select from memory.marks k
                   where k.tenant_id = (select %(tenant)s::text) and k.subject_id = %(subject)s::text
                     and k.item_id = w.id and k.mark = 'replaced' offset 0) as replaced
    from (select p.id, p.session_id, p.role, p.speaker, p.said_at, p.arrival as place, p.text
          from ops.pending_turns p
          where p.tenant_id = (select %(tenant)s::text) and p.subject_id = %(subject)s::text
            and not exists (select from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = p.id offset 0)
          union all
          select t.id, t.session_id, t.role, t.speaker, t.said_at, t.turn_index, t.text
          from (select session_id from ops.queue
                where tenant_id = (select %(tenant)s::text) and subject_id = %(subject)s::text
                order by last_at desc, session_id limit %(sessions)s::int) q
          cross join lateral (
              select id, session_id, role, speaker, said_at, turn_index, text from log.turns t
              where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
                and t.session_id = q.session_id
              order by t.said_at desc, t.turn_index desc, t.id desc limit %(most)s::int) t
          where not exists (select from memory.items i
                            where i.tenant_id = (select %(tenant)s::text) and i.subject_id = %(subject)s::text
                              and i.item_id = t.id offset 0)) w
    where w.text <> '' and w.id < %(horizon)s::uuid
      and (%(among)s::uuid[] is null or w.id = any(%(among)s::uuid[]))
      and not exists (select from memory.marks k
                      where k.tenant_id = (select %(tenant)s::text) and k.subject_id = %(subject)s::text
                        and k.item_id = w.id and k.mark not in ('pinned', 'replaced') offset 0)
    order by w.said_at desc, w.place desc, w.id desc
    limit %(most)s::int
),
subject as materialized (
    select coalesce(sum(items), 0)::float8 as items, coalesce(sum(terms), 0)::float8 as terms,
           coalesce(max(speakers), '{}') as speakers
    from memory.subjects s
    where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s::text
),
query as materialized (  -- as in `search`
    select tsvector_to_array(case when length(w.words) > 0 then w.words else w.asked end) as words
    from subject s
    cross join lateral (
        select asked, ts_delete(asked, tsvector_to_array(
                   to_tsvector(%(language)s::regconfig, array_to_string(s.speakers, ' ')))) as words
        from to_tsvector(%(language)s::regconfig, %(question)s) as asked offset 0) w
),
known as materialized (
    select array(select (select count(*) from memory.terms l cross join lateral unnest(l.item_ids) as p (item_id)
                         where l.tenant_id = (select %(tenant)s::text) and l.subject_id = %(subject)s::text
                           and l.term = q.words[place] and p.item_id < %(horizon)s::uuid)::float8
                 from query q cross join lateral generate_subscripts(q.words, 1) as place order by place) as dfs
)
select w.id, w.session_id, w.role, w.speaker, w.said_at, w.text,
       b.id, b.role, b.speaker, b.said_at, b.text,
       -(e.vec <#> %(vector)s::halfvec) as similarity,
       v.words, v.counts, v.length,
       case when w.latest then (select words from query) end, case when w.latest then (select dfs from known) end,
       case when w.latest then (select items from subject) end, case when w.latest then (select terms from subject) end,
       w.replaced
from (select *, row_number() over (order by said_at desc, place desc, id desc) = 1 as latest,
             lag(id) over said as before_id,
             case when w.speaker is null then w.text else w.speaker || ': ' || w.text end as said
      from waiting w
      window said as (partition by session_id order by said_at, place, id)) w
cross join lateral (
    select array_agg(u.lexeme) filter (where u.lexeme = any(q.words)) as words,
           array_agg(cardinality(u.positions)) filter (where u.lexeme = any(q.words)) as counts,
           coalesce(sum(cardinality(u.positions)), 0)::float8 as length
    from (select (select words from query) as words offset 0) q
    left join lateral unnest(to_tsvector((select %(language)s::regconfig), left(w.said, 100000))) u on true) v
left join lateral (
    select vec from ops.embeddings e
    where e.tenant_id = (select %(tenant)s::text) and e.model = %(model)s::text
      and e.content_hash = sha256(convert_to(w.said, 'UTF8')) offset 0) e on true
left join lateral (
    select id, role, speaker, said_at, text from waiting o where o.id = w.before_id and not o.replaced
    union all
    select id, role, speaker, said_at, text
    from (select id, role, speaker, said_at, text from log.turns t
          where w.before_id is null and t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
            and t.session_id = w.session_id and t.said_at <= w.said_at and t.id <> w.id
          order by t.said_at desc, t.turn_index desc, t.id desc limit 1) t
    where not exists (
        select from memory.marks k
        where k.tenant_id = (select %(tenant)s::text) and k.subject_id = %(subject)s::text and k.item_id = t.id
          and k.mark <> 'pinned' offset 0)) b on right(b.text, 1) = '?'
order by w.said_at desc, w.place desc, w.id desc
