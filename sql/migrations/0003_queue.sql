-- The deferred tier: which sessions wait to be worked in, and whose vectors are live.

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
comment on column ops.queue.tenant_id is 'Whose row it is; row-level security holds every session to one tenant.';
comment on column ops.queue.subject_id is 'Whom or what the tenant remembers things about.';
comment on column ops.queue.session_id is 'The caller''s id of the conversation.';
comment on column ops.queue.shard is 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.';

alter table ops.queue enable row level security;
alter table ops.queue force row level security;
alter table ops.queue alter column tenant_id set statistics 0;
create policy tenant on ops.queue using (tenant_id = (select current_setting('reverie.tenant', true)));
grant select, insert, update, delete on ops.queue to reverie_worker;

-- A worker must find work without trying every tenant. It is told whose sessions wait, how many and since when, and no
-- subject or session: those it sees as any other row, one tenant at a time. The policy is for the function alone, which
-- runs as the owner; nobody logs in as the owner but to migrate.
create policy backlog on ops.queue for select to reverie_owner using (true);
create function ops.waiting_tenants(as_of timestamptz, at timestamptz) returns table (tenant_id text, sessions bigint, due_at timestamptz)
    language sql stable security definer set search_path = '' as $$
    select q.tenant_id, count(*), min(q.due_at)
    from ops.queue q
    where q.due_at <= as_of and (q.leased_until is null or q.leased_until <= at)
    group by q.tenant_id
    order by min(q.due_at), q.tenant_id
$$;
comment on function ops.waiting_tenants is 'Tenants with sessions that are due by as_of and that nobody has a lease of at a time: how many, and since when.';
revoke execute on function ops.waiting_tenants from public;
grant execute on function ops.waiting_tenants to reverie_worker;

-- A session that failed too often is a dead letter too, and can be tried again.
alter table ops.dead_letters add column subject_id text, add column session_id text;
comment on column ops.dead_letters.subject_id is 'Subject of a session that could not be worked in; null for a record.';
comment on column ops.dead_letters.session_id is 'The session; null for a record.';

alter table ops.tenants add column model text;
comment on column ops.tenants.model is 'Embedding model whose vectors are live; null until something is embedded.';
