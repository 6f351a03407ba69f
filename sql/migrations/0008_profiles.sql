-- The profile of a subject: narrative, scaffold, what was learned about connections, and what was worked into them.

create table memory.profiles (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    narrative text not null check (narrative <> ''),
    told_until timestamptz not null,
    made_at timestamptz not null,
    replaced_at timestamptz check (replaced_at >= made_at),
    replaced_by uuid,
    run_id uuid not null,
    policy_hash text not null,
    model text not null,
    prompt_hash bytea not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, id)
);
create unique index profiles_active on memory.profiles (tenant_id, subject_id) where replaced_at is null;
create index profiles_by_subject on memory.profiles (tenant_id, subject_id, made_at);
comment on table memory.profiles is 'What a language model tells of a subject in a few hundred words: one narrative in force, the last ones kept.';
comment on column memory.profiles.id is 'Deterministic UUIDv8 of told_until, subject and what the model was shown.';
comment on column memory.profiles.narrative is 'The subject in prose; without a language model it is made when it is asked for, and stands nowhere.';
comment on column memory.profiles.told_until is 'Event time of the latest observation that it tells of.';
comment on column memory.profiles.made_at is 'Logical time at which it was written.';
comment on column memory.profiles.replaced_at is 'Logical time at which the next one replaced it; null while it is in force.';
comment on column memory.profiles.replaced_by is 'The narrative that replaced it.';
comment on column memory.profiles.model is 'Language model that wrote it.';
comment on column memory.profiles.prompt_hash is 'sha256 of all that the model was told beside the data.';

create table memory.scaffold (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    connection_id text not null default '',
    path text[] not null check (cardinality(path) > 0),
    value jsonb,
    confidence double precision not null check (confidence between 0 and 1),
    basis text not null check (basis in ('inferred', 'autonomous', 'said', 'correction')),
    state text not null check (state in ('replaced', 'outweighed', 'repeated', 'wrong', 'active')),
    valid_from timestamptz not null,
    valid_to timestamptz check (valid_to >= valid_from),
    replaced_by uuid,
    sources uuid[] not null check (cardinality(sources) > 0),
    run_id uuid not null,
    policy_hash text not null,
    model text,
    prompt_hash bytea,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, id),
    check ((state in ('active', 'wrong')) = (replaced_by is null))
);
create index scaffold_by_subject on memory.scaffold (tenant_id, subject_id, state);
comment on table memory.scaffold is 'The schema-free profile, an entry a path of keys, and each value that another one replaced or outweighs.';
comment on column memory.scaffold.id is 'Deterministic UUIDv8 of valid_from, subject, path and what stated it.';
comment on column memory.scaffold.connection_id is 'The tool connection that it was learned about; empty for the subject as such.';
comment on column memory.scaffold.path is 'The keys from the outermost inwards, as whoever stated it spelled them.';
comment on column memory.scaffold.value is 'What holds there; null: that nothing does any more.';
comment on column memory.scaffold.confidence is 'How sure it is, 0 to 1: as the model says, else by its basis.';
comment on column memory.scaffold.basis is 'What it rests on: a correction, what the subject said, an autonomous agent, or an inference.';
comment on column memory.scaffold.state is 'active: in force; replaced: it was; outweighed: never in force, against a better founded one; repeated: said again; wrong: a person said so of what it rests on.';
comment on column memory.scaffold.valid_from is 'Event time from which it holds.';
comment on column memory.scaffold.valid_to is 'Event time at which another replaced it; null unless replaced.';
comment on column memory.scaffold.replaced_by is 'The entry that replaced it, outweighs it or says the same.';
comment on column memory.scaffold.sources is 'Events and memories that it rests on.';
comment on column memory.scaffold.model is 'Language model that stated it; null for rules.';
comment on column memory.scaffold.prompt_hash is 'sha256 of all that the model was told beside the data; null for rules.';

create table memory.synthesized (
    tenant_id text not null,
    item_id uuid not null,
    item text not null check (item in ('event', 'memory')),
    subject_id text not null,
    run_id uuid not null,
    model text,
    primary key (tenant_id, item_id)
);
comment on table memory.synthesized is 'Observations that are worked into the profile, each once; an event without a row is not processed yet.';
comment on column memory.synthesized.item_id is 'The event or memory.';
comment on column memory.synthesized.item is 'What item_id names: event or memory.';
comment on column memory.synthesized.model is 'Language model that it was shown to; null where rules did it alone.';

create table ops.synthesis_failures (
    tenant_id text not null,
    subject_id text not null,
    failed_at timestamptz not null,
    attempts int not null,
    reason text not null,
    primary key (tenant_id, subject_id)
);
comment on table ops.synthesis_failures is 'Subjects of whom a language model gave no usable profile: tried again at the next cycle.';
comment on column ops.synthesis_failures.failed_at is 'Logical time of the last try.';
comment on column ops.synthesis_failures.attempts is 'Tries that failed in a row; after as many as the policy allows rules do it.';
comment on column ops.synthesis_failures.reason is 'Why there was no usable reply, as a code.';

-- What a column means wherever it appears, isolation, grants: as in 0001.
do $$
declare
    c record;
    t regclass;
begin
    foreach t in array array['memory.profiles', 'memory.scaffold', 'memory.synthesized', 'ops.synthesis_failures']::regclass[] loop
        for c in
            select a.attname as of_column, x.meaning
            from (values
                ('tenant_id', 'Whose row it is; row-level security holds every session to one tenant.'),
                ('subject_id', 'Whom or what the tenant remembers things about.'),
                ('shard', 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.'),
                ('run_id', 'Run that wrote the row, in ops.runs.'),
                ('policy_hash', 'Hash of all numbers of the policy in force.')
            ) as x (of_column, meaning)
            join pg_catalog.pg_attribute a on a.attrelid = t and a.attname = x.of_column
        loop
            execute format('comment on column %s.%I is %L', t, c.of_column, c.meaning);
        end loop;
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        execute format('alter table %s alter column tenant_id set statistics 0', t);
        execute format('create policy tenant on %s using (tenant_id = (select current_setting(''reverie.tenant'', true)))', t);
    end loop;
end
$$;
grant select, insert, update, delete on memory.profiles, memory.scaffold, memory.synthesized, ops.synthesis_failures
    to reverie_worker;
grant select on memory.profiles, memory.scaffold, memory.synthesized to reverie_reader;

-- What waits to be worked in: every event, and the memories that the rules or a person made of turns.
create view ops.unsynthesized with (security_invoker = true) as
    select e.tenant_id, e.subject_id, e.shard, 'event' as item, e.id as item_id, e.observed_at as at, e.type, e.channel,
           e.connection_id, e.key, e.content
    from log.events e
    where not exists (select from memory.synthesized s where s.tenant_id = e.tenant_id and s.item_id = e.id)
    union all
    select m.tenant_id, m.subject_id, m.shard, 'memory', m.id, m.happened_at,
           case when m.turn_id is null then 'correction' else m.kind end, 'interactive', null, null, m.content
    from memory.memories m
    where m.kind in ('fact', 'preference', 'instruction') and (m.turn_id is not null or m.origin like 'correction%')
      and not exists (select from memory.synthesized s where s.tenant_id = m.tenant_id and s.item_id = m.id);
comment on view ops.unsynthesized is 'Observations that are not worked into a profile yet: events, and memories made of turns.';
comment on column ops.unsynthesized.tenant_id is 'Whose row it is; row-level security holds every session to one tenant.';
comment on column ops.unsynthesized.subject_id is 'Whom or what the tenant remembers things about.';
comment on column ops.unsynthesized.shard is 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.';
comment on column ops.unsynthesized.item is 'What item_id names: event or memory.';
comment on column ops.unsynthesized.item_id is 'The event or memory.';
comment on column ops.unsynthesized.at is 'Event time.';
comment on column ops.unsynthesized.type is 'Type of the event, or kind of the memory; correction for what a person wrote in place of one.';
comment on column ops.unsynthesized.channel is 'How it came: interactive, autonomous, tool or attachment.';
comment on column ops.unsynthesized.connection_id is 'The tool connection that it holds for, if any.';
comment on column ops.unsynthesized.key is 'The key that it sets, or a file name.';
comment on column ops.unsynthesized.content is 'What was observed, or what is remembered of it.';
grant select on ops.unsynthesized to reverie_worker, reverie_reader;

comment on column ops.runs.stage is 'extract, embed, merge, link, structure, synthesize, compress, score, decay, prune, correct or drain.';
