-- What a memory states, as data: of whom, which relation, which object, and from when to when it holds.
-- An upgrade runs alone, in one transaction, so what would lock a busy table is no concern here.
-- squawk-ignore-file require-concurrent-index-creation, require-concurrent-index-deletion, ban-drop-constraint, constraint-missing-not-valid, adding-not-nullable-field, adding-required-field

alter table memory.memories
    add column who text,
    add column relation text,
    add column topic text,
    add column object text,
    add column phase text,
    add column lasting boolean not null default false,
    add column valid_from timestamptz,
    add column valid_to timestamptz,
    add column superseded_by uuid,
    drop constraint memories_state_check,
    add constraint memories_state_check
        check (state in ('candidate', 'active', 'merged', 'compressed', 'superseded')) not valid,
    add constraint memories_phase_check
        check (phase in ('holds', 'begins', 'adds', 'ends', 'past', 'planned')) not valid,
    add constraint memories_statement_check
        check ((relation is null or object is not null) and (object is null) = (phase is null)) not valid,
    add constraint memories_validity_check
        check (valid_to is null or valid_from <= valid_to) not valid;
alter table memory.memories validate constraint memories_state_check;
alter table memory.memories validate constraint memories_phase_check;
alter table memory.memories validate constraint memories_statement_check;
alter table memory.memories validate constraint memories_validity_check;

create index memories_by_relation on memory.memories (tenant_id, subject_id, relation) where relation is not null;
create index memories_stating on memory.memories (tenant_id, subject_id) where valid_from is not null;
create index memories_undecided on memory.memories (tenant_id, subject_id) where valid_from is not null and not structured;
create index memories_superseded on memory.memories (tenant_id, superseded_by) where superseded_by is not null;
alter table memory.memories alter column object set statistics 0;

comment on column memory.memories.state is
    'candidate: extracted, not yet merged; active; merged or compressed: kept, replaced by into_id; superseded: a later statement ended it.';
comment on column memory.memories.who is 'Of whom it is true, if not of its speaker: sister, friend anna.';
comment on column memory.memories.relation is 'What it states, by a name of the policy''s table of relations; null: nothing that the table names.';
comment on column memory.memories.topic is 'Which of several: the favorite of what, the phone of which kind.';
comment on column memory.memories.object is 'What stands in that relation, as it was said: Bergen, a dog named Rex.';
comment on column memory.memories.phase is
    'holds; begins: it replaces what held before; adds: it stands beside it; ends: it no longer holds; past: it once did; planned.';
comment on column memory.memories.lasting is 'Whether it stays as it is while nothing ends it: its importance does not fade.';
comment on column memory.memories.valid_from is 'Event time from which it holds; null for what states nothing.';
comment on column memory.memories.valid_to is 'Event time from which it no longer holds; null while it does.';
comment on column memory.memories.superseded_by is 'The memory of the statement that ended it.';
comment on column memory.memories.expires_at is 'When it ends by its own time, if it names one; not recalled afterwards, and forgotten some days later.';
comment on column memory.tombstones.reason is
    'faded: asked for too seldom; expired: ended by its own time; unimportant: below the policy''s threshold from the start; wrong: a person said so; forgotten_on_request: a person did not want it remembered.';

create table memory.conflicts (
    tenant_id text not null,
    subject_id text not null,
    memory_id uuid not null,
    other_id uuid not null,
    relation text not null,
    reason text not null,
    since timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, other_id)
);
create index conflicts_by_subject on memory.conflicts (tenant_id, subject_id);
-- two values of a relation may hold at once, and a value may end without another
drop index memory.structured_facts_active;
alter table memory.structured_facts drop constraint structured_facts_check1;
alter table memory.structured_facts
    add constraint structured_facts_replaced_check check (replaced_by is null or valid_to is not null) not valid;
alter table memory.structured_facts validate constraint structured_facts_replaced_check;
comment on table memory.structured_facts is 'What is known of a subject by key, each value from when to when it held.';
comment on column memory.structured_facts.valid_to is 'Event time at which it ended; null while it holds.';
comment on column memory.structured_facts.replaced_by is 'The structured fact that replaced it; null where it ended without another.';

comment on table memory.conflicts is 'Memories that cannot both hold, and of which nothing says which one does: both stay in force.';
comment on column memory.conflicts.memory_id is 'The earlier of the two.';
comment on column memory.conflicts.other_id is 'The later of the two.';
comment on column memory.conflicts.relation is 'The relation in which they differ.';
comment on column memory.conflicts.reason is 'Why it could not be decided, as a code.';
comment on column memory.conflicts.since is 'Event time of the later one.';
