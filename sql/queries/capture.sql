-- name: lock_sessions
-- Allow one writer per session at a time, so that turns are numbered without gaps. 64 locks per tenant, taken in order,
-- because a batch may have more sessions than the lock table has room for.
select pg_advisory_xact_lock(hashtextextended('sessions/' || %(tenant)s, 0) + slot)
from (select distinct hashtextextended(session, 0) & 63 as slot from unnest(%(sessions)s::text[]) as session order by 1) s

-- name: make_incoming
-- A temporary table for COPY, which row-level security keeps off the log itself. It exists as long as the connection.
create temp table if not exists incoming_turns (
    place int, id uuid, subject_id text, session_id text, source_id text, turn_index int, role text, speaker text,
    said_at timestamptz, text text, tool_calls text, metadata text, content_hash bytea
) on commit delete rows

-- name: copy_incoming
-- Copy rows into the table of `make_incoming`.
copy incoming_turns from stdin (format binary)

-- name: add_turns
-- Add incoming turns to the log, once. Returns how many were new, the places of those whose source_id has other content, and
-- the places of refused ones: the erased, and those of subjects that are not captured.
-- Known turns are probed by primary key, because a probe by session would read long sessions over and over; the same
-- source_id at another time has another id, and the unique constraint finds it. No joins: without statistics on the
-- temporary table they become nested loops. The tenant is a sub-select: as a constant that the statistics do not know yet,
-- it makes every index look as good as the right one (measured: 39 s instead of 0.4 for 10,000 turns).
-- A turn without an index is numbered after its session's last.
with refusing as materialized (
    select exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0) as erasures
), incoming as materialized (
    select i.*,
           case when (select erasures from refusing)
                then ops.is_erased('turn', array[i.subject_id, i.session_id, i.source_id]) else false end as erased,
           i.subject_id in (select c.subject_id from ops.consents c
                            where c.tenant_id = (select %(tenant)s::text) and not c.capture) as uncaptured,
           row_number() over same_turn as nth,
           first_value(i.id) over same_turn as first_id,
           first_value(i.content_hash) over same_turn as first_hash,
           (select t.content_hash from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = i.id) as kept_hash
    from incoming_turns i
    window same_turn as (partition by i.subject_id, i.session_id, i.source_id order by i.place)
), new as (
    select incoming.*,
           row_number() over (partition by subject_id, session_id order by place) as nth_of_session,
           row_number() over (partition by subject_id, session_id, turn_index is null order by place) as nth_to_count
    from incoming
    where kept_hash is null and nth = 1 and not erased and not uncaptured
), counted as (
    select new.*,
           max(greatest(turn_index, case when nth_of_session = 1 then (
               select max(t.turn_index) from log.turns t
               where t.tenant_id = (select %(tenant)s::text) and t.subject_id = new.subject_id
                 and t.session_id = new.session_id
           ) end)) over (partition by subject_id, session_id) as last_index
    from new
), added as (
    insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at, text,
                           tool_calls, metadata, content_hash)
    select %(tenant)s, id, subject_id, session_id, source_id,
           coalesce(turn_index, coalesce(last_index, -1) + nth_to_count),
           role, speaker, said_at, text, tool_calls::jsonb, metadata::jsonb, content_hash
    from counted
    order by place
    on conflict do nothing
    returning id
)
select (select count(*) from added),
       array(select place from incoming
             where case when uncaptured then false when kept_hash is not null then kept_hash <> content_hash when erased then false
                        else first_hash <> content_hash or first_id not in (select id from added) end
             order by place),
       array(select place from incoming where kept_hash is null and erased order by place),
       array(select place from incoming
             where uncaptured and (kept_hash is null and not erased or kept_hash <> content_hash)
             order by place)

-- name: uncaptured
-- The subjects that are not captured.
select c.subject_id from ops.consents c where c.tenant_id = %(tenant)s and not c.capture

-- name: other_texts
-- The places of turns that need another source_id: the one under which the same turn is in their session, or null if
-- another text has theirs. The same turn has the same time, by which the index finds it.
select i.place - 1, same.source_id
from unnest(%(subjects)s::text[], %(sessions)s::text[], %(sources)s::text[], %(roles)s::text[], %(texts)s::text[],
            %(times)s::timestamptz[], %(hashes)s::bytea[])
     with ordinality as i (subject_id, session_id, source_id, role, text, said_at, content_hash, place)
left join lateral (
    select (t.role, t.text) <> (i.role, i.text) as is_other, t.content_hash
    from log.turns t
    where t.tenant_id = (select %(tenant)s::text) and t.subject_id = i.subject_id and t.session_id = i.session_id
      and t.source_id = i.source_id
    limit 1
) there on true
left join lateral (
    select t.source_id
    from log.turns t
    where t.tenant_id = (select %(tenant)s::text) and t.subject_id = i.subject_id and t.session_id = i.session_id
      and t.said_at = i.said_at and t.content_hash = i.content_hash
    order by t.source_id
    limit 1
) same on true
where there.content_hash is distinct from i.content_hash and (same.source_id is not null or there.is_other)
order by i.place

-- name: in_other_sessions
-- The places of turns that the log has in another session but not in their own, or that were erased in the other one.
with refusing as materialized (
    select exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0) as erasures
)
select i.place - 1
from unnest(%(ids)s::uuid[], %(others)s::uuid[], %(subjects)s::text[], %(sessions)s::text[], %(sources)s::text[])
     with ordinality as i (id, other_id, subject_id, session_id, source_id, place)
where not exists (select from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = i.id offset 0)
  and (exists (select from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = i.other_id offset 0)
       or case when (select erasures from refusing)
          then ops.is_erased('turn', array[i.subject_id, i.session_id, i.source_id]) end)
order by i.place

-- name: add_outcomes
-- Add outcomes to the log, once. Returns how many were new, the places of those that contradict another of the same
-- measurement, and the places of refused ones: the decision was erased, or the subject is not captured. Subjects are noted
-- as late if their cycles have passed the time of an outcome that concerns a memory.
with refusing as materialized (
    select exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0) as erasures
), incoming as materialized (
    select i.*,
           case when (select erasures from refusing)
                then ops.is_erased('turn', array[i.subject_id, i.session_id, i.source_id]) else false end as erased,
           i.subject_id in (select c.subject_id from ops.consents c
                            where c.tenant_id = (select %(tenant)s::text) and not c.capture) as uncaptured,
           row_number() over same as nth, first_value(i.value) over same as first_value,
           first_value(i.positive) over same as first_positive,
           o.value as kept_value, o.positive as kept_positive
    from unnest(%(ids)s::uuid[], %(subjects)s::text[], %(sessions)s::text[], %(sources)s::text[], %(metrics)s::text[],
                %(values)s::float8[], %(positives)s::bool[], %(times)s::timestamptz[])
         with ordinality as i (id, subject_id, session_id, source_id, metric, value, positive, observed_at, place)
    left join log.outcomes o on o.tenant_id = (select %(tenant)s::text) and o.id = i.id
    window same as (partition by i.id order by i.place)
), added as (
    insert into log.outcomes (tenant_id, id, subject_id, session_id, source_id, metric, value, positive, observed_at)
    select %(tenant)s, id, subject_id, session_id, source_id, metric, value, positive, observed_at
    from incoming
    where kept_value is null and nth = 1 and not erased and not uncaptured
    order by place
    on conflict do nothing
    returning subject_id, session_id, source_id, observed_at
), telling as (
    select array_agg(a.subject_id) as subjects, array_agg(a.observed_at) as times
    from added a
    join log.turns t on t.tenant_id = (select %(tenant)s::text) and t.subject_id = a.subject_id
        and t.session_id = a.session_id and t.source_id = a.source_id
    where exists (select from memory.lineage l
                  where l.tenant_id = (select %(tenant)s::text) and l.source_id = t.id and l.relation = 'extracted')
), late as (
    insert into ops.late_subjects (tenant_id, subject_id, happened_at)
    select %(tenant)s, l.subject_id, l.happened_at
    from telling cross join lateral ops.late_among(%(tenant)s, telling.subjects, telling.times) l
    on conflict (tenant_id, subject_id) do update
    set happened_at = least(ops.late_subjects.happened_at, excluded.happened_at)
)
select (select count(*) from added),
       array(select place - 1 from incoming
             where (coalesce(kept_value, first_value), coalesce(kept_positive, first_positive)) <> (value, positive)
               and not uncaptured and (kept_value is not null or not erased)
             order by place),
       array(select place - 1 from incoming where kept_value is null and erased order by place),
       array(select place - 1 from incoming
             where uncaptured and (kept_value is null and not erased or (kept_value, kept_positive) <> (value, positive))
             order by place)

-- name: note_late_outcomes
-- Note subjects as late if this transaction wrote an outcome that concerns a memory and cycles have passed its time.
with telling as (
    select array_agg(o.subject_id) as subjects, array_agg(o.observed_at) as times
    from log.outcomes o
    join log.turns t on t.tenant_id = o.tenant_id and t.subject_id = o.subject_id and t.session_id = o.session_id
        and t.source_id = o.source_id
    where o.tenant_id = %(tenant)s and o.xmin = pg_current_xact_id()::xid
      and exists (select from memory.lineage l
                  where l.tenant_id = %(tenant)s and l.source_id = t.id and l.relation = 'extracted')
)
insert into ops.late_subjects (tenant_id, subject_id, happened_at)
select %(tenant)s, l.subject_id, l.happened_at
from telling cross join lateral ops.late_among(%(tenant)s, telling.subjects, telling.times) l
on conflict (tenant_id, subject_id) do update set happened_at = least(ops.late_subjects.happened_at, excluded.happened_at)

-- name: add_statements
-- Add statements of another memory system to the log as events, once. Returns how many were new, the places of those whose
-- source_id has other content, and the places of refused ones: the erased, and those of subjects that are not captured.
with refusing as materialized (
    select exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0) as erasures
), incoming as materialized (
    select i.*,
           case when (select erasures from refusing) then ops.is_erased('event', array[i.subject_id, i.source_id]) else false end as erased,
           i.subject_id in (select c.subject_id from ops.consents c
                            where c.tenant_id = (select %(tenant)s::text) and not c.capture) as uncaptured,
           row_number() over same as nth, first_value(i.content_hash) over same as first_hash,
           (select e.content_hash from log.events e
            where e.tenant_id = (select %(tenant)s::text) and e.subject_id = i.subject_id and e.source_id = i.source_id) as kept_hash
    from unnest(%(ids)s::uuid[], %(subjects)s::text[], %(sessions)s::text[], %(sources)s::text[], %(types)s::text[],
                %(contents)s::text[], %(metadata)s::text[], %(times)s::timestamptz[], %(ends)s::timestamptz[], %(hashes)s::bytea[])
         with ordinality as i (id, subject_id, session_id, source_id, type, content, metadata, observed_at, ends_at, content_hash, place)
    window same as (partition by i.subject_id, i.source_id order by i.place)
), added as (
    insert into log.events (tenant_id, id, subject_id, session_id, source_id, type, channel, content, metadata, observed_at,
                            ends_at, content_hash)
    select %(tenant)s, id, subject_id, session_id, source_id, type, 'import', content, metadata::jsonb, observed_at, ends_at,
           content_hash
    from incoming
    where kept_hash is null and nth = 1 and not erased and not uncaptured
    order by place
    on conflict do nothing
    returning 1
)
select (select count(*) from added),
       array(select place - 1 from incoming
             where coalesce(kept_hash, first_hash) <> content_hash and not uncaptured and (kept_hash is not null or not erased)
             order by place),
       array(select place - 1 from incoming where kept_hash is null and erased order by place),
       array(select place - 1 from incoming
             where uncaptured and (kept_hash is null and not erased or kept_hash <> content_hash)
             order by place)
