-- How the work goes. What belongs to no memory: who may use the installation, what waits, what was run and what it cost.

-- ---------------------------------------------------------------------------------------------------------- tenants
create table ops.tenants (
    tenant_id text primary key check (length(tenant_id) between 1 and 200),
    policy text not null default 'reverie',
    created_at timestamptz not null default now(),
    model text,
    clock_at timestamptz
);
comment on table ops.tenants is 'Who uses this installation, and by which policy their memory is made.';
comment on column ops.tenants.policy is 'Name of a shipped policy or path of a policy file.';
comment on column ops.tenants.created_at is 'When the tenant was first seen, by the clock.';
comment on column ops.tenants.model is 'Embedding model whose vectors are live; null until something is embedded.';
comment on column ops.tenants.clock_at is 'Logical time beyond which this tenant''s memory is not brought; null: the wall clock.';

create table ops.api_keys (
    tenant_id text not null,
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    digest bytea not null,
    scopes text[] not null check (scopes <@ array['read', 'write', 'admin']),
    made_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    primary key (tenant_id, id),
    unique (tenant_id, digest)
);
comment on table ops.api_keys is 'Keys of the API: who may do what in the tenant''s name. A key itself is shown once, when it is made, and kept nowhere.';
comment on column ops.api_keys.id is 'By which a key is named when it is listed or revoked.';
comment on column ops.api_keys.name is 'What people call it.';
comment on column ops.api_keys.digest is 'sha256 of the key, which is random and long enough to need no salt.';
comment on column ops.api_keys.scopes is 'What it is for: read, write, admin; admin may do everything.';
comment on column ops.api_keys.made_at is 'When it was made.';
comment on column ops.api_keys.expires_at is 'From when on it lets nobody in; null: never by itself.';
comment on column ops.api_keys.revoked_at is 'When it was revoked; null: in force.';

-- ------------------------------------------------------------------------------- the live tier: sessions that go on
create table ops.sessions (
    tenant_id text not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    session_id text not null check (length(session_id) between 1 and 200),
    opened_at timestamptz not null,
    since timestamptz not null,
    touched_at timestamptz not null,
    expires_at timestamptz not null,
    waiting_since timestamptz,
    flush_at timestamptz,
    due_at timestamptz not null generated always as (least(flush_at, expires_at)) stored,
    closing boolean not null default false,
    mood jsonb,
    preferences jsonb not null default '[]',
    confirmations jsonb not null default '[]',
    tool_results jsonb not null default '[]',
    primary key (tenant_id, subject_id, session_id)
) with (fillfactor = 80);  -- each turn rewrites the row
create index sessions_due on ops.sessions (tenant_id, due_at);
comment on table ops.sessions is 'Working memory: what is held of a session while it goes on; its turns lie in pending_turns and the log.';
comment on column ops.sessions.opened_at is 'When the entry was opened: with the first turn, or with the first after it had ended.';
comment on column ops.sessions.since is 'Event time of its earliest turn: what was said before is not in the window.';
comment on column ops.sessions.touched_at is 'When something last came in.';
comment on column ops.sessions.expires_at is 'When the entry ends unless something comes in: the policy''s ttl_hours after touched_at.';
comment on column ops.sessions.waiting_since is 'When the first of the turns came that are not in the log yet; null: all are.';
comment on column ops.sessions.flush_at is 'When they are to be in the log: idle_minutes of quiet, at most max_wait_minutes; null: all are.';
comment on column ops.sessions.due_at is 'When there is something to do: the earlier of flush_at and expires_at.';
comment on column ops.sessions.closing is 'Whether the caller closed it: the flush ends the entry.';
comment on column ops.sessions.mood is 'Mood of the last message: {mood, energy, style, confidence, method}.';
comment on column ops.sessions.preferences is 'What the caller holds to in this session: a list of texts.';
comment on column ops.sessions.confirmations is 'What the caller waits to be confirmed: a list of objects.';
comment on column ops.sessions.tool_results is 'Results of tools still in use: a list of objects.';

-- Who flushes must find what is due without trying every tenant: it is told whose sessions are due and how many, and no
-- subject or session. The function runs as the owner, whom the policy `backlog` lets read all rows (every_table.sql).
create function ops.flushable_tenants(as_of timestamptz) returns table (tenant_id text, sessions bigint)
    language sql stable security definer set search_path = '' as $$
    select s.tenant_id, count(*)
    from ops.sessions s
    where s.due_at <= as_of
    group by s.tenant_id
    order by min(s.due_at), s.tenant_id
$$;
comment on function ops.flushable_tenants is 'Tenants with sessions whose turns are due in the log or whose time is over, the longest wait first.';

create table ops.pending_turns (
    tenant_id text not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    session_id text not null check (length(session_id) between 1 and 200),
    source_id text not null check (length(source_id) between 1 and 200),
    id uuid not null,
    arrival bigint not null generated by default as identity,
    turn_index int,
    role text not null check (role in ('user', 'assistant', 'system', 'tool')),
    speaker text,
    said_at timestamptz not null,
    text text not null,
    tool_calls jsonb,
    metadata jsonb,
    content_hash bytea not null,
    mood jsonb,
    primary key (tenant_id, subject_id, session_id, source_id)
);
comment on table ops.pending_turns is 'Turns that were acknowledged and are not in the log yet; a flush moves them in one transaction.';
comment on column ops.pending_turns.source_id is 'The caller''s id of the turn within its session; a turn sent twice counts once.';
comment on column ops.pending_turns.id is 'The id it will have in the log.';
comment on column ops.pending_turns.arrival is 'In which order turns came.';
comment on column ops.pending_turns.turn_index is 'Position in its session, if the caller gave one; else the log counts on.';
comment on column ops.pending_turns.role is 'user, assistant, system or tool.';
comment on column ops.pending_turns.speaker is 'Name of who said it, if known.';
comment on column ops.pending_turns.said_at is 'Event time: when it was said.';
comment on column ops.pending_turns.text is 'What was said, word for word; empty only with tool calls.';
comment on column ops.pending_turns.tool_calls is 'Tool calls made in this turn: [{name, arguments, why, result}].';
comment on column ops.pending_turns.metadata is 'What the caller wants kept with the turn; never read by a stage.';
comment on column ops.pending_turns.content_hash is 'sha256 over role, speaker, time, text and tool calls.';
comment on column ops.pending_turns.mood is 'Mood of the message: {mood, energy, style, confidence, method}; null: not told.';

create table ops.reviews (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    session_id text not null,
    reason text not null check (reason in ('crisis')),
    flagged_at timestamptz not null,
    seen_at timestamptz,
    primary key (tenant_id, turn_id, reason)
);
create index reviews_unseen on ops.reviews (tenant_id, flagged_at) where seen_at is null;
comment on table ops.reviews is 'Turns that a person should look at.';
comment on column ops.reviews.turn_id is 'The turn, in the log or on its way there.';
comment on column ops.reviews.reason is 'crisis: the words sound like one.';
comment on column ops.reviews.flagged_at is 'When the turn came in.';
comment on column ops.reviews.seen_at is 'When a person had looked at it; null: nobody has.';

-- ------------------------------------------------------------ the deferred tier: sessions that wait to be worked in
create table ops.queue (
    tenant_id text not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    session_id text not null check (length(session_id) between 1 and 200),
    turns int not null,
    said_at timestamptz not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    due_at timestamptz not null,
    attempts int not null default 0,
    lease_id uuid,
    leased_until timestamptz,
    error text,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, subject_id, session_id)
);
create index queue_by_due on ops.queue (tenant_id, due_at);
comment on table ops.queue is 'Sessions with turns that wait to become memory: the deferred tier''s work, whoever drives it.';
comment on column ops.queue.turns is 'Turns that came since it was last worked in.';
comment on column ops.queue.said_at is 'Event time of the latest of them.';
comment on column ops.queue.first_at is 'When the first of them came; it waits no longer than the policy''s max_wait_minutes from then.';
comment on column ops.queue.last_at is 'When the latest of them came.';
comment on column ops.queue.due_at is 'When it may be worked in: it went quiet, waited long enough, or is to be tried again.';
comment on column ops.queue.attempts is 'How often it was claimed and not finished.';
comment on column ops.queue.lease_id is 'Who works on it; null when nobody does.';
comment on column ops.queue.leased_until is 'Until when; a worker that died keeps it no longer.';
comment on column ops.queue.error is 'Why the last attempt failed, in one sentence without user text.';

-- A worker must find work without trying every tenant: as flushable_tenants, it tells no subject and no session.
create function ops.waiting_tenants(as_of timestamptz, at timestamptz) returns table (tenant_id text, sessions bigint, due_at timestamptz)
    language sql stable security definer set search_path = '' as $$
    select q.tenant_id, count(*), min(q.due_at)
    from ops.queue q
    where q.due_at <= as_of and (q.leased_until is null or q.leased_until <= at)
    group by q.tenant_id
    order by min(q.due_at), q.tenant_id
$$;
comment on function ops.waiting_tenants is 'Tenants with sessions that are due by as_of and that nobody has a lease of at a time: how many, and since when.';

-- What waits to be worked into profiles: every event, and the memories that the rules or a person made of turns.
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
comment on column ops.unsynthesized.item is 'What item_id names: event or memory.';
comment on column ops.unsynthesized.item_id is 'The event or memory.';
comment on column ops.unsynthesized.at is 'Event time.';
comment on column ops.unsynthesized.type is 'Type of the event, or kind of the memory; correction for what a person wrote in place of one.';
comment on column ops.unsynthesized.channel is 'How it came: interactive, autonomous, tool or attachment.';
comment on column ops.unsynthesized.connection_id is 'The tool connection that it holds for, if any.';
comment on column ops.unsynthesized.key is 'The key that it sets, or a file name.';
comment on column ops.unsynthesized.content is 'What was observed, or what is remembered of it.';

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

-- ------------------------------------------------------------------------------------------------------------- runs
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
comment on column ops.runs.run_id is 'Deterministic UUIDv8 of tenant, stage, scope and logical time.';
comment on column ops.runs.stage is 'extract, embed, merge, link, facts, synthesize, compress, score, decay, prune, correct or drain.';
comment on column ops.runs.as_of is 'Logical time of the run; stages know no other time.';
comment on column ops.runs.scope is 'Shard range, month or subjects the run was limited to; ids only.';
comment on column ops.runs.driver is 'What started it: reverie, dagster, ...';
comment on column ops.runs.policy is 'Name of the policy in force.';
comment on column ops.runs.model is 'Embedding or language model used, if any.';
comment on column ops.runs.status is 'done: all that is recorded here is committed; failed: see error.';
comment on column ops.runs.attempts is 'How often the run was tried; a retry after a crash is another attempt.';
comment on column ops.runs.report is 'Counts and discard reasons, flat and numeric; also the orchestrators'' metadata.';
comment on column ops.runs.error is 'What went wrong, in one sentence without user text; null when done.';
comment on column ops.runs.model_calls is 'Calls of a model, over all attempts.';
comment on column ops.runs.tokens is 'Tokens that models read and wrote, over all attempts.';
comment on column ops.runs.cost_usd is 'Price of the run''s model calls in US dollars.';
comment on column ops.runs.seconds is 'Wall time spent, over all attempts.';
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
    subject_id text,
    session_id text,
    item text,
    primary key (tenant_id, id)
);
create index dead_letters_stages on ops.dead_letters (tenant_id, source, subject_id) where source like 'stage:%';
comment on table ops.dead_letters is 'Records that could not be taken in, with file, line and reason; nothing is lost, redrive when mended.';
comment on column ops.dead_letters.id is 'Deterministic: the same record of the same file has the same id.';
comment on column ops.dead_letters.source is 'File name the record came from; stage:<name> for what a stage failed on.';
comment on column ops.dead_letters.line is 'Line or row of the file, from 1; null where the file as a whole is meant.';
comment on column ops.dead_letters.reason is 'Short code of what was wrong, for counting.';
comment on column ops.dead_letters.detail is 'One sentence: the field, what kind of value was found, what is expected; never the value.';
comment on column ops.dead_letters.payload is 'The record as it came, at most 64 KiB of it.';
comment on column ops.dead_letters.attempts is 'How often it was tried: the import and each redrive.';
comment on column ops.dead_letters.subject_id is 'Subject of a session that could not be worked in, or of what a stage failed on; null for a record.';
comment on column ops.dead_letters.session_id is 'The session; null for a record.';
comment on column ops.dead_letters.item is 'Id of the turn, event or memory that a stage failed on; null for a record and for a whole subject.';

-- ------ models: what is kept of their work, what each call cost, what a tenant may still spend, how fast it may ask
create table ops.embeddings (
    tenant_id text not null,
    model text not null,
    content_hash bytea not null,
    vec halfvec not null,
    made_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, model, content_hash)
);
comment on table ops.embeddings is 'Embedding cache by content hash and model; never shared between tenants.';
comment on column ops.embeddings.content_hash is 'sha256 of the text.';
comment on column ops.embeddings.vec is 'Unit vector of the text, in half precision.';
comment on column ops.embeddings.made_at is 'When it was made, by the clock; vectors of a former model end after a time.';

create table ops.replies (
    tenant_id text not null,
    model text not null,
    prompt_hash bytea not null,
    input_hash bytea not null,
    subject_id text not null,
    source_ids uuid[] not null,
    reply jsonb not null,
    call_id uuid not null,
    made_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, model, prompt_hash, input_hash)
);
create index replies_by_subject on ops.replies (tenant_id, subject_id);
comment on table ops.replies is 'Replies of language models, kept so that nothing is asked or paid twice; never shared between tenants.';
comment on column ops.replies.model is 'Model that replied.';
comment on column ops.replies.prompt_hash is 'sha256 of all that the model was told beside the data.';
comment on column ops.replies.input_hash is 'sha256 of the subject and of the data that was shown.';
comment on column ops.replies.subject_id is 'Whom it is about: erasing the subject erases its replies.';
comment on column ops.replies.source_ids is 'Turns, memories or events that were shown: erasing one of them erases the reply.';
comment on column ops.replies.reply is 'The reply, checked against its model.';
comment on column ops.replies.call_id is 'The request that brought it, in ops.calls.';
comment on column ops.replies.made_at is 'When it was kept, by the clock.';

create table ops.calls (
    tenant_id text not null,
    id uuid not null,
    stage text not null,
    run_id uuid,
    kind text not null check (kind in ('completion', 'embedding')),
    model text not null,
    prompt text,
    prompt_hash bytea,
    items int not null,
    state text not null default 'reserved' check (state in ('done', 'failed', 'reserved')),
    reserved_usd double precision not null check (reserved_usd >= 0),
    cost_usd double precision check (cost_usd >= 0),
    priced boolean not null,
    tokens_in bigint not null default 0,
    tokens_out bigint not null default 0,
    seconds double precision not null default 0,
    reason text,
    repairs text[] not null default '{}',
    booked_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    check ((state = 'reserved') = (cost_usd is null))
);
create index calls_by_time on ops.calls (tenant_id, booked_at);
create index calls_by_run on ops.calls (tenant_id, run_id);
comment on table ops.calls is 'Cost ledger: one row a request to a model, booked before it is sent and settled when its reply is kept.';
comment on column ops.calls.id is 'Id of the request.';
comment on column ops.calls.stage is 'Stage that asked.';
comment on column ops.calls.run_id is 'Run that asked, in ops.runs; null outside a run.';
comment on column ops.calls.kind is 'completion: of a language model; embedding: of an embedding model.';
comment on column ops.calls.model is 'Model that was asked.';
comment on column ops.calls.prompt is 'Name of the prompt; null for embeddings.';
comment on column ops.calls.prompt_hash is 'sha256 of all that the model was told beside the data; null for embeddings.';
comment on column ops.calls.items is 'Items in the request.';
comment on column ops.calls.state is 'reserved: sent or about to be, no reply kept; done: settled; failed: no usable reply, see reason.';
comment on column ops.calls.reserved_usd is 'What it can cost at most, taken from the credit before it is sent; counts until it is settled.';
comment on column ops.calls.cost_usd is 'What it cost in US dollars; what it may have cost where nobody knows; null: not settled.';
comment on column ops.calls.priced is 'Whether a price is known; if not, its cost is written as 0.';
comment on column ops.calls.tokens_in is 'Tokens that the model read.';
comment on column ops.calls.tokens_out is 'Tokens that the model wrote.';
comment on column ops.calls.seconds is 'Time until the reply was there.';
comment on column ops.calls.reason is 'Why there was no usable reply, as a code; null when there was.';
comment on column ops.calls.repairs is 'What was put right in the reply: fence, prose, thought, unwrapped, nested, types.';
comment on column ops.calls.booked_at is 'When it was reserved, by the clock.';

create table ops.credits (
    tenant_id text primary key,
    balance_usd double precision not null,
    given_at timestamptz not null default clock_timestamp()
);
comment on table ops.credits is 'What a tenant may still spend on models; a tenant without a row may spend without limit.';
comment on column ops.credits.balance_usd is 'US dollars left, reservations taken off; a request that could take more than this is not sent.';
comment on column ops.credits.given_at is 'When it was set, by the clock; requests booked before are not settled against it.';

create table ops.call_rates (
    tenant_id text not null,
    model text not null,
    free_at timestamptz not null,
    primary key (tenant_id, model)
);
comment on table ops.call_rates is 'The pace that all processes share: a request takes the next free moment and moves it on.';
comment on column ops.call_rates.model is 'Model that is asked.';
comment on column ops.call_rates.free_at is 'When the next request may be sent, by the clock of the database.';

-- ----------------------------------------------------------------------------------------------------------- upkeep
-- Only an owner may refresh the planner's statistics; a bulk load must not wait for autovacuum to do it.
create function ops.analyze_tables() returns void language plpgsql security definer set search_path = '' as $$
begin
    analyze log.turns, log.outcomes, log.recalls, memory.accesses, memory.extractions, memory.memories, memory.items, memory.vectors, memory.terms,
        memory.lineage, memory.entities, memory.links;
end
$$;
comment on function ops.analyze_tables is 'Refresh the planner''s statistics after a bulk load; as the owner.';

-- The log is append-only for those who work on it. These two functions, as its owner and within the tenant of the caller,
-- are the only exception.
create function ops.retire_recalls(before timestamptz, most int, out recalls int, out questions int)
    language plpgsql security definer set search_path = '' as $$
begin
    -- counted, and of turns alone: no memory was asked for, so no importance follows from it
    with old as (
        select r.id from log.recalls r
        where r.asked_at < before
          and exists (select from memory.accesses a where a.tenant_id = r.tenant_id and a.recall_id = r.id)
          and not exists (select from unnest(r.item_ids) i
                          join memory.memories m on m.tenant_id = r.tenant_id and m.id = i)
          and not exists (select from unnest(r.item_ids) i
                          join memory.tombstones t on t.tenant_id = r.tenant_id and t.memory_id = i)
        order by r.asked_at, r.id limit most
    ), uncounted as (
        delete from memory.accesses a using old where a.recall_id = old.id
    )
    delete from log.recalls r using old where r.id = old.id;
    get diagnostics recalls = row_count;
    -- of the others, what was asked: a rebuild reads who asked when and for which memories
    with old as (
        select r.id from log.recalls r where r.asked_at < before and r.question <> ''
        order by r.asked_at, r.id limit most
    )
    update log.recalls r set question = '' from old where r.id = old.id;
    get diagnostics questions = row_count;
end
$$;
comment on function ops.retire_recalls is 'Delete old recalls that memory does not depend on, and what was asked in the others; as the owner.';

create function ops.retire_contexts(before timestamptz, most int) returns int
    language plpgsql security definer set search_path = '' as $$
declare
    contexts int;
begin
    delete from log.contexts c
    where (c.tenant_id, c.id) in (select tenant_id, id from log.contexts where assembled_at < before
                                  order by assembled_at, id limit most);
    get diagnostics contexts = row_count;
    return contexts;
end
$$;
comment on function ops.retire_contexts is 'Delete old rows of the log of contexts, which no stage reads; as the owner.';
