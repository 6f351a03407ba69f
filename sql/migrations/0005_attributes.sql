-- What turns and events belong to besides their subject, as columns; the tools of a connection, cached; and the preferences
-- that a running session stated.
-- An upgrade runs alone, in one transaction, so what would lock a busy table is no concern here.

create view log.attributes with (security_invoker = true) as
    select t.tenant_id, t.subject_id, t.id, 'turn' as item, t.session_id,
           case when t.metadata ->> 'context_type' in ('user_profile', 'user_persistent', 'tool_schema', 'tool_entity',
                                                       'tool_persistent', 'tool_attachment_content')
                then t.metadata ->> 'context_type'
                when t.role = 'tool' then 'tool_entity' else 'user_profile' end as context_type,
           case when t.metadata ->> 'source' in ('user_provided', 'system_learned', 'tool_indexed', 'tool_extracted_content')
                then t.metadata ->> 'source'
                when t.role = 'user' then 'user_provided' when t.role = 'tool' then 'tool_indexed'
                else 'system_learned' end as source,
           t.metadata ->> 'connection_id' as connection_id,
           coalesce(t.metadata ->> 'tool_id', case when t.role = 'tool' then t.speaker end) as tool_id,
           t.metadata ->> 'attachment_id' as attachment_id,
           t.metadata ->> 'filename' as filename,
           t.metadata ->> 'organisation' as organisation
    from log.turns t
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
comment on view log.attributes is 'What each turn and event belongs to: of its own columns, else of its metadata, else by its role or type.';
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

create index memories_superseded_of on memory.memories (tenant_id, subject_id) where state = 'superseded';
