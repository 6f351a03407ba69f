-- The three schemas' first tables. Every key starts with tenant_id; row-level security is forced on every table.

-- Where a subject lives: 1024 virtual shards, a bucket is a range of them.
create function ops.shard_of(tenant_id text, subject_id text) returns smallint
    language sql immutable strict parallel safe
    return (hashtextextended(tenant_id || '/' || subject_id, 0) & 1023)::smallint;
comment on function ops.shard_of is 'Virtual shard 0..1023 of a subject; buckets are ranges of shards.';

create function ops.entity_id(tenant_id text, subject_id text, mention text) returns uuid
    language sql immutable strict parallel safe
    return md5(tenant_id || chr(31) || subject_id || chr(31) || mention)::uuid;
comment on function ops.entity_id is 'Deterministic id of a subject''s entity, such as pet:bruno.';

-- ---------------------------------------------------------------------------------------------------------- ops
create table ops.tenants (
    tenant_id text primary key check (length(tenant_id) between 1 and 200),
    policy text not null default 'reverie',
    created_at timestamptz not null default now()
);
comment on table ops.tenants is 'Who uses this installation, and by which policy their memory is made.';
comment on column ops.tenants.policy is 'Name of a shipped policy or path of a policy file.';

create table ops.runs (
    tenant_id text not null,
    run_id uuid not null,
    stage text not null,
    as_of timestamptz not null,
    scope jsonb not null default '{}',
    driver text not null,
    policy text not null,
    policy_hash text not null,
    model text,
    status text not null check (status in ('done', 'failed')),
    attempts int not null default 1,
    report jsonb not null default '{}',
    error text,
    model_calls int not null default 0,
    tokens bigint not null default 0,
    cost_usd double precision not null default 0,
    seconds double precision not null default 0,
    finished_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, run_id)
);
create index runs_by_time on ops.runs (tenant_id, as_of, stage);
comment on table ops.runs is 'Run ledger: one row a stage, tenant, scope and logical time; a retry is another attempt of the same run.';
comment on column ops.runs.as_of is 'Logical time of the run; stages know no other time.';
comment on column ops.runs.scope is 'Shard range, month or subjects the run was limited to; ids only.';
comment on column ops.runs.report is 'Counts and discard reasons, flat and numeric; also the orchestrators'' metadata.';
comment on column ops.runs.seconds is 'Wall time spent, over all attempts.';
comment on column ops.runs.cost_usd is 'Price of the run''s model calls in US dollars.';

create table ops.dead_letters (
    tenant_id text not null,
    id uuid not null,
    source text not null,
    line bigint,
    reason text not null,
    detail text not null,
    payload bytea,
    attempts int not null default 1,
    recorded_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
comment on table ops.dead_letters is 'Records that could not be taken in, with file, line and reason; nothing is lost, redrive when mended.';
comment on column ops.dead_letters.source is 'File name the record came from.';
comment on column ops.dead_letters.reason is 'Short code of what was wrong, for counting.';
comment on column ops.dead_letters.detail is 'One sentence: field, what was found, what was expected.';
comment on column ops.dead_letters.payload is 'The record as it came, at most 64 KiB of it.';

create table ops.embeddings (
    tenant_id text not null,
    model text not null,
    content_hash bytea not null,
    vec halfvec not null,
    primary key (tenant_id, model, content_hash)
);
comment on table ops.embeddings is 'Embedding cache by content hash and model; never shared between tenants.';

-- ---------------------------------------------------------------------------------------------------------- log
create table log.turns (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    session_id text not null check (length(session_id) between 1 and 200),
    source_id text not null check (length(source_id) between 1 and 200),
    turn_index int not null,
    role text not null check (role in ('user', 'assistant', 'system', 'tool')),
    speaker text,
    said_at timestamptz not null,
    text text not null,
    tool_calls jsonb,
    metadata jsonb,
    content_hash bytea not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    recorded_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    constraint turns_once unique (tenant_id, subject_id, session_id, source_id)
);
create index turns_by_place on log.turns (tenant_id, subject_id, session_id, turn_index);
create index turns_by_time on log.turns (tenant_id, said_at);
comment on table log.turns is 'Every turn of every conversation, once; append-only.';
comment on column log.turns.id is 'Deterministic UUIDv8 of event time, subject, session and source_id.';
comment on column log.turns.source_id is 'The caller''s id of the turn within its session; a turn sent twice counts once.';
comment on column log.turns.turn_index is 'Position of the turn in its session.';
comment on column log.turns.said_at is 'Event time: when it was said.';
comment on column log.turns.tool_calls is 'Tool calls made in this turn: [{name, arguments, why, result}].';
comment on column log.turns.content_hash is 'sha256 over role, speaker, time, text and tool calls: tells a repeat from a conflict.';

create table log.outcomes (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    session_id text not null,
    source_id text not null,
    metric text not null,
    value double precision not null,
    positive boolean not null,
    observed_at timestamptz not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    recorded_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index outcomes_by_decision on log.outcomes (tenant_id, subject_id, session_id, source_id);
create index outcomes_by_time on log.outcomes (tenant_id, observed_at);
comment on table log.outcomes is 'What came of a decision: a measured value, tied to the turn that decided.';

create table log.recalls (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    asked_at timestamptz not null,
    question text not null,
    policy_hash text not null,
    model text,
    item_ids uuid[] not null,
    dropped int not null,
    primary key (tenant_id, id)
);
create index recalls_by_subject on log.recalls (tenant_id, subject_id, asked_at);
comment on table log.recalls is 'Each question answered and the items given; feeds access counts and evaluation.';

create table log.corrections (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    kind text not null check (kind in ('keep_apart')),
    memory_id uuid not null,
    other_id uuid not null,
    corrected_at timestamptz not null,
    primary key (tenant_id, id)
);
create index corrections_by_subject on log.corrections (tenant_id, subject_id);
comment on table log.corrections is 'What a person said is wrong about memory: keep_apart undoes a merge for good.';

-- ------------------------------------------------------------------------------------------------------- memory
create table memory.subjects (
    tenant_id text not null,
    subject_id text not null,
    items int not null default 0,
    terms bigint not null default 0,
    speakers text[] not null default '{}',
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, subject_id)
);
comment on table memory.subjects is 'Corpus figures of a subject, for exact BM25 in one statement.';
comment on column memory.subjects.items is 'Live searchable items (turns and memories) with terms.';
comment on column memory.subjects.speakers is 'Names of those who speak in the subject''s conversations.';
comment on column memory.subjects.terms is 'Sum of their lengths in terms; terms / items is the average length.';

create table memory.extractions (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    candidates int not null,
    reason text,
    run_id uuid not null,
    primary key (tenant_id, turn_id)
);
comment on table memory.extractions is 'One row a turn: how many candidates it gave, or why none.';
comment on column memory.extractions.reason is 'Why the turn gave nothing (low_content, question, no_rule, ...); null when it gave something.';

create table memory.memories (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    kind text not null check (kind in ('fact', 'preference', 'instruction', 'episode', 'summary', 'pattern')),
    state text not null check (state in ('candidate', 'active', 'merged', 'compressed')),
    content text not null check (content <> ''),
    content_hash bytea not null,
    polarity smallint not null default 0 check (polarity between -1 and 1),
    base real not null check (base between 0 and 1),
    peak real not null check (peak between 0 and 1),
    importance real not null check (importance between 0 and 1),
    access_count int not null default 0 check (access_count >= 0),
    happened_at timestamptz not null,
    accessed_at timestamptz not null,
    decayed_at timestamptz not null,
    forget_at timestamptz,
    expires_at timestamptz,
    into_id uuid,
    mentions text[] not null default '{}',
    linked boolean not null default false,
    scored boolean not null default false,
    turn_id uuid,
    session_id text,
    origin text not null,
    run_id uuid not null,
    policy_hash text not null,
    model text,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, id)
) with (fillfactor = 80);  -- decay rewrites every row: leave room for in-page (HOT) updates
create index memories_by_subject on memory.memories (tenant_id, subject_id, kind);
create index memories_candidates on memory.memories (tenant_id, happened_at) where state = 'candidate';
create index memories_unscored on memory.memories (tenant_id, happened_at) where not scored;
create index memories_to_forget on memory.memories (tenant_id, forget_at);
create index memories_by_survivor on memory.memories (tenant_id, into_id) where into_id is not null;
comment on table memory.memories is 'What is remembered about a subject. No index on what decay changes.';
comment on column memory.memories.id is 'Deterministic UUIDv8 of event time, subject, kind and source.';
comment on column memory.memories.state is 'candidate: extracted, not yet merged; active; merged or compressed: kept, replaced by into_id.';
comment on column memory.memories.polarity is 'Of a preference: 1 likes, -1 dislikes, 0 neither.';
comment on column memory.memories.base is 'Importance when it was extracted.';
comment on column memory.memories.peak is 'Importance when it was last reinforced (at accessed_at); decay counts from there.';
comment on column memory.memories.importance is 'Importance at decayed_at: max(peak - rate * days beyond the grace period, 0).';
comment on column memory.memories.happened_at is 'Event time.';
comment on column memory.memories.accessed_at is 'When it was last said, reinforced or recalled.';
comment on column memory.memories.decayed_at is 'Logical time up to which decay is applied.';
comment on column memory.memories.forget_at is 'When it will be forgotten unless recalled or repeated; null while held by a survivor.';
comment on column memory.memories.into_id is 'The memory that replaced this one.';
comment on column memory.memories.mentions is 'Typed ids (pet:bruno) that the rules saw in it; link makes entities of them.';
comment on column memory.memories.linked is 'Whether link has looked at it.';
comment on column memory.memories.scored is 'Whether score has looked at it.';
comment on column memory.memories.turn_id is 'The turn it was first extracted from; null for summaries and patterns.';
comment on column memory.memories.origin is 'Rule or method that made it.';
comment on column memory.memories.model is 'Model that wrote the content; null for rules.';

create table memory.items (
    tenant_id text not null,
    subject_id text not null,
    item_id uuid not null,
    item text not null check (item in ('turn', 'memory')),
    session_id text,
    happened_at timestamptz not null,
    speaker text,
    role text,
    words int not null,
    asks boolean not null,
    first_person boolean not null,
    names_time boolean not null,
    asked_by uuid,
    primary key (tenant_id, subject_id, item_id)
);
comment on table memory.items is 'What recall can find and what it weighs besides the words: one narrow row a turn or memory.';
comment on column memory.items.session_id is 'Session it was said in; null for what spans sessions.';
comment on column memory.items.role is 'Role of who said it; null for patterns and summaries.';
comment on column memory.items.asks is 'Whether it ends with a question.';
comment on column memory.items.first_person is 'Whether somebody speaks of themselves.';
comment on column memory.items.names_time is 'Whether it names a day, date or time.';
comment on column memory.items.asked_by is 'The turn before it in the session, when that one asked.';

create table memory.vectors (
    tenant_id text not null,
    subject_id text not null,
    model text not null,
    item_id uuid not null,
    part smallint not null default 0,
    item text not null check (item in ('turn', 'memory')),
    live boolean not null default true,
    vec halfvec not null,
    primary key (tenant_id, subject_id, model, item_id, part)
);
create index vectors_by_item on memory.vectors (tenant_id, item_id);
comment on table memory.vectors is 'Unit vectors of turns and memories, apart from the rows that decay rewrites; keyed by model.';
comment on column memory.vectors.part is 'Chunk number of a long turn.';
comment on column memory.vectors.live is 'False once the memory was merged or compressed away.';

create table memory.terms (
    tenant_id text not null,
    subject_id text not null,
    term text not null,
    item_id uuid not null,
    tf smallint not null,
    dl smallint not null,
    live boolean not null default true,
    primary key (tenant_id, subject_id, term, item_id) include (tf, dl, live)
);
create index terms_by_item on memory.terms (tenant_id, item_id);
comment on table memory.terms is 'Postings: one row a stemmed term and item, for exact BM25 within a subject.';
comment on column memory.terms.tf is 'Occurrences of the term in the item.';
comment on column memory.terms.dl is 'Length of the item in terms.';

create table memory.entities (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    type text not null,
    slug text not null,
    label text not null,
    terms text[] not null,
    first_seen_at timestamptz not null,
    primary key (tenant_id, id),
    unique (tenant_id, subject_id, type, slug)
);
comment on column memory.entities.terms is 'Stemmed terms of the label; what has them all speaks of it.';
comment on table memory.entities is 'The subject''s people, pets, places, things: typed ids such as pet:bruno.';

create table memory.links (
    tenant_id text not null,
    memory_id uuid not null,
    entity_id uuid not null,
    subject_id text not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, entity_id)
);
create index links_by_entity on memory.links (tenant_id, entity_id);
comment on table memory.links is 'Which memory speaks of which entity.';

create table memory.lineage (
    tenant_id text not null,
    memory_id uuid not null,
    relation text not null check (relation in ('extracted', 'merged', 'compressed', 'outcome')),
    source text not null check (source in ('turn', 'memory', 'outcome')),
    source_id uuid not null,
    as_of timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, relation, source_id)
);
create index lineage_forward on memory.lineage (tenant_id, source_id);
comment on table memory.lineage is 'Where each memory comes from: turns, other memories, outcomes; read both ways.';

create table memory.merges (
    tenant_id text not null,
    loser_id uuid not null,
    survivor_id uuid not null,
    subject_id text not null,
    similarity real not null,
    peak_before real not null,
    peak_after real not null,
    as_of timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, loser_id)
);
comment on table memory.merges is 'Merges in force and what they changed, so that each can be undone.';

create table memory.accesses (
    tenant_id text not null,
    recall_id uuid not null,
    run_id uuid not null,
    primary key (tenant_id, recall_id)
);
comment on table memory.accesses is 'Recalls already counted into the memories they returned.';

create table memory.tombstones (
    tenant_id text not null,
    memory_id uuid not null,
    subject_id text not null,
    kind text not null,
    content_hash bytea not null,
    importance real not null,
    reason text not null,
    forgotten_at timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id)
);
comment on table memory.tombstones is 'What was forgotten, when and why; without its content.';

-- -------------------------------------------------------------------------------------------- isolation and grants
do $$
declare
    t regclass;
begin
    for t in
        select c.oid::regclass from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.relname <> 'migrations'
    loop
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        -- a tenant that the statistics have not seen would be estimated at no rows, and any index would seem as good
        execute format('alter table %s alter column tenant_id set statistics 0', t);
        -- the sub-select is evaluated once a statement, not once a row
        execute format('create policy tenant on %s using (tenant_id = (select current_setting(''reverie.tenant'', true)))', t);
    end loop;
end
$$;
-- The worker must know which tenants exist to serve them one after the other; it sees their rows one at a time.
create policy roster on ops.tenants for select to reverie_worker using (true);

-- Only an owner may refresh the planner's statistics; a bulk load must not wait for autovacuum to do it.
create function ops.analyze_tables() returns void language plpgsql security definer set search_path = '' as $$
begin
    analyze log.turns, log.outcomes, log.recalls, memory.accesses, memory.extractions, memory.memories, memory.items, memory.vectors, memory.terms,
        memory.lineage, memory.entities, memory.links;
end
$$;
comment on function ops.analyze_tables is 'Refresh the planner''s statistics after a bulk load; as the owner.';

grant usage on schema log, memory, ops to reverie_worker, reverie_reader;
grant select, insert on all tables in schema log to reverie_worker;
grant select, insert, update, delete on all tables in schema memory to reverie_worker;
grant select, insert, update, delete on all tables in schema ops to reverie_worker;
grant select on all tables in schema log, memory to reverie_reader;
grant select on ops.tenants, ops.runs to reverie_reader;
grant insert on log.recalls to reverie_reader;
