-- What was said and done. Append-only: the worker may add rows, and nobody may change them (see every_table.sql).
-- In all three files: every key starts with tenant_id. No statistics are kept of what no plan depends on (long texts, vectors,
-- posting lists): they were most of what `analyze` cost. A comment that many columns share stands in every_table.sql.

-- Where a subject lives: 1024 virtual shards, a bucket is a range of them.
create function ops.shard_of(tenant_id text, subject_id text) returns smallint
    language sql immutable strict parallel safe
    return (hashtextextended(tenant_id || '/' || subject_id, 0) & 1023)::smallint;
comment on function ops.shard_of is 'Virtual shard 0..1023 of a subject; buckets are ranges of shards.';

-- ------------------------------------------------------------------------------------------------------------ turns
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
create index turns_by_place on log.turns (tenant_id, subject_id, session_id, said_at, turn_index, id);
create index turns_by_time on log.turns (tenant_id, said_at);
alter table log.turns
    alter column text set statistics 0,
    alter column tool_calls set statistics 0,
    alter column metadata set statistics 0,
    alter column content_hash set statistics 0;
comment on table log.turns is 'Every turn of every conversation, once; append-only.';
comment on column log.turns.id is 'Deterministic UUIDv8 of event time, subject, session and source_id.';
comment on column log.turns.source_id is 'The caller''s id of the turn within its session; a turn sent twice counts once.';
comment on column log.turns.turn_index is 'Orders turns of a session that were said at the same time: the caller''s index, or the order of arrival.';
comment on column log.turns.role is 'user, assistant, system or tool.';
comment on column log.turns.speaker is 'Name of who said it, if known.';
comment on column log.turns.said_at is 'Event time: when it was said.';
comment on column log.turns.text is 'What was said, word for word; empty only with tool calls.';
comment on column log.turns.tool_calls is 'Tool calls made in this turn: [{name, arguments, why, result}].';
comment on column log.turns.metadata is 'What the caller wants kept with the turn; never read by a stage.';
comment on column log.turns.content_hash is 'sha256 over role, speaker, time, text and tool calls: tells a repeat from a conflict.';

create table log.moods (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    session_id text not null,
    said_at timestamptz not null,
    mood text not null,
    energy text not null,
    style text not null,
    confidence real,
    method text not null,
    primary key (tenant_id, turn_id)
);
create index moods_by_subject on log.moods (tenant_id, subject_id, said_at);
comment on table log.moods is 'The mood of each message as it was told when the message came; append-only.';
comment on column log.moods.turn_id is 'The message.';
comment on column log.moods.said_at is 'Event time of the message.';
comment on column log.moods.mood is 'happy, sad, anxious, excited, neutral, angry, frustrated, flirty, bored or grateful.';
comment on column log.moods.energy is 'high, medium or low.';
comment on column log.moods.style is 'The approach that answers it: playful, deep, casual, supportive, romantic or venting.';
comment on column log.moods.confidence is 'Probability of the mood, where the method gives one.';
comment on column log.moods.method is 'What told it: model, classifier, previous or keywords.';

-- ----------------------------------------------------------------------------------------------- other observations
create table log.events (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    session_id text check (length(session_id) between 1 and 200),
    source_id text not null check (length(source_id) between 1 and 200),
    type text not null check (type in ('fact', 'preference', 'project_details', 'correction', 'scaffold_update', 'learned_fact',
                                       'connection_context', 'attachment', 'tool_output')),
    channel text not null check (channel in ('interactive', 'autonomous', 'tool', 'attachment')),
    connection_id text check (length(connection_id) between 1 and 200),
    key text,
    content text not null,
    hint text check (hint in ('fact', 'preference', 'instruction', 'episode')),
    metadata jsonb,
    observed_at timestamptz not null,
    content_hash bytea not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    recorded_at timestamptz not null default clock_timestamp(),
    -- with what tells whether an event waits for the profile: asked of all of a tenant at each cycle, from the index alone
    primary key (tenant_id, id) include (subject_id, shard, observed_at),
    constraint events_once unique (tenant_id, subject_id, source_id)
);
create index events_by_time on log.events (tenant_id, observed_at);
comment on table log.events is 'The event bus: every observation that is no turn, whichever channel it came by; append-only.';
comment on column log.events.id is 'Deterministic UUIDv8 of observed_at, subject and source_id.';
comment on column log.events.session_id is 'The session it was observed in, if any.';
comment on column log.events.source_id is 'The caller''s id of the observation; one sent twice counts once.';
comment on column log.events.type is 'What was observed: the category given to record_observation, or scaffold_update, learned_fact, connection_context, attachment, tool_output.';
comment on column log.events.channel is 'How it came: interactive, autonomous, tool or attachment.';
comment on column log.events.connection_id is 'The tool connection that it holds for; null: for the subject as such.';
comment on column log.events.key is 'Of a scaffold_update or connection_context the key it sets; of an attachment its file name.';
comment on column log.events.content is 'The observation as a text; of a value that is none its JSON.';
comment on column log.events.hint is 'Kind of memory that the caller wants it kept as; null: by rule.';
comment on column log.events.metadata is 'Source metadata: message, attachment, tool; never read by a stage.';
comment on column log.events.observed_at is 'Event time of the observation.';
comment on column log.events.content_hash is 'sha256 over type, connection, key, hint and content: tells a repeat from a conflict.';

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

-- ---------------------------------------------------------------------------------------------------------- answers
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
alter table log.recalls
    alter column question set statistics 0,
    alter column item_ids set statistics 0;
comment on table log.recalls is 'Each question answered and the items given; feeds access counts and evaluation.';
comment on column log.recalls.id is 'Id of the answer, given to who asked.';
comment on column log.recalls.asked_at is 'Event time: the moment as of which was answered.';
comment on column log.recalls.question is 'What was asked, word for word.';
comment on column log.recalls.item_ids is 'Turns and memories given, best first.';
comment on column log.recalls.dropped is 'How many were ranked and not given.';

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
alter table log.contexts
    alter column sections set statistics 0,
    alter column item_ids set statistics 0,
    alter column dropped_ids set statistics 0;
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

-- ------------------------------------------------------------------------------------------------------ corrections
create table log.corrections (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    kind text not null check (kind in ('keep_apart', 'wrong', 'replace', 'forget', 'pin', 'unpin')),
    memory_id uuid not null,
    other_id uuid,
    corrected_at timestamptz not null,
    content text,
    actor text check (length(actor) between 1 and 200),
    primary key (tenant_id, id)
);
create index corrections_by_subject on log.corrections (tenant_id, subject_id);
comment on table log.corrections is 'What a person said is wrong about memory; it holds in every rebuild.';
comment on column log.corrections.id is 'Deterministic UUIDv8 of corrected_at, kind and what is corrected.';
comment on column log.corrections.kind is 'keep_apart: these two are not the same, undoes their merge; wrong: forget it; replace: forget it, content is right; forget: it is not wrong, and not to be remembered; pin: keep it; unpin: treat it as any other again.';
comment on column log.corrections.memory_id is 'The memory that is corrected: of a keep_apart the one that was merged.';
comment on column log.corrections.other_id is 'Of a keep_apart the memory it is to be kept apart from.';
comment on column log.corrections.corrected_at is 'Event time of the correction.';
comment on column log.corrections.content is 'Of a replace what is right.';
comment on column log.corrections.actor is 'Who asked for it, as the caller says; null where nobody said.';
