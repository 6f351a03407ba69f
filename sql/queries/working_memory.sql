-- name: read_session
-- The entry of a session that has not ended, with the first turn of its window and the latest ones: those in the log before
-- those in the buffer; and how many turns it has, which are counted only if the window may not hold them all. `until`: only turns up to this time. A turn in both, because it was sent again during a flush, is taken
-- from the log.
with entry as (
    select s.* from ops.sessions s
    where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s::text
      and s.session_id = %(session)s::text and s.expires_at > %(as_of)s::timestamptz
),
waiting as materialized (
    select p.id, p.source_id, p.role, p.speaker, p.said_at, p.text, p.tool_calls, p.arrival as place, true as waits,
           p.said_at >= e.since and p.said_at <= coalesce(%(until)s::timestamptz, 'infinity') as within
    from entry e
    join ops.pending_turns p on p.tenant_id = (select %(tenant)s::text) and p.subject_id = %(subject)s::text
        and p.session_id = %(session)s::text
    where not exists (select from log.turns t where t.tenant_id = (select %(tenant)s::text) and t.id = p.id)
),
latest as (
    select * from (
        select t.id, t.source_id, t.role, t.speaker, t.said_at, t.text, t.tool_calls, t.turn_index::bigint as place,
               false as waits
        from entry e
        cross join lateral (
            select * from log.turns t
            where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
              and t.session_id = %(session)s::text and t.said_at >= e.since
              and t.said_at <= coalesce(%(until)s::timestamptz, 'infinity')
            order by t.said_at desc, t.turn_index desc, t.id desc limit %(turns)s::int) t
        union all
        select id, source_id, role, speaker, said_at, text, tool_calls, place, waits from waiting where within) seen
    order by waits desc, place desc limit %(turns)s::int
),
first as (
    select * from (
        select t.id, t.source_id, t.role, t.speaker, t.said_at, t.text, t.tool_calls, t.turn_index::bigint as place,
               false as waits
        from entry e
        cross join lateral (
            select * from log.turns t
            where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
              and t.session_id = %(session)s::text and t.said_at >= e.since
              and t.said_at <= coalesce(%(until)s::timestamptz, 'infinity')
            order by t.said_at, t.turn_index, t.id limit 1) t
        union all
        select id, source_id, role, speaker, said_at, text, tool_calls, place, waits from waiting where within) seen
    order by waits, place limit 1
)
select e.opened_at, e.touched_at, e.expires_at, e.flush_at, e.mood - 'speaker', e.preferences, e.confirmations, e.tool_results, e.stated,
       (select row_to_json(f)::text from first f),
       (select json_agg(row_to_json(l) order by l.waits, l.place)::text from latest l),
       (select count(*) from waiting),
       case when (select count(*) from latest) < %(turns)s::int then (select count(*) from latest)
            else (select count(*) from waiting where within)
                 + (select count(*) from log.turns t
                    where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s::text
                      and t.session_id = %(session)s::text and t.said_at >= e.since
                      and t.said_at <= coalesce(%(until)s::timestamptz, 'infinity')) end,
       array(select k.item_id from memory.marks k
             where k.tenant_id = (select %(tenant)s::text) and k.subject_id = %(subject)s::text and k.item = 'turn')
from entry e

-- name: update_session
-- Write the caller's lists of a session: each given list replaces the previous one. Opens the entry if there is none, and
-- anew if it has ended; one that is closing opens again. Lists with entries are not written for a subject that is not captured.
insert into ops.sessions as s (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at, preferences,
                               confirmations, tool_results)
select %(tenant)s, %(subject)s, %(session)s, %(as_of)s, %(as_of)s, %(as_of)s, %(as_of)s + %(ttl)s::interval,
       coalesce(%(preferences)s::jsonb, '[]'), coalesce(%(confirmations)s::jsonb, '[]'),
       coalesce(%(tool_results)s::jsonb, '[]')
where %(is_empty)s or not exists (select from ops.consents c
                                  where c.tenant_id = %(tenant)s and c.subject_id = %(subject)s and not c.capture)
on conflict (tenant_id, subject_id, session_id) do update
set opened_at = case when s.expires_at <= excluded.touched_at then excluded.opened_at else s.opened_at end,
    since = case when s.expires_at <= excluded.touched_at then excluded.since else s.since end,
    touched_at = greatest(s.touched_at, excluded.touched_at),
    expires_at = greatest(s.expires_at, excluded.expires_at),
    closing = false,
    mood = case when s.expires_at > excluded.touched_at then s.mood end,
    stated = case when s.expires_at > excluded.touched_at then s.stated else '[]' end,
    preferences = coalesce(%(preferences)s::jsonb, case when s.expires_at > excluded.touched_at then s.preferences end, '[]'),
    confirmations = coalesce(%(confirmations)s::jsonb,
                             case when s.expires_at > excluded.touched_at then s.confirmations end, '[]'),
    tool_results = coalesce(%(tool_results)s::jsonb,
                            case when s.expires_at > excluded.touched_at then s.tool_results end, '[]')
returning true

-- name: close_session
-- Close a session: its turns are due at once, and with them the entry ends.
update ops.sessions s set closing = true, flush_at = %(as_of)s
where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s::text and s.session_id = %(session)s::text
returning (select count(*) from ops.pending_turns p
           where p.tenant_id = s.tenant_id and p.subject_id = s.subject_id and p.session_id = s.session_id)
