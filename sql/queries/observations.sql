-- name: add_events
-- Add events to the log, once. Returns for each its id, its time and its outcome: added, repeated, in conflict, raced if
-- another request was faster, or refused (capture_off, erased). Events are known by source_id; if one is in conflict,
-- nothing is written.
with given as materialized (
    select g.* from unnest(%(ids)s::uuid[], %(sources)s::text[], %(types)s::text[], %(keys)s::text[],
                           %(contents)s::text[], %(times)s::timestamptz[], %(hashes)s::bytea[])
        with ordinality as g (id, source_id, type, key, content, observed_at, content_hash, place)
),
known as materialized (
    select g.place, e.id, e.observed_at, e.content_hash = g.content_hash and (e.id = g.id or not %(timed)s::boolean) as same
    from given g
    join log.events e on e.tenant_id = (select %(tenant)s::text) and e.subject_id = %(subject)s::text
        and e.source_id = g.source_id
),
refused as materialized (
    select g.place, case when ops.is_erased('event', array[%(subject)s::text, g.source_id]) then 'erased' else 'capture_off' end as reason
    from given g
    where exists (select from ops.consents c
                  where c.tenant_id = (select %(tenant)s::text) and c.subject_id = %(subject)s::text and not c.capture)
       or exists (select from ops.erased e where e.tenant_id = (select %(tenant)s::text) offset 0)
          and ops.is_erased('event', array[%(subject)s::text, g.source_id])
),
added as (
    insert into log.events (tenant_id, id, subject_id, session_id, source_id, type, channel, connection_id, key, content,
                            hint, metadata, observed_at, content_hash)
    select %(tenant)s, g.id, %(subject)s, %(session)s, g.source_id, g.type, %(channel)s, %(connection)s, g.key, g.content,
           %(hint)s, %(metadata)s::jsonb, g.observed_at, g.content_hash
    from given g
    where g.place not in (select place from known) and not exists (select from known where not same)
      and g.place not in (select place from refused)
    order by g.place
    on conflict do nothing
    returning id
)
select case when k.same then 'repeated' when k.place is not null then 'conflict' when r.place is not null then r.reason
            when g.id in (select id from added) then 'added' else 'raced' end,
       coalesce(k.id, g.id), coalesce(k.observed_at, g.observed_at)
from given g
left join known k using (place)
left join refused r using (place)
order by g.place
