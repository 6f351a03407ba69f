-- The outbox: what other systems subscribed to, and what is to be delivered to them.

create table ops.subscriptions (
    tenant_id text not null,
    id uuid not null,
    url text not null check (length(url) between 1 and 2000),
    secret text not null,
    events text[] not null check (cardinality(events) > 0),
    made_at timestamptz not null,
    ended_at timestamptz,
    primary key (tenant_id, id)
);
comment on table ops.subscriptions is 'Webhooks: where which events of a tenant are sent.';
comment on column ops.subscriptions.id is 'Random id.';
comment on column ops.subscriptions.url is 'Where they are sent, by POST.';
comment on column ops.subscriptions.secret is 'Key of their signatures; kept as it is, since it signs.';
comment on column ops.subscriptions.events is 'Names of events: trigger.due, memory.created, memory.superseded, memory.forgotten, memory.erased.';
comment on column ops.subscriptions.made_at is 'When it was made, by the clock.';
comment on column ops.subscriptions.ended_at is 'When it was ended, by the clock; null: it is in force.';

create table ops.outbox (
    tenant_id text not null,
    id uuid not null,
    subscription_id uuid not null,
    subject_id text,
    event text not null,
    item_id uuid not null,
    payload jsonb not null,
    made_at timestamptz not null,
    attempts int not null default 0,
    due_at timestamptz not null,
    leased_until timestamptz,
    delivered_at timestamptz,
    dead_at timestamptz,
    error text,
    primary key (tenant_id, id)
);
create index outbox_due on ops.outbox (tenant_id, due_at) where delivered_at is null and dead_at is null;
create index outbox_by_subject on ops.outbox (tenant_id, subject_id);
alter table ops.outbox alter column payload set statistics 0;
comment on table ops.outbox is 'Events for subscriptions: each is sent until it is accepted, or is a dead letter.';
comment on column ops.outbox.id is 'Id of the message, the same in every attempt (header webhook-id).';
comment on column ops.outbox.subscription_id is 'The subscription, in ops.subscriptions.';
comment on column ops.outbox.subject_id is 'Of whom it is; null: of somebody who was erased.';
comment on column ops.outbox.event is 'Name of the event.';
comment on column ops.outbox.item_id is 'The trigger or memory.';
comment on column ops.outbox.payload is 'What is sent: ids, times and numbers, no text.';
comment on column ops.outbox.made_at is 'Event time.';
comment on column ops.outbox.attempts is 'How often it was sent.';
comment on column ops.outbox.due_at is 'When it is sent next, by the clock.';
comment on column ops.outbox.leased_until is 'Until when whoever sends it holds it, by the clock.';
comment on column ops.outbox.delivered_at is 'When it was accepted, by the clock.';
comment on column ops.outbox.dead_at is 'When it was given up, by the clock; it can be replayed.';
comment on column ops.outbox.error is 'What the last attempt met: a status or the name of an error.';

create table ops.announced (
    tenant_id text not null,
    memory_id uuid not null,
    subject_id text not null,
    state text not null,
    primary key (tenant_id, memory_id)
);
create index announced_by_subject on ops.announced (tenant_id, subject_id);
comment on table ops.announced is 'Memories that subscribers know, as they know them; kept only where somebody subscribed to memories.';
comment on column ops.announced.memory_id is 'The memory.';
comment on column ops.announced.state is 'Its state when it was announced last.';

grant select (tenant_id, id, events, made_at, ended_at) on ops.subscriptions to reverie_analyst;
grant select (tenant_id, id, subscription_id, event, made_at, attempts, due_at, leased_until, delivered_at, dead_at, error)
    on ops.outbox to reverie_analyst;
grant select (tenant_id, memory_id, subject_id, state) on ops.announced to reverie_analyst;
