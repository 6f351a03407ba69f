-- One meaning of each figure: what became of every memory, and who the subjects are, defined once. Health, the funnel, the
-- plots of memory_health, the marts and the API count these rows.

create view memory.lives with (security_invoker = true) as
select m.tenant_id, m.id as memory_id, m.subject_id, m.kind,
       -- a pattern is never a repeat: the newer version of the same pattern took its place
       case when m.state = 'merged' and m.kind = 'pattern' then 'rewritten' else m.state end as fate,
       null::text as reason, m.importance, m.happened_at as born_at,
       -- nothing leaves before it came
       greatest(case when m.state in ('merged', 'compressed') then coalesce(r.replaced_at, m.happened_at)
                     when m.state = 'superseded' then coalesce(m.valid_to, m.happened_at) end,
                case when m.state in ('merged', 'compressed', 'superseded') then m.happened_at end) as left_at
from memory.memories m
-- what replaced a memory may have been replaced since; it left when the first one did
left join (select l.tenant_id, l.source_id, min(l.as_of) as replaced_at
           from memory.lineage l
           where l.source = 'memory' and l.relation in ('merged', 'compressed')
           group by l.tenant_id, l.source_id) r
    on r.tenant_id = m.tenant_id and r.source_id = m.id and m.state in ('merged', 'compressed')
union all
select t.tenant_id, t.memory_id, t.subject_id, t.kind, 'forgotten', t.reason, t.importance, least(b.born_at, t.forgotten_at),
       t.forgotten_at
from memory.tombstones t
-- the id begins with its time in milliseconds
cross join lateral (select to_timestamp(('x' || left(replace(t.memory_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
                           as born_at) b;
comment on view memory.lives is 'Every memory that there is or was, and what became of it. What is counted of memory is counted here.';
comment on column memory.lives.memory_id is 'The memory.';
comment on column memory.lives.kind is 'fact, preference, instruction, episode, summary or pattern.';
comment on column memory.lives.fate is 'candidate: waits for its cycle; active; merged: repeats another memory; rewritten: a pattern that its newer version replaced; compressed: an episode that a pattern or summary replaced; superseded: ended by a later statement; forgotten: only its tombstone is left.';
comment on column memory.lives.reason is 'Why it was forgotten; null unless it was.';
comment on column memory.lives.importance is 'Importance at the last cycle, or when it was forgotten; 0 to 1.';
comment on column memory.lives.born_at is 'Event time: when what it tells was said.';
comment on column memory.lives.left_at is 'When it was replaced or ended (event time) or forgotten (logical time); null while it is active.';

create view log.subjects with (security_invoker = true) as
select tenant_id, subject_id, min(at) as first_at
from (select tenant_id, subject_id, said_at as at from log.turns
      union all
      select tenant_id, subject_id, observed_at from log.events) x
group by tenant_id, subject_id;
comment on view log.subjects is 'Everyone and everything that the log has a turn or an event of.';
comment on column log.subjects.first_at is 'Event time of the first turn or event.';

grant select (tenant_id, memory_id, subject_id, kind, fate, reason, importance, born_at, left_at)
    on memory.lives to reverie_analyst;
grant select (tenant_id, subject_id, first_at) on log.subjects to reverie_analyst;
