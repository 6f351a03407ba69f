-- What turns and events belong to besides their subject, as columns; the tools of a connection, cached; and the preferences
-- that a running session stated; and what recall and the check for near-duplicates read of turns on their way to the log.
-- An upgrade runs alone, in one transaction, so what would lock a busy table is no concern here.
-- squawk-ignore-file require-concurrent-index-creation

-- What a turn belongs to, by its role, speaker and metadata: a turn in the log and one on its way there have the same. Postgres
-- puts the body in the place of a call.
create function log.attributes_of_turn(role text, speaker text, metadata jsonb)
    returns table (context_type text, source text, connection_id text, tool_id text, attachment_id text, filename text,
                   organisation text)
    language sql immutable as $$
    select case when metadata ->> 'context_type' in ('user_profile', 'user_persistent', 'tool_schema', 'tool_entity',
                                                     'tool_persistent', 'tool_attachment_content')
                then metadata ->> 'context_type'
                when role = 'tool' then 'tool_entity' else 'user_profile' end,
           case when metadata ->> 'source' in ('user_provided', 'system_learned', 'tool_indexed', 'tool_extracted_content')
                then metadata ->> 'source'
                when role = 'user' then 'user_provided' when role = 'tool' then 'tool_indexed'
                else 'system_learned' end,
           metadata ->> 'connection_id',
           coalesce(metadata ->> 'tool_id', case when role = 'tool' then speaker end),
           metadata ->> 'attachment_id',
           metadata ->> 'filename',
           metadata ->> 'organisation'
$$;
comment on function log.attributes_of_turn is 'What a turn belongs to, by its role, speaker and metadata.';

create view log.attributes with (security_invoker = true) as
    select t.tenant_id, t.subject_id, t.id, 'turn' as item, t.session_id, a.context_type, a.source, a.connection_id, a.tool_id,
           a.attachment_id, a.filename, a.organisation
    from log.turns t
    cross join lateral log.attributes_of_turn(t.role, t.speaker, t.metadata) a
    union all
    select p.tenant_id, p.subject_id, p.id, 'turn', p.session_id, a.context_type, a.source, a.connection_id, a.tool_id,
           a.attachment_id, a.filename, a.organisation
    from ops.pending_turns p
    cross join lateral log.attributes_of_turn(p.role, p.speaker, p.metadata) a
    union all
    select e.tenant_id, e.subject_id, e.id, 'event', e.session_id,
           case when e.metadata ->> 'context_type' in ('user_profile', 'user_persistent', 'tool_schema', 'tool_entity',
                                                       'tool_persistent', 'tool_attachment_content')
                then e.metadata ->> 'context_type'
                when e.type = 'learned_fact' then 'user_persistent' when e.type = 'connection_context' then 'tool_persistent'
                when e.type = 'attachment' then 'tool_attachment_content' when e.type = 'tool_output' then 'tool_entity'
                else 'user_profile' end,
           case when e.metadata ->> 'source' in ('user_provided', 'system_learned', 'tool_indexed', 'tool_extracted_content')
                then e.metadata ->> 'source'
                when e.type = 'attachment' then 'tool_extracted_content' when e.type = 'tool_output' then 'tool_indexed'
                when e.channel = 'autonomous' or e.type = 'connection_context' then 'system_learned'
                else 'user_provided' end,
           coalesce(e.connection_id, e.metadata ->> 'connection_id'),
           coalesce(e.metadata ->> 'tool_id', case when e.type = 'tool_output' then e.key end),
           e.metadata ->> 'attachment_id',
           coalesce(e.metadata ->> 'filename', case when e.type = 'attachment' then e.key end),
           e.metadata ->> 'organisation'
    from log.events e;
comment on view log.attributes is 'What each turn, in the log or on its way there, and each event belongs to: of its own columns, else of its metadata, else by its role or type.';
comment on column log.attributes.id is 'The turn or event.';
comment on column log.attributes.item is 'turn or event.';
comment on column log.attributes.context_type is 'user_profile, user_persistent, tool_schema, tool_entity, tool_persistent or tool_attachment_content.';
comment on column log.attributes.source is 'user_provided, system_learned, tool_indexed or tool_extracted_content.';
comment on column log.attributes.connection_id is 'The tool connection that it holds for; null: for the subject as such.';
comment on column log.attributes.tool_id is 'The tool that it came from.';
comment on column log.attributes.attachment_id is 'The attachment that it came from.';
comment on column log.attributes.filename is 'The file of that attachment.';
comment on column log.attributes.organisation is 'The organisation that it belongs to, as the caller names it.';
comment on column log.turns.metadata is 'What the caller wants kept with the turn; never read by a stage. log.attributes reads some of its keys.';
comment on column log.events.metadata is 'Source metadata: message, attachment, tool; never read by a stage. log.attributes reads some of its keys.';
comment on column log.contexts.sections is 'A row a section: [{name, budget, tokens, items, dropped, lines}]; numbers, and the ids that each line tells.';

create table ops.connection_tools (
    tenant_id text not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    connection_id text not null check (length(connection_id) between 1 and 200),
    tools jsonb not null,
    read_at timestamptz not null,
    expires_at timestamptz not null check (expires_at >= read_at),
    primary key (tenant_id, subject_id, connection_id)
);
alter table ops.connection_tools
    alter column tools set statistics 0;
comment on table ops.connection_tools is 'The tools of a subject''s connection as the caller last read them; out of date after some time, and then not given.';
comment on column ops.connection_tools.connection_id is 'The tool connection.';
comment on column ops.connection_tools.tools is 'Its tools: [name or {name, ...}].';
comment on column ops.connection_tools.read_at is 'When the caller read them from the connection.';
comment on column ops.connection_tools.expires_at is 'From when on they are out of date.';

alter table ops.sessions
    add column stated jsonb not null default '[]';
alter table ops.sessions
    alter column stated set statistics 0;
comment on column ops.sessions.stated is 'Preferences and instructions that the rules found in the session''s messages: [{turn_id, text}], the latest 100.';

alter table ops.pending_turns
    add column candidates jsonb not null default '[]';
alter table ops.pending_turns
    alter column candidates set statistics 0;
comment on column ops.pending_turns.candidates is 'Its candidates that later ones are compared with: [{id, kind, hash}]; their vectors are in ops.embeddings under the hash.';

create index memories_superseded_of on memory.memories (tenant_id, subject_id) where state = 'superseded';
