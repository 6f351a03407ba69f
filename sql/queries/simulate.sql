-- name: has_log
-- Whether a tenant's log has turns or events.
select 1 where exists (select from log.turns where tenant_id = %(tenant)s)
            or exists (select from log.events where tenant_id = %(tenant)s)

-- name: week
-- Mean and maximum of active memories per subject.
select coalesce(round(avg(number), 2), 0)::float8, coalesce(max(number), 0)::int
from (select count(m.id) as number
      from log.subjects s
      left join memory.memories m on m.tenant_id = s.tenant_id and m.subject_id = s.subject_id and m.state = 'active'
      where s.tenant_id = %(tenant)s
      group by s.subject_id) counted

-- name: milestones
-- Mean active memories per subject by time since its first turn.
select milestone, round(avg(memories), 2)::float8
from memory.milestones where tenant_id = %(tenant)s
group by milestone order by min(days)

-- name: kinds
-- Active memories by kind.
select kind, count(*)::int from memory.memories where tenant_id = %(tenant)s and state = 'active' group by kind order by kind

-- name: reasons
-- Memories forgotten, by reason.
select reason, count(*)::int from memory.tombstones where tenant_id = %(tenant)s group by reason order by reason

-- name: totals
-- Bytes of the rows of memory, and the cost of models.
select (select coalesce(sum(pg_column_size(m.*)), 0) from memory.memories m where m.tenant_id = %(tenant)s)
     + (select coalesce(sum(pg_column_size(v.*)), 0) from memory.vectors v where v.tenant_id = %(tenant)s)
     + (select coalesce(sum(pg_column_size(i.*)), 0) from memory.items i where i.tenant_id = %(tenant)s)
     + (select coalesce(sum(pg_column_size(t.*)), 0) from memory.terms t where t.tenant_id = %(tenant)s)
     + (select coalesce(sum(pg_column_size(l.*)), 0) from memory.links l where l.tenant_id = %(tenant)s)
     + (select coalesce(sum(pg_column_size(l.*)), 0) from memory.lineage l where l.tenant_id = %(tenant)s),
       (select coalesce(sum(cost_usd), 0)::float8 from ops.runs where tenant_id = %(tenant)s)

-- name: still_told
-- The number of turns about something with an end of which a memory still tells without an end, or past it.
select count(distinct t.id)::int
from unnest(%(subjects)s::text[], %(sources)s::text[]) as x (subject_id, source_id)
join log.turns t on t.tenant_id = %(tenant)s and t.subject_id = x.subject_id and t.source_id = x.source_id
join memory.memories m on m.tenant_id = %(tenant)s and m.turn_id = t.id and m.state = 'active'
    and m.kind not in ('episode', 'summary', 'pattern') and (m.expires_at is null or m.expires_at > %(at)s)
