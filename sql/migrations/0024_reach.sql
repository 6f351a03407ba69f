-- Moving in from other memory systems, and a key-value store for agent frameworks.

-- What another memory system knew comes in as an event of the channel `import`, with its end where that is known.
-- The new check allows more than the old one, so every row passes it, and nobody may expect less.
-- squawk-ignore ban-drop-constraint
alter table log.events drop constraint events_channel_check;
-- squawk-ignore constraint-missing-not-valid
alter table log.events add constraint events_channel_check
    check (channel in ('interactive', 'autonomous', 'tool', 'attachment', 'import'));
alter table log.events add column ends_at timestamptz;
comment on column log.events.channel is 'Channel of the observation: interactive, autonomous, tool, attachment, or import: from another memory system.';
comment on column log.events.ends_at is 'When it stopped being true, if the system that it was imported from says so.';
grant select (ends_at) on log.events to reverie_analyst;

-- A profile says what holds: an event that ends is a memory of its own and no part of it.
create or replace view ops.unsynthesized with (security_invoker = true) as
    select e.tenant_id, e.subject_id, e.shard, 'event' as item, e.id as item_id, e.observed_at as at, e.type, e.channel,
           e.connection_id, e.key, e.content
    from log.events e
    where e.ends_at is null
      and not exists (select from memory.synthesized s where s.tenant_id = e.tenant_id and s.item_id = e.id)
    union all
    select m.tenant_id, m.subject_id, m.shard, 'memory', m.id, m.happened_at,
           case when m.turn_id is null then 'correction' else m.kind end, 'interactive', null, null, m.content
    from memory.memories m
    where m.kind in ('fact', 'preference', 'instruction') and (m.turn_id is not null or m.origin like 'correction%')
      and not exists (select from memory.synthesized s where s.tenant_id = m.tenant_id and s.item_id = m.id);
comment on column ops.unsynthesized.channel is 'Channel of the observation: interactive, autonomous, tool, attachment or import.';

-- The store of agent frameworks: exact key-value semantics, beside memory and never read by a stage.
create table ops.store_items (
    tenant_id text not null,
    namespace text[] not null check (cardinality(namespace) between 1 and 20 and array_position(namespace, null) is null),
    key text not null check (length(key) between 1 and 200),
    value jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    ttl_minutes double precision check (ttl_minutes > 0),
    expires_at timestamptz,
    primary key (tenant_id, namespace, key)
);
create index store_items_by_time on ops.store_items (tenant_id, updated_at desc);
create index store_items_by_end on ops.store_items (tenant_id, expires_at) where expires_at is not null;
comment on table ops.store_items is 'Items of the key-value store that adapters of agent frameworks use; each put replaces the value before.';
comment on column ops.store_items.namespace is 'Labels from the outermost to the innermost. An erasure of a subject deletes the items that have it as a label.';
comment on column ops.store_items.key is 'The caller''s name of the item, unique in its namespace.';
comment on column ops.store_items.value is 'What the caller put, as it is.';
comment on column ops.store_items.created_at is 'When the key was first put.';
comment on column ops.store_items.updated_at is 'When the value was last put.';
comment on column ops.store_items.ttl_minutes is 'Minutes from the last put, or the last read that refreshes it, to the end of the item; null: no end.';
comment on column ops.store_items.expires_at is 'When it ends; from then on nobody reads it.';

-- data teams count items; names and values are withheld
grant select (tenant_id, created_at, updated_at, ttl_minutes, expires_at) on ops.store_items to reverie_analyst;
