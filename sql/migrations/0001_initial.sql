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
comment on column ops.tenants.created_at is 'When the tenant was first seen, by the clock.';

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
comment on column ops.runs.run_id is 'Deterministic UUIDv8 of tenant, stage, scope and logical time.';
comment on column ops.runs.stage is 'extract, embed, merge, link, score, decay, compress or prune.';
comment on column ops.runs.driver is 'What started it: reverie, dagster, ...';
comment on column ops.runs.policy is 'Name of the policy in force.';
comment on column ops.runs.model is 'Embedding or language model used, if any.';
comment on column ops.runs.status is 'done: all that is recorded here is committed; failed: see error.';
comment on column ops.runs.attempts is 'How often the run was tried; a retry after a crash is another attempt.';
comment on column ops.runs.error is 'What went wrong, in one sentence without user text; null when done.';
comment on column ops.runs.model_calls is 'Calls of a model, over all attempts.';
comment on column ops.runs.tokens is 'Tokens that models read and wrote, over all attempts.';
comment on column ops.runs.finished_at is 'When it was last recorded, by the clock.';

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
comment on column ops.dead_letters.id is 'Deterministic: the same record of the same file has the same id.';
comment on column ops.dead_letters.line is 'Line or row of the file, from 1; null where the file as a whole is meant.';
comment on column ops.dead_letters.attempts is 'How often it was tried: the import and each redrive.';

create table ops.embeddings (
    tenant_id text not null,
    model text not null,
    content_hash bytea not null,
    vec halfvec not null,
    primary key (tenant_id, model, content_hash)
);
comment on table ops.embeddings is 'Embedding cache by content hash and model; never shared between tenants.';
comment on column ops.embeddings.content_hash is 'sha256 of the text.';
comment on column ops.embeddings.vec is 'Unit vector of the text, in half precision.';

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
create index turns_by_place on log.turns (tenant_id, subject_id, session_id, turn_index, id);
create index turns_by_time on log.turns (tenant_id, said_at);
comment on table log.turns is 'Every turn of every conversation, once; append-only.';
comment on column log.turns.id is 'Deterministic UUIDv8 of event time, subject, session and source_id.';
comment on column log.turns.source_id is 'The caller''s id of the turn within its session; a turn sent twice counts once.';
comment on column log.turns.turn_index is 'Position of the turn in its session.';
comment on column log.turns.said_at is 'Event time: when it was said.';
comment on column log.turns.tool_calls is 'Tool calls made in this turn: [{name, arguments, why, result}].';
comment on column log.turns.content_hash is 'sha256 over role, speaker, time, text and tool calls: tells a repeat from a conflict.';
comment on column log.turns.role is 'user, assistant, system or tool.';
comment on column log.turns.speaker is 'Name of who said it, if known.';
comment on column log.turns.text is 'What was said, word for word; empty only with tool calls.';
comment on column log.turns.metadata is 'What the caller wants kept with the turn; never read by a stage.';

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
comment on column log.outcomes.id is 'Deterministic UUIDv8 of observed_at, decision and metric.';
comment on column log.outcomes.source_id is 'The caller''s id of the turn that decided.';
comment on column log.outcomes.metric is 'What was measured, such as views.';
comment on column log.outcomes.value is 'What was measured of it.';
comment on column log.outcomes.positive is 'Whether it speaks for the decision; only then importance rises.';
comment on column log.outcomes.observed_at is 'Event time: when it was measured.';

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
comment on column log.recalls.id is 'Id of the answer, given to who asked.';
comment on column log.recalls.asked_at is 'Event time: the moment as of which was answered.';
comment on column log.recalls.question is 'What was asked, word for word.';
comment on column log.recalls.item_ids is 'Turns and memories given, best first.';
comment on column log.recalls.dropped is 'How many were ranked and not given.';

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
comment on column log.corrections.id is 'Deterministic UUIDv8 of corrected_at, kind and both memories.';
comment on column log.corrections.kind is 'keep_apart: these two are not the same.';
comment on column log.corrections.memory_id is 'The memory that was merged.';
comment on column log.corrections.other_id is 'The memory it is to be kept apart from.';
comment on column log.corrections.corrected_at is 'Event time of the correction.';

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
comment on column memory.subjects.items is 'Searchable items (turns and memories) with terms.';
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
comment on column memory.extractions.turn_id is 'The turn that was read.';
comment on column memory.extractions.candidates is 'How many candidates it gave.';

create table memory.memories (
    tenant_id text not null,
    id uuid not null,
    -- what decay and prune read of every row comes before what is long: a scan need not look past it
    happened_at timestamptz not null,
    accessed_at timestamptz not null,
    decayed_at timestamptz not null,
    forget_at timestamptz,
    expires_at timestamptz,
    base real not null check (base between 0 and 1),
    peak real not null check (peak between 0 and 1),
    importance real not null check (importance between 0 and 1),
    access_count int not null default 0 check (access_count >= 0),
    polarity smallint not null default 0 check (polarity between -1 and 1),
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    linked boolean not null default false,
    structured boolean not null default false,
    scored boolean not null default false,
    kind text not null check (kind in ('fact', 'preference', 'instruction', 'episode', 'summary', 'pattern')),
    state text not null check (state in ('candidate', 'active', 'merged', 'compressed')),
    subject_id text not null,
    into_id uuid,
    turn_id uuid,
    session_id text,
    content text not null check (content <> ''),
    content_hash bytea not null,
    mentions text[] not null default '{}',
    origin text not null,
    run_id uuid not null,
    policy_hash text not null,
    model text,
    primary key (tenant_id, id)
) with (fillfactor = 80);  -- decay rewrites every row: leave room for in-page (HOT) updates
create index memories_by_subject on memory.memories (tenant_id, subject_id, kind, id);
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
comment on column memory.memories.structured is 'Whether structure has looked at it; false for what states nothing by key.';
comment on column memory.memories.scored is 'Whether score has looked at it.';
comment on column memory.memories.turn_id is 'The turn it was first extracted from; null for summaries and patterns.';
comment on column memory.memories.origin is 'Rule or method that made it.';
comment on column memory.memories.model is 'Model that wrote the content; null for rules.';
comment on column memory.memories.kind is 'fact, preference, instruction, episode, summary or pattern.';
comment on column memory.memories.content is 'What is remembered, as a sentence in the third person or as it was said.';
comment on column memory.memories.content_hash is 'sha256 of content.';
comment on column memory.memories.access_count is 'How often it was recalled or said again.';
comment on column memory.memories.expires_at is 'When it stops being true, if that is known; not recalled afterwards.';
comment on column memory.memories.session_id is 'Session it comes from; null for what spans sessions.';

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
comment on column memory.items.item_id is 'Id of the turn or memory.';
comment on column memory.items.happened_at is 'Event time.';
comment on column memory.items.speaker is 'Name of who said it; null for patterns and summaries.';
comment on column memory.items.words is 'Number of its words.';

create table memory.vectors (
    tenant_id text not null,
    subject_id text not null,
    item_id uuid not null,
    model text not null,
    part smallint not null default 0,
    item text not null check (item in ('turn', 'memory')),
    live boolean not null default true,
    vec halfvec not null,
    primary key (tenant_id, subject_id, item_id, model, part)
);
comment on table memory.vectors is 'Unit vectors of turns and memories, apart from the rows that decay rewrites; keyed by model.';
comment on column memory.vectors.part is 'Chunk number of a long turn.';
comment on column memory.vectors.live is 'False once the memory was merged or compressed away.';
comment on column memory.vectors.item_id is 'Id of the turn or memory.';
comment on column memory.vectors.vec is 'Unit vector in half precision.';

create table memory.terms (
    tenant_id text not null,
    subject_id text not null,
    term text not null,
    first_id uuid not null,
    item_ids uuid[] not null,
    tfs smallint[] not null,
    dls smallint[] not null,
    primary key (tenant_id, subject_id, term, first_id)
);
-- ids do not compress, and trying costs more than they take
alter table memory.terms alter column item_ids set storage external;
comment on table memory.terms is 'Posting lists for exact BM25 within a subject: a stemmed term and the items of one batch that have it.';
comment on column memory.terms.term is 'Stemmed lexeme.';
comment on column memory.terms.first_id is 'One of the items with which the list was written: its name.';
comment on column memory.terms.item_ids is 'Ids of the turns and memories.';
comment on column memory.terms.tfs is 'Occurrences of the term in each.';
comment on column memory.terms.dls is 'Length of each in terms.';

create view memory.postings with (security_invoker = true) as
    select t.tenant_id, t.subject_id, t.term, p.item_id, p.tf, p.dl
    from memory.terms t
    cross join lateral unnest(t.item_ids, t.tfs, t.dls) as p (item_id, tf, dl);
comment on view memory.postings is 'The posting lists, one row a term and item.';
comment on column memory.postings.term is 'Stemmed lexeme.';
comment on column memory.postings.item_id is 'Id of the turn or memory.';
comment on column memory.postings.tf is 'Occurrences of the term in the item.';
comment on column memory.postings.dl is 'Length of the item in terms.';

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
comment on column memory.entities.id is 'Deterministic: ops.entity_id of type:slug.';
comment on column memory.entities.type is 'pet, person, place, topic, ...';
comment on column memory.entities.slug is 'Name in lower case with hyphens; type:slug is the typed id.';
comment on column memory.entities.label is 'How people call it.';
comment on column memory.entities.first_seen_at is 'Event time at which it was first spoken of.';

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
comment on column memory.links.memory_id is 'The memory that speaks of it.';
comment on column memory.links.entity_id is 'The entity spoken of.';

create table memory.lineage (
    tenant_id text not null,
    memory_id uuid not null,
    relation text not null check (relation in (
        'extracted', 'context', 'merged', 'compressed', 'summarised', 'outcome', 'corrected', 'synthesized')),
    source text not null check (source in ('turn', 'memory', 'outcome')),
    source_id uuid not null,
    as_of timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, relation, source_id)
);
create index lineage_forward on memory.lineage (tenant_id, source_id);
comment on table memory.lineage is 'Where each memory comes from: turns, other memories, outcomes; read both ways.';
comment on column memory.lineage.memory_id is 'The memory that came of it.';
comment on column memory.lineage.relation is 'How it came of it: extracted, named in the context of what was extracted, merged, compressed, summarised as a part of a running session, raised by an outcome, written by a correction, or synthesized with the profile.';
comment on column memory.lineage.source is 'What source_id names: turn, memory or outcome.';
comment on column memory.lineage.source_id is 'What it came of.';
comment on column memory.lineage.as_of is 'Event or logical time at which it came of it.';

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
comment on column memory.merges.loser_id is 'The memory that was merged away.';
comment on column memory.merges.survivor_id is 'The memory that now stands for both.';
comment on column memory.merges.similarity is 'Cosine of the two when they were merged.';
comment on column memory.merges.peak_before is 'The survivor''s peak before the merge.';
comment on column memory.merges.peak_after is 'The survivor''s peak after it; undoing takes the difference back.';
comment on column memory.merges.as_of is 'Logical time of the merge.';

create table memory.accesses (
    tenant_id text not null,
    recall_id uuid not null,
    run_id uuid not null,
    primary key (tenant_id, recall_id)
);
comment on table memory.accesses is 'Recalls already counted into the memories they returned.';
comment on column memory.accesses.recall_id is 'The recall that is counted.';

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
comment on column memory.tombstones.memory_id is 'Id that the memory had.';
comment on column memory.tombstones.kind is 'Its kind.';
comment on column memory.tombstones.content_hash is 'sha256 of its content: tells that something was known, not what.';
comment on column memory.tombstones.importance is 'What its importance had come to.';
comment on column memory.tombstones.reason is 'faded: asked for too seldom; unimportant: below the policy''s threshold from the start.';
comment on column memory.tombstones.forgotten_at is 'Logical time at which it was forgotten.';

-- What a column means wherever it appears.
do $$
declare
    c record;
begin
    for c in
        select a.attrelid::regclass as of_table, a.attname as of_column, x.meaning
        from (values
            ('tenant_id', 'Whose row it is; row-level security holds every session to one tenant.'),
            ('subject_id', 'Whom or what the tenant remembers things about.'),
            ('session_id', 'The caller''s id of the conversation.'),
            ('shard', 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.'),
            ('run_id', 'Run that wrote the row, in ops.runs.'),
            ('policy_hash', 'Hash of all numbers of the policy in force.'),
            ('model', 'Key of the embedding model; vectors of different models are never compared.'),
            ('item', 'What item_id names: turn or memory.'),
            ('recorded_at', 'When the row was written, by the clock; no stage reads it.')
        ) as x (of_column, meaning)
        join pg_catalog.pg_attribute a on a.attname = x.of_column
        join pg_catalog.pg_class t on t.oid = a.attrelid and t.relkind in ('r', 'v')
        join pg_catalog.pg_namespace n on n.oid = t.relnamespace and n.nspname in ('log', 'memory', 'ops')
        where pg_catalog.col_description(a.attrelid, a.attnum) is null
    loop
        execute format('comment on column %s.%I is %L', c.of_table, c.of_column, c.meaning);
    end loop;
end
$$;

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
revoke execute on function ops.analyze_tables from public;
grant execute on function ops.analyze_tables to reverie_worker;

grant usage on schema log, memory, ops to reverie_worker, reverie_reader;
grant select, insert on all tables in schema log to reverie_worker;
grant select, insert, update, delete on all tables in schema memory to reverie_worker;
grant select, insert, update, delete on all tables in schema ops to reverie_worker;
revoke insert, update, delete on ops.migrations from reverie_worker;
grant select on all tables in schema log, memory to reverie_reader;
grant select on ops.tenants, ops.runs to reverie_reader;
grant insert on log.recalls to reverie_reader;
