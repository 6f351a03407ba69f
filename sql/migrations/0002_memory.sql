-- What is remembered. All of it follows from the log and a policy, and can be made again.

-- --------------------------------------------------------------------------------------------------------- memories
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
    stated jsonb,
    turn_start int,
    turn_end int,
    primary key (tenant_id, id),
    constraint memories_turns_check check (
        (turn_start is null) = (turn_end is null) and (turn_start is null or turn_start between 1 and turn_end))
) with (fillfactor = 80);  -- decay rewrites every row: leave room for in-page (HOT) updates
create index memories_by_subject on memory.memories (tenant_id, subject_id, kind, id);
create index memories_candidates on memory.memories (tenant_id, happened_at) where state = 'candidate';
create index memories_unscored on memory.memories (tenant_id, happened_at) where not scored;
create index memories_to_forget on memory.memories (tenant_id, forget_at);
create index memories_by_survivor on memory.memories (tenant_id, into_id) where into_id is not null;
alter table memory.memories
    alter column content set statistics 0,
    alter column content_hash set statistics 0;
comment on table memory.memories is 'What is remembered about a subject. No index on what decay changes.';
comment on column memory.memories.id is 'Deterministic UUIDv8 of event time, subject, kind and source.';
comment on column memory.memories.happened_at is 'Event time.';
comment on column memory.memories.accessed_at is 'When it was last said, reinforced or recalled.';
comment on column memory.memories.decayed_at is 'Logical time up to which decay is applied.';
comment on column memory.memories.forget_at is 'When it will be forgotten unless recalled or repeated; null while held by a survivor.';
comment on column memory.memories.expires_at is 'When it stops being true, if that is known; not recalled afterwards.';
comment on column memory.memories.base is 'Importance when it was extracted.';
comment on column memory.memories.peak is 'Importance when it was last reinforced (at accessed_at); decay counts from there.';
comment on column memory.memories.importance is 'Importance at decayed_at: max(peak - rate * days beyond the grace period, 0).';
comment on column memory.memories.access_count is 'How often it was recalled or said again.';
comment on column memory.memories.polarity is 'Of a preference: 1 likes, -1 dislikes, 0 neither.';
comment on column memory.memories.linked is 'Whether link has looked at it.';
comment on column memory.memories.structured is 'Whether facts has looked at it; false for what states nothing by key.';
comment on column memory.memories.scored is 'Whether score has looked at it.';
comment on column memory.memories.kind is 'fact, preference, instruction, episode, summary or pattern.';
comment on column memory.memories.state is 'candidate: extracted, not yet merged; active; merged or compressed: kept, replaced by into_id.';
comment on column memory.memories.into_id is 'The memory that replaced this one.';
comment on column memory.memories.turn_id is 'The turn it was first extracted from; null for summaries and patterns.';
comment on column memory.memories.session_id is 'Session it comes from; null for what spans sessions.';
comment on column memory.memories.content is 'What is remembered, as a sentence in the third person or as it was said.';
comment on column memory.memories.content_hash is 'sha256 of content.';
comment on column memory.memories.mentions is 'Typed ids (pet:bruno) that the rules saw in it; link makes entities of them.';
comment on column memory.memories.origin is 'Rule or method that made it.';
comment on column memory.memories.model is 'Model that wrote the content; null for rules.';
comment on column memory.memories.stated is 'What it states by key, as a language model said: {category, key, value, confidence, importance}; null: its rule knows, or nothing.';
comment on column memory.memories.turn_start is 'Of a summary: the first turn that it tells, counted from 1 in its session; null for other kinds.';
comment on column memory.memories.turn_end is 'Of a summary: the last turn that it tells.';

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
comment on column memory.merges.as_of is 'When the later of the two was said.';

create table memory.lineage (
    tenant_id text not null,
    memory_id uuid not null,
    relation text not null check (relation in (
        'extracted', 'context', 'merged', 'compressed', 'summarised', 'outcome', 'corrected', 'synthesized')),
    source text not null check (source in ('turn', 'memory', 'outcome', 'event', 'correction')),
    source_id uuid not null,
    as_of timestamptz not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, relation, source_id)
);
create index lineage_forward on memory.lineage (tenant_id, source_id);
comment on table memory.lineage is 'Where each memory comes from: turns, events, corrections, other memories, outcomes; read both ways.';
comment on column memory.lineage.memory_id is 'The memory that came of it.';
comment on column memory.lineage.relation is 'How it came of it: extracted, named in the context of what was extracted, merged, compressed, summarised as a part of a running session, raised by an outcome, written by a correction, or synthesized with the profile.';
comment on column memory.lineage.source is 'What source_id names: turn, memory, outcome, event or correction.';
comment on column memory.lineage.source_id is 'What it came of.';
comment on column memory.lineage.as_of is 'Event or logical time at which it came of it.';

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
comment on column memory.tombstones.reason is 'faded: asked for too seldom; unimportant: below the policy''s threshold from the start; wrong: a person said so; forgotten_on_request: a person did not want it remembered.';
comment on column memory.tombstones.forgotten_at is 'Logical time at which it was forgotten.';

-- ------------------------------------------------------- what is worked in already: one row for each row of the log
create table memory.extractions (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    candidates int not null,
    reason text,
    run_id uuid not null,
    model text,
    discarded int not null default 0 check (discarded >= 0),
    unread text,
    waits boolean not null default false,
    left_out int not null default 0 check (left_out >= 0),
    primary key (tenant_id, turn_id),
    constraint extractions_wait_check check (not waits or (unread is not null and model is null))
);
create index extractions_waiting on memory.extractions (tenant_id, subject_id, turn_id) where waits;
comment on table memory.extractions is 'One row a turn: how many candidates it gave, or why none; which model read it beside the rules, or why none did.';
comment on column memory.extractions.turn_id is 'The turn that was read.';
comment on column memory.extractions.candidates is 'How many candidates it gave, by the rules and by the model.';
comment on column memory.extractions.reason is 'Why the turn gave nothing (low_content, question, no_rule, ...); null when it gave something.';
comment on column memory.extractions.model is 'Language model that read it too; null: the rules alone.';
comment on column memory.extractions.discarded is 'Notes of the model that were not taken; their reasons are counted in the run.';
comment on column memory.extractions.unread is 'Why no model has read it: unasked, or the reason of the failure as a code; null: it has, or it was not to.';
comment on column memory.extractions.waits is 'Whether the next extract run with a model asks about it.';
comment on column memory.extractions.left_out is 'Candidates that were left out, as the policy takes no more from one turn.';

create table memory.observations (
    tenant_id text not null,
    event_id uuid not null,
    subject_id text not null,
    candidates int not null,
    discarded int not null,
    reason text,
    run_id uuid not null,
    primary key (tenant_id, event_id)
);
comment on table memory.observations is 'One row an event: how many candidates it gave, or why none. An event without one is not processed yet.';
comment on column memory.observations.event_id is 'The event that was read.';
comment on column memory.observations.candidates is 'How many candidates it gave.';
comment on column memory.observations.discarded is 'How many of its chunks were not worth keeping.';
comment on column memory.observations.reason is 'Why the event gave nothing; null when it gave something.';

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

create table memory.corrected (
    tenant_id text not null,
    correction_id uuid not null,
    subject_id text not null,
    run_id uuid not null,
    primary key (tenant_id, correction_id)
);
comment on table memory.corrected is 'Corrections already worked in.';
comment on column memory.corrected.correction_id is 'The correction, in log.corrections.';

create table memory.accesses (
    tenant_id text not null,
    recall_id uuid not null,
    run_id uuid not null,
    primary key (tenant_id, recall_id)
);
comment on table memory.accesses is 'Recalls already counted into the memories they returned.';
comment on column memory.accesses.recall_id is 'The recall that is counted.';

-- ----------------------------------------------------------------------------------------------------------- search
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
comment on column memory.subjects.terms is 'Sum of their lengths in terms; terms / items is the average length.';
comment on column memory.subjects.speakers is 'Names of those who speak in the subject''s conversations.';

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
comment on column memory.items.item_id is 'Id of the turn or memory.';
comment on column memory.items.session_id is 'Session it was said in; null for what spans sessions.';
comment on column memory.items.happened_at is 'Event time.';
comment on column memory.items.speaker is 'Name of who said it; null for patterns and summaries.';
comment on column memory.items.role is 'Role of who said it; null for patterns and summaries.';
comment on column memory.items.words is 'Number of its words.';
comment on column memory.items.asks is 'Whether it ends with a question.';
comment on column memory.items.first_person is 'Whether somebody speaks of themselves.';
comment on column memory.items.names_time is 'Whether it names a day, date or time.';
comment on column memory.items.asked_by is 'The turn before it in the session, when that one asked.';

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
alter table memory.vectors
    alter column vec set statistics 0;
comment on table memory.vectors is 'Unit vectors of turns and memories, apart from the rows that decay rewrites; keyed by model.';
comment on column memory.vectors.item_id is 'Id of the turn or memory.';
comment on column memory.vectors.part is 'Chunk number of a long turn.';
comment on column memory.vectors.live is 'False once the memory was merged or compressed away.';
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
) with (fillfactor = 80);  -- forgetting rewrites posting lists: room beside them spares their key in the index
-- ids do not compress, and trying costs more than they take
alter table memory.terms alter column item_ids set storage external;
alter table memory.terms
    alter column item_ids set statistics 0,
    alter column tfs set statistics 0,
    alter column dls set statistics 0;
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

-- --------------------------------------------------------------------------------------------------------- entities
create function ops.entity_id(tenant_id text, subject_id text, mention text) returns uuid
    language sql immutable strict parallel safe
    return md5(tenant_id || chr(31) || subject_id || chr(31) || mention)::uuid;
comment on function ops.entity_id is 'Deterministic id of a subject''s entity, such as pet:bruno.';

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
comment on table memory.entities is 'The subject''s people, pets, places, things: typed ids such as pet:bruno.';
comment on column memory.entities.id is 'Deterministic: ops.entity_id of type:slug.';
comment on column memory.entities.type is 'pet, person, place, topic, ...';
comment on column memory.entities.slug is 'Name in lower case with hyphens; type:slug is the typed id.';
comment on column memory.entities.label is 'How people call it.';
comment on column memory.entities.terms is 'Stemmed terms of the label; what has them all speaks of it.';
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

-- ------------------------------------------------------------------------------------ facts by key, and the profile
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

-- --------------------------------------------------------------------------------------------- corrections in force
create table memory.marks (
    tenant_id text not null,
    subject_id text not null,
    item_id uuid not null,
    correction_id uuid not null,
    item text not null check (item in ('turn', 'event', 'memory')),
    mark text not null check (mark in ('corrected', 'forgotten', 'pinned', 'replaced')),
    derived boolean not null default false,
    pending boolean not null,
    run_id uuid,
    primary key (tenant_id, subject_id, item_id, correction_id)
);
create index marks_by_correction on memory.marks (tenant_id, correction_id);
comment on table memory.marks is 'What recall and contexts withhold or always consider because of a correction: turns, events and memories.';
comment on column memory.marks.item_id is 'Id of the turn, event or memory.';
comment on column memory.marks.correction_id is 'The correction, in log.corrections.';
comment on column memory.marks.item is 'What item_id names: turn, event or memory.';
comment on column memory.marks.mark is 'corrected: it states what is wrong; forgotten: what is not to be remembered; both are withheld. replaced: withheld, a replacement stands in its place until the correction is worked in. pinned: always considered, and kept.';
comment on column memory.marks.derived is 'Of a memory: made of what is wrong, such as a summary; it is withheld and not forgotten.';
comment on column memory.marks.pending is 'Made with the request; the stage correct puts its own marks in the place of these.';

create table memory.replacements (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    correction_id uuid not null,
    kind text not null check (kind in ('fact', 'preference', 'instruction', 'episode')),
    content text not null check (content <> ''),
    importance real not null check (importance between 0 and 1),
    happened_at timestamptz not null,
    primary key (tenant_id, subject_id, id)
);
comment on table memory.replacements is 'What a person wrote in a memory''s place, from the request until the stage correct makes a memory of it.';
comment on column memory.replacements.id is 'Id that the memory will have.';
comment on column memory.replacements.correction_id is 'The correction, in log.corrections.';
comment on column memory.replacements.kind is 'Kind of the memory that was wrong.';
comment on column memory.replacements.content is 'What is right, as the person wrote it.';
comment on column memory.replacements.importance is 'Importance that the memory will start with.';
comment on column memory.replacements.happened_at is 'Event time of the correction.';
