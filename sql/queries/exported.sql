-- name: columns
-- The columns of a table to write: all but the tenant's name and generated ones.
select array_agg(a.attname::text order by a.attnum)
from pg_catalog.pg_attribute a
where a.attrelid = %(table)s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attname <> 'tenant_id'

-- name: write
-- Write rows of one table, each once, in the columns that they have. Returns how many are new, how many are refused because they
-- were erased or are not to be captured, the refused turns, the subjects of erased turns and events with the first time, and
-- their subjects and sessions, unless a retention erased them.
with told as materialized (
    select r.value as row, r.place, coalesce(r.value -> 'namespace', jsonb_build_array(r.value -> 'subject_id')) as subjects
    from jsonb_array_elements(%(rows)s::jsonb) with ordinality as r (value, place)
), later as materialized (
    select kind, target from ops.erasures
    where tenant_id = %(tenant)s and erased_at > coalesce(%(exported_at)s::timestamptz, '-infinity')
), gone as materialized (
    -- subjects that were erased as a whole after the export
    select s.subject_id
    from (select distinct jsonb_array_elements_text(subjects) as subject_id from told) s
    where exists (select from later where kind = 'tenant')
       or ops.mark_of('subject', array[s.subject_id]) in (select target from later where kind = 'subject')
), given as materialized (
    select t.row, t.place,
           -- a consent has no content, and one that refuses capture outlives an erasure
           %(table)s <> 'ops.consents' and t.subjects ?| array(select subject_id from gone)
           or case when %(table)s in ('log.turns', 'log.outcomes')
                   then ops.is_erased('turn', array[t.row ->> 'subject_id', t.row ->> 'session_id', t.row ->> 'source_id'])
                   when %(table)s = 'log.events' then ops.is_erased('event', array[t.row ->> 'subject_id', t.row ->> 'source_id'])
                   when %(table)s in ('log.moods', 'ops.reviews') then (t.row ->> 'turn_id')::uuid = any(%(turns)s::uuid[])
                   -- what was asked, corrected and replied after erased words may pass them on
                   when %(table)s in ('log.corrections', 'log.recalls', 'log.contexts', 'ops.replies')
                   then coalesce(t.row ->> 'corrected_at', t.row ->> 'asked_at', t.row ->> 'assembled_at', t.row ->> 'made_at')
                            ::timestamptz >= (%(erased)s::jsonb ->> (t.row ->> 'subject_id'))::timestamptz
                   -- an erasure of a session, or of a turn in it, deleted the items with both labels
                   when %(table)s = 'ops.store_items'
                   then exists (select from jsonb_array_elements(%(sessions)s::jsonb) s where t.subjects @> s)
                        or exists (select from later l
                                   where l.kind = 'session'
                                     and (l.target in (select ops.mark_of('session', array[s])
                                                       from jsonb_array_elements_text(t.subjects) s)
                                          or l.target in (select ops.mark_of('session', array[s, o])
                                                          from jsonb_array_elements_text(t.subjects) s,
                                                               jsonb_array_elements_text(t.subjects) o)))
                   end is true as erased,
           %(table)s in ('log.turns', 'log.outcomes', 'log.events')
           and t.row ->> 'subject_id' in (select c.subject_id from ops.consents c
                                          where c.tenant_id = %(tenant)s and not c.capture) as unwanted
    from told t
), added as (
    insert into {table} (tenant_id, {columns})
    select %(tenant)s, {columns}
    from given g cross join lateral jsonb_populate_record(null::{table}, g.row)
    where not g.erased and not g.unwanted
    order by g.place
    on conflict do nothing
    returning 1
)
select (select count(*) from added), (select count(*) from given where erased or unwanted),
       (select array_agg((row ->> 'id')::uuid) from given where %(table)s = 'log.turns' and (erased or unwanted)),
       (select jsonb_object_agg(s.subject_id, s.since)
        from (select row ->> 'subject_id' as subject_id,
                     min(coalesce(row ->> 'said_at', row ->> 'observed_at')::timestamptz) as since
              from given where %(table)s in ('log.turns', 'log.events') and erased
              group by 1) s),
       (select jsonb_agg(distinct jsonb_build_array(g.row -> 'subject_id', g.row -> 'session_id'))
        from given g
        where %(table)s in ('log.turns', 'log.events') and g.erased and g.row ->> 'session_id' is not null
          and not exists (select from ops.erased e
                          join ops.erasures r on r.tenant_id = e.tenant_id and r.id = e.erasure_id
                          where e.tenant_id = %(tenant)s and r.kind = 'retention'
                            and e.mark = case %(table)s when 'log.turns'
                                         then ops.mark_of('turn', array[g.row ->> 'subject_id', g.row ->> 'session_id',
                                                                        g.row ->> 'source_id'])
                                         else ops.mark_of('event', array[g.row ->> 'subject_id', g.row ->> 'source_id'])
                                         end))
