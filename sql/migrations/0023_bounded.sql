-- Bounded memory: how many memories a subject had a day, a week, months and a year after its first turn, defined once.

create view memory.milestones with (security_invoker = true) as
with reached as (
    select s.tenant_id, s.subject_id, m.milestone, m.days, s.first_at + make_interval(days => m.days) as at
    from log.subjects s
    cross join (values ('day 1', 1), ('week 1', 7), ('month 1', 30), ('month 3', 91), ('month 6', 182), ('year 1', 364))
        as m (milestone, days)
    -- a tenant's log has reached a time when something was said, by anybody, on its day or later
    where s.first_at + make_interval(days => m.days) < (
        select max(t.said_at) + interval '1 day' from log.turns t where t.tenant_id = s.tenant_id)
),
lives as (
    -- a pattern or summary tells of a time before the cycle that made it; what was replaced left then, whenever it was forgotten
    select l.tenant_id, l.subject_id, l.memory_id, l.kind, greatest(l.born_at, c.made_at) as born_at,
           least(l.left_at, r.replaced_at) as left_at
    from memory.lives l
    left join lateral (
        select min(s.as_of) as made_at from memory.lineage s
        where s.tenant_id = l.tenant_id and s.memory_id = l.memory_id and s.relation = 'compressed'
          and l.kind in ('pattern', 'summary')) c on true
    left join lateral (
        select min(s.as_of) as replaced_at from memory.lineage s
        where s.tenant_id = l.tenant_id and s.source_id = l.memory_id and s.source = 'memory'
          and s.relation in ('merged', 'compressed') and l.fate <> 'active') r on true
    where l.fate <> 'candidate'
)
select r.tenant_id, r.subject_id, r.milestone, r.days, r.at,
       count(l.memory_id) as memories,
       count(l.memory_id) filter (where l.kind in ('fact', 'preference', 'instruction')) as statements,
       count(l.memory_id) filter (where l.kind = 'episode') as episodes,
       count(l.memory_id) filter (where l.kind in ('pattern', 'summary')) as compressions
from reached r
left join lives l
    on l.tenant_id = r.tenant_id and l.subject_id = r.subject_id and l.born_at < r.at and (l.left_at is null or l.left_at > r.at)
group by r.tenant_id, r.subject_id, r.milestone, r.days, r.at;
comment on view memory.milestones is 'Active memories of each subject at fixed times after its first turn or event; times that its tenant''s log has not reached are missing.';
comment on column memory.milestones.milestone is 'day 1, week 1, month 1, month 3, month 6 or year 1.';
comment on column memory.milestones.days is 'Days since the first turn or event: 1, 7, 30, 91, 182 or 364 (52 weeks).';
comment on column memory.milestones.at is 'The time itself.';
comment on column memory.milestones.memories is 'Memories that were active then, counted as in memory.lives; patterns and summaries from the cycle that made them.';
comment on column memory.milestones.statements is 'Facts, preferences and instructions among them.';
comment on column memory.milestones.episodes is 'Episodes among them.';
comment on column memory.milestones.compressions is 'Patterns and summaries among them.';

grant select (tenant_id, subject_id, milestone, days, at, memories, statements, episodes, compressions)
    on memory.milestones to reverie_analyst;

comment on column memory.tombstones.reason is
    'faded: asked for too seldom; expired: ended by its own time; budget: among the least valuable beyond the policy''s number for a subject; unimportant: below the policy''s threshold from the start; wrong: a person said so; forgotten_on_request: a person did not want it remembered.';
