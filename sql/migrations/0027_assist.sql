-- The state of each subject, as a feed gives it to an estimator, and the versions of it that were noticed.

create view memory.subject_states with (security_invoker = true) as
select s.tenant_id, s.subject_id, s.shard,
       jsonb_build_object(
           'facts', f.facts, 'aims', m.aims, 'rules', m.rules, 'scaffold', e.entries, 'narrative', n.narrative, 'mood', d.mood,
           'tie', t.tie, 'difficult_since', p.opened_at, 'relationship', r.relationship) as state
from memory.subjects s
cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
               'id', f.id, 'category', f.category, 'key', f.key, 'value', f.value, 'speaker', f.speaker, 'confidence', f.confidence,
               'since', f.valid_from, 'memory_id', f.memory_id, 'turn_id', f.turn_id) order by f.importance desc, f.id), '[]') as facts
    from memory.structured_facts f
    where f.tenant_id = s.tenant_id and f.subject_id = s.subject_id and f.valid_to is null
      and not exists (select from memory.marks k
                      where k.tenant_id = s.tenant_id and k.subject_id = s.subject_id and k.mark <> 'pinned'
                        and k.item_id in (f.memory_id, f.turn_id))) f
cross join lateral (
    select coalesce(jsonb_agg(m.said order by m.happened_at desc, m.id) filter (where m.is_aim), '[]') as aims,
           coalesce(jsonb_agg(m.said order by m.happened_at desc, m.id)
                    filter (where not m.is_aim and m.kind in ('preference', 'instruction')), '[]') as rules
    from (select m.id, m.kind, m.happened_at,
                 coalesce(m.phase = 'planned', false) or coalesce(m.relation in ('wants', 'plans', 'deadline', 'works_on'), false) as is_aim,
                 jsonb_build_object('id', m.id, 'kind', m.kind, 'content', m.content, 'polarity', m.polarity, 'since', m.happened_at,
                                    'expires_at', m.expires_at, 'turn_id', m.turn_id) as said
          from memory.memories m
          where m.tenant_id = s.tenant_id and m.subject_id = s.subject_id and m.state = 'active'
            and m.kind in ('fact', 'preference', 'instruction')
            and not exists (select from memory.marks k
                            where k.tenant_id = s.tenant_id and k.subject_id = s.subject_id and k.item_id = m.id
                              and k.mark <> 'pinned')) m) m
cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object(
               'id', e.id, 'connection_id', nullif(e.connection_id, ''), 'path', to_jsonb(e.path), 'value', e.value,
               'confidence', e.confidence, 'basis', e.basis, 'since', e.valid_from, 'sources', to_jsonb(e.sources))
               order by e.connection_id, e.path), '[]') as entries
    from memory.scaffold e
    where e.tenant_id = s.tenant_id and e.subject_id = s.subject_id and e.state = 'active' and e.value is not null
      and not e.sources && array(select k.item_id from memory.marks k
                                 where k.tenant_id = s.tenant_id and k.subject_id = s.subject_id and k.mark <> 'pinned')) e
left join lateral (
    select jsonb_build_object('id', n.id, 'text', n.narrative, 'told_until', n.told_until) as narrative
    from memory.profiles n
    where n.tenant_id = s.tenant_id and n.subject_id = s.subject_id and n.replaced_at is null
      and not exists (select from memory.tombstones t
                      where t.tenant_id = n.tenant_id and t.subject_id = n.subject_id and t.forgotten_at > n.made_at
                        and t.reason in ('wrong', 'forgotten_on_request'))
      and not exists (select from memory.marks k
                      where k.tenant_id = n.tenant_id and k.subject_id = n.subject_id and k.pending and k.mark <> 'pinned')) n on true
left join lateral (
    select jsonb_build_object('turn_id', d.turn_id, 'mood', d.mood, 'energy', d.energy, 'said_at', d.said_at) as mood
    from memory.moods d
    where d.tenant_id = s.tenant_id and d.subject_id = s.subject_id
    order by d.said_at desc, d.turn_id desc
    limit 1) d on true
left join lateral (
    select jsonb_build_object('strength', t.strength, 'churn_risk', t.churn_risk, 'day', t.day, 'why', t.why) as tie
    from memory.ties t
    where t.tenant_id = s.tenant_id and t.subject_id = s.subject_id) t on true
left join lateral (
    select p.opened_at from memory.periods p
    where p.tenant_id = s.tenant_id and p.subject_id = s.subject_id and p.closed_at is null
    order by p.opened_at desc
    limit 1) p on true
left join lateral (
    select jsonb_build_object('stage', r.stage, 'since', r.since, 'sessions', r.sessions) as relationship
    from memory.relationships r
    where r.tenant_id = s.tenant_id and r.subject_id = s.subject_id
    order by r.since desc
    limit 1) r on true;
comment on view memory.subject_states is 'What is in force of each subject now, as one JSON object: for the feed of states.';
comment on column memory.subject_states.state is 'facts, aims, rules and scaffold, each with its ids; narrative, mood, tie, difficult_since, relationship.';

create table ops.state_versions (
    tenant_id text not null,
    id uuid not null,
    subject_id text,
    version int not null default 1,
    position bigint not null,
    hash bytea,
    changed_at timestamptz not null,
    primary key (tenant_id, id)
);
create unique index state_versions_by_subject on ops.state_versions (tenant_id, subject_id) where subject_id is not null;
create index state_versions_by_position on ops.state_versions (tenant_id, position);
alter table ops.state_versions alter column hash set statistics 0;
comment on table ops.state_versions is 'The version of each subject''s state that readers of the feed were last given. No content.';
comment on column ops.state_versions.id is 'Random id, by which a reader recognises a subject that was erased.';
comment on column ops.state_versions.subject_id is 'Of whom it is; null: of somebody who was erased.';
comment on column ops.state_versions.version is 'Counts the changes that were noticed, from 1.';
comment on column ops.state_versions.position is 'Place in the feed: the next of the tenant whenever a change is noticed.';
comment on column ops.state_versions.hash is 'Tells the state apart from another; null: nothing is told, since the subject was erased or recall is off for it.';
comment on column ops.state_versions.changed_at is 'When the change was noticed, by the clock.';
grant select (tenant_id, id, subject_id, version, position, changed_at) on ops.state_versions to reverie_analyst;
