-- Structured facts of a subject, and the log of assembled contexts.

create table memory.structured_facts (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    speaker text not null default '',
    category text not null check (category in ('identity', 'preference', 'constraint', 'instruction')),
    key text not null check (key <> ''),
    value text not null check (value <> ''),
    confidence double precision not null check (confidence between 0 and 1),
    importance double precision not null check (importance between 0 and 1),
    valid_from timestamptz not null,
    valid_to timestamptz check (valid_to >= valid_from),
    replaced_by uuid,
    memory_id uuid not null,
    turn_id uuid,
    origin text not null,
    run_id uuid not null,
    policy_hash text not null,
    model text,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, id),
    check ((valid_to is null) = (replaced_by is null))
);
create unique index structured_facts_active on memory.structured_facts (tenant_id, subject_id, category, key, speaker)
    where valid_to is null;
create index structured_facts_by_subject on memory.structured_facts (tenant_id, subject_id, category, key);
create index structured_facts_by_memory on memory.structured_facts (tenant_id, memory_id);
create index structured_facts_by_turn on memory.structured_facts (tenant_id, turn_id);
comment on table memory.structured_facts is 'What is known of a subject by key: one value in force a key, each replaced one kept as history.';
comment on column memory.structured_facts.id is 'Deterministic UUIDv8 of valid_from, subject and memory.';
comment on column memory.structured_facts.speaker is 'Of whom it is true, when that is not the subject itself; empty for the subject.';
comment on column memory.structured_facts.category is 'identity, preference, constraint or instruction.';
comment on column memory.structured_facts.key is 'Name of the fact, such as workplace; what follows a colon tells several apart.';
comment on column memory.structured_facts.value is 'What holds, in the third person.';
comment on column memory.structured_facts.confidence is 'How sure the rule is, 0 to 1; a lower one never replaces a higher one.';
comment on column memory.structured_facts.importance is 'How important the rule takes it to be, 0 to 1.';
comment on column memory.structured_facts.valid_from is 'Event time from which it holds: when it was said.';
comment on column memory.structured_facts.valid_to is 'Event time at which another value replaced it; null while it holds.';
comment on column memory.structured_facts.replaced_by is 'The structured fact that replaced it.';
comment on column memory.structured_facts.memory_id is 'The memory that states it; it may be forgotten by now.';
comment on column memory.structured_facts.turn_id is 'The turn in which it was said.';
comment on column memory.structured_facts.origin is 'Rule or method that made it.';
comment on column memory.structured_facts.model is 'Model that found it; null for rules.';

create table log.contexts (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    assembled_at timestamptz not null,
    request_id text check (length(request_id) between 1 and 200),
    form text not null,
    stage text,
    policy_hash text not null,
    tokenizer text not null,
    total_tokens int not null,
    sections jsonb not null,
    item_ids uuid[] not null,
    dropped_ids uuid[] not null,
    recorded_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index contexts_by_subject on log.contexts (tenant_id, subject_id, assembled_at);
comment on table log.contexts is 'Each assembled context: what was put into which section for which request, by id, never by text.';
comment on column log.contexts.id is 'Id of the context, given to who asked.';
comment on column log.contexts.assembled_at is 'Event time: the moment as of which it was assembled.';
comment on column log.contexts.request_id is 'The caller''s id of the request that it was made for.';
comment on column log.contexts.form is 'The seed in whose manner it was laid out, or reverie for our own.';
comment on column log.contexts.stage is 'Stage of the relationship at that time.';
comment on column log.contexts.tokenizer is 'What counted the tokens.';
comment on column log.contexts.total_tokens is 'Tokens of the whole text.';
comment on column log.contexts.sections is 'A row a section: [{name, budget, tokens, items, dropped}]; numbers only.';
comment on column log.contexts.item_ids is 'Memories, turns and structured facts that it holds.';
comment on column log.contexts.dropped_ids is 'Those that were chosen and did not fit.';

-- What a column means wherever it appears, isolation, grants: as in 0001.
do $$
declare
    c record;
    t regclass;
begin
    foreach t in array array['memory.structured_facts', 'log.contexts']::regclass[] loop
        for c in
            select a.attname as of_column, x.meaning
            from (values
                ('tenant_id', 'Whose row it is; row-level security holds every session to one tenant.'),
                ('subject_id', 'Whom or what the tenant remembers things about.'),
                ('shard', 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.'),
                ('run_id', 'Run that wrote the row, in ops.runs.'),
                ('policy_hash', 'Hash of all numbers of the policy in force.'),
                ('recorded_at', 'When the row was written, by the clock; no stage reads it.')
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

grant select, insert, update, delete on memory.structured_facts to reverie_worker;
grant select, insert on log.contexts to reverie_worker;
grant select on memory.structured_facts, log.contexts to reverie_reader;
grant insert on log.contexts to reverie_reader;

comment on column ops.runs.stage is 'extract, embed, merge, link, structure, score, decay, compress or prune.';
