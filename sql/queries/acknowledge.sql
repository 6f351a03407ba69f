-- name: refused
-- Whether any of these turns of a session is refused: its subject is not captured, or it or the tenant was erased.
select not exists (select from ops.tenants t where t.tenant_id = %(tenant)s)
    or exists (select from ops.consents c where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s and not c.capture)
    or exists (select from unnest(%(sources)s::text[]) as x (source_id)
               where ops.is_erased('turn', array[%(subject)s::text, %(session)s::text, x.source_id]))

-- name: forget_vectors
-- Delete the vectors of refused texts.
delete from ops.embeddings where tenant_id = %(tenant)s and content_hash = any(%(hashes)s)

-- name: acknowledge
-- Add turns of one session to the buffer, once. Returns for each its outcome (added, repeated, conflict, or the reason
-- of refusal: capture_off, erased, which turns of an erased tenant are too), its id, event time and mood. A turn is
-- known by its source_id, in the buffer or the log; its time is compared only if the caller set it. If any turn is in
-- conflict, nothing is written. If another request stored one of them meanwhile, the unique key makes the statement
-- fail, and nothing is written either. An expired entry is opened anew. A mood continues that of its author; a turn with
-- the subject's name, or without a speaker, is the subject's. The tenant is a sub-select: as a constant that the
-- statistics do not know yet, it makes every index look as good as the right one.
with given as materialized (
    select g.*, case when lower(g.speaker) = lower(%(subject)s::text) then null else g.speaker end as author
    from unnest(%(ids)s::uuid[], %(sources)s::text[], %(indexes)s::int[], %(roles)s::text[], %(speakers)s::text[],
                %(times)s::timestamptz[], %(timed)s::boolean[], %(texts)s::text[], %(tool_calls)s::text[],
                %(metadata)s::text[], %(hashes)s::bytea[], %(moods)s::text[], %(inherits)s::boolean[],
                %(crises)s::boolean[], %(stated)s::text[], %(candidates)s::text[])
        with ordinality as g (id, source_id, turn_index, role, speaker, said_at, timed, text, tool_calls, metadata,
                              content_hash, mood, inherits, crisis, stated, candidates, place)
),
known as materialized (
    select g.place, k.id, k.said_at, k.mood,
           (k.role, k.speaker, k.text, k.tool_calls) is not distinct from (g.role, g.speaker, g.text, g.tool_calls::jsonb)
           and (k.said_at = g.said_at or not g.timed) as same
    from given g
    cross join lateral (
        select p.id, p.role, p.speaker, p.said_at, p.text, p.tool_calls, p.mood from ops.pending_turns p
        where p.tenant_id = (select %(tenant)s::text) and p.subject_id = %(subject)s::text
          and p.session_id = %(session)s::text and p.source_id = g.source_id
        union all
        select t.id, t.role, t.speaker, t.said_at, t.text, t.tool_calls,
               (select to_jsonb(m) from log.moods m where m.tenant_id = t.tenant_id and m.turn_id = t.id)
        from log.turns t
        where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
          and t.session_id = %(session)s::text and t.source_id = g.source_id
        limit 1) k
),
refused as materialized (
    select g.place, case when ops.is_erased('turn', array[%(subject)s::text, %(session)s::text, g.source_id])
                              or not exists (select from ops.tenants t where t.tenant_id = (select %(tenant)s::text))
                         then 'erased' else 'capture_off' end as reason
    from given g
    where g.place not in (select place from known)
      and (not exists (select from ops.tenants t where t.tenant_id = (select %(tenant)s::text))
           or exists (select from ops.consents c
                   where c.tenant_id = (select %(tenant)s::text) and c.subject_id = %(subject)s::text and not c.capture)
           or exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0)
              and ops.is_erased('turn', array[%(subject)s::text, %(session)s::text, g.source_id]))
),
before as (
    select s.mood from ops.sessions s
    where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s::text
      and s.session_id = %(session)s::text and s.expires_at > %(as_of)s::timestamptz
),
new as materialized (
    select g.*, case when g.inherits then coalesce((select jsonb_set(b.mood - 'speaker', '{method}', '"previous"')
                                                    from before b
                                                    where b.mood ->> 'speaker' is not distinct from g.author),
                                                   g.mood::jsonb)
                     else g.mood::jsonb end as told
    from given g
    where g.place not in (select place from known) and not exists (select from known where not same)
      and g.place not in (select place from refused)
),
session as (
    insert into ops.sessions as s (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at,
                                   waiting_since, flush_at, mood, stated)
    select %(tenant)s, %(subject)s, %(session)s, %(as_of)s, min(n.said_at), %(as_of)s, %(as_of)s + %(ttl)s::interval,
           %(as_of)s, %(as_of)s + least(%(idle)s::interval, %(max_wait)s::interval),
           (array_agg(n.told || jsonb_build_object('speaker', n.author) order by n.place desc)
            filter (where n.told is not null))[1],
           (select coalesce(jsonb_agg(jsonb_build_object('turn_id', a.id, 'text', t.text) order by a.place, t.place), '[]')
            from new a cross join lateral jsonb_array_elements_text(a.stated::jsonb) with ordinality as t (text, place))
    from new n
    having count(*) > 0
    on conflict (tenant_id, subject_id, session_id) do update
    set opened_at = case when s.expires_at <= excluded.touched_at then excluded.opened_at else s.opened_at end,
        since = case when s.expires_at <= excluded.touched_at then excluded.since else least(s.since, excluded.since) end,
        touched_at = greatest(s.touched_at, excluded.touched_at),
        expires_at = greatest(s.expires_at, excluded.expires_at),
        waiting_since = coalesce(s.waiting_since, excluded.waiting_since),
        flush_at = least(coalesce(s.waiting_since, excluded.waiting_since) + %(max_wait)s::interval,
                         greatest(s.touched_at, excluded.touched_at) + %(idle)s::interval),
        closing = false,
        mood = coalesce(excluded.mood, case when s.expires_at > excluded.touched_at then s.mood end),
        preferences = case when s.expires_at <= excluded.touched_at then '[]' else s.preferences end,
        stated = case when s.expires_at <= excluded.touched_at then excluded.stated
                      when excluded.stated = '[]' then s.stated
                      else (select jsonb_agg(x.entry order by x.place)
                            from (select entry, place
                                  from jsonb_array_elements(s.stated || excluded.stated) with ordinality as e (entry, place)
                                  order by place desc limit 100) x) end,
        confirmations = case when s.expires_at <= excluded.touched_at then '[]' else s.confirmations end,
        tool_results = case when s.expires_at <= excluded.touched_at then '[]' else s.tool_results end
    returning s.flush_at
),
added as (
    insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, turn_index, role, speaker, said_at,
                                   text, tool_calls, metadata, content_hash, mood, candidates)
    select %(tenant)s, %(subject)s, %(session)s, n.source_id, n.id, n.turn_index, n.role, n.speaker, n.said_at, n.text,
           n.tool_calls::jsonb, n.metadata::jsonb, n.content_hash, n.told, n.candidates::jsonb
    from new n
    where exists (select from session)  -- its row is locked first: a flush sees both or neither
    order by n.place
    returning source_id
),
flagged as (
    insert into ops.reviews (tenant_id, turn_id, subject_id, session_id, reason, flagged_at)
    select %(tenant)s, n.id, %(subject)s, %(session)s, 'crisis', %(as_of)s
    from new n where n.crisis and n.source_id in (select source_id from added)
    on conflict do nothing
)
select case when k.same then 'repeated' when k.place is not null then 'conflict' when r.place is not null then r.reason
            else 'added' end,
       coalesce(k.id, g.id), coalesce(k.said_at, g.said_at), coalesce(n.told, k.mood),
       (select flush_at from session)
from given g
left join known k using (place)
left join new n using (place)
left join refused r using (place)
order by g.place

-- name: near
-- For each new candidate, find the nearest, above the threshold at which merge combines them, of the subject's most recent
-- memories of its kind and of other candidates: those of turns that wait for the flush, and those that wait to be embedded.
-- The vectors go to the cache, so that nothing is embedded again: those of candidates, and those of turns, which have no
-- kind and by which recall finds them from now on.
with given as materialized (
    select g.* from unnest(%(ids)s::uuid[], %(kinds)s::text[], %(vectors)s::halfvec[], %(hashes)s::bytea[])
        with ordinality as g (id, kind, vec, content_hash, place)
),
cached as (
    insert into ops.embeddings (tenant_id, model, content_hash, vec)
    select distinct on (g.content_hash) %(tenant)s, %(model)s, g.content_hash, g.vec from given g order by g.content_hash
    on conflict do nothing
),
recent as materialized (
    select m.id, m.kind, v.vec
    from (select m.id, m.kind, m.state, m.content_hash from memory.memories m
          where m.tenant_id = (select %(tenant)s::text) and m.subject_id = %(subject)s::text
            and m.kind = any(%(merged)s::text[]) and m.state in ('active', 'candidate')
          order by m.happened_at desc, m.id desc limit %(recent)s::int) m
    cross join lateral (
        select vec from memory.vectors v
        where v.tenant_id = (select %(tenant)s::text) and v.subject_id = %(subject)s::text
          and v.model = %(model)s::text and v.item_id = m.id and v.part = 0
        union all
        select vec from ops.embeddings e
        where m.state = 'candidate' and e.tenant_id = (select %(tenant)s::text) and e.model = %(model)s::text
          and e.content_hash = m.content_hash
        limit 1) v
    union all
    select p.id, p.kind, e.vec
    from (select c.id, c.kind, c.hash from ops.pending_turns p
          cross join lateral jsonb_to_recordset(p.candidates) as c (id uuid, kind text, hash text)
          where p.tenant_id = (select %(tenant)s::text) and p.subject_id = %(subject)s::text
            and c.kind = any(%(merged)s::text[])
          order by p.arrival desc limit %(recent)s::int) p
    cross join lateral (
        select vec from ops.embeddings e
        where e.tenant_id = (select %(tenant)s::text) and e.model = %(model)s::text
          and e.content_hash = decode(p.hash, 'hex') offset 0) e
)
select distinct on (g.place) g.place::int - 1, r.id, 1 - (r.vec <=> g.vec)
from given g
join recent r using (kind)
where 1 - (r.vec <=> g.vec) > %(threshold)s::float8 and r.id <> g.id
order by g.place, r.vec <=> g.vec, r.id
