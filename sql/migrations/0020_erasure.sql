-- Erasure: what was erased is gone, a receipt without content says so, and nothing takes it in again.

create table ops.erasure_keys (
    tenant_id text primary key,
    inner_key bytea not null
        default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
    outer_key bytea not null
        default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);
comment on table ops.erasure_keys is 'Secrets of a tenant, random, by which names of what was erased are hashed: without them a guess cannot be compared.';
comment on column ops.erasure_keys.inner_key is 'Key of the inner hash, as long as its block.';
comment on column ops.erasure_keys.outer_key is 'Key of the outer hash, as long as its block.';

create table ops.erasures (
    tenant_id text not null,
    number bigint not null check (number > 0),
    id uuid not null,
    kind text not null check (kind in ('turn', 'session', 'memory', 'subject', 'tenant', 'retention')),
    target bytea not null,
    counts jsonb not null,
    erased_at timestamptz not null,
    actor text check (length(actor) between 1 and 200),
    previous bytea not null,
    hash bytea not null,
    primary key (tenant_id, number),
    unique (tenant_id, id)
);
comment on table ops.erasures is 'A receipt of each erasure, without content and without names; append-only.';
comment on column ops.erasures.number is 'Receipts of a tenant are counted from 1 without gaps.';
comment on column ops.erasures.id is 'Random id of the receipt.';
comment on column ops.erasures.kind is 'What was named: turn, session, memory, subject, tenant, or retention: what was too old.';
comment on column ops.erasures.target is 'Keyed hash of the ids that were named: who knows them can find the receipt.';
comment on column ops.erasures.counts is 'Rows that were deleted or stripped, by table.';
comment on column ops.erasures.erased_at is 'When it was erased, by the clock; of a retention the logical time of the run.';
comment on column ops.erasures.actor is 'Who asked for it, as the caller says; null where nobody said.';
comment on column ops.erasures.previous is 'Hash of the receipt before; 32 zeros in the first.';
comment on column ops.erasures.hash is 'sha256 over the receipt and the hash of the one before: a chain that shows a changed or missing one.';

create table ops.erased (
    tenant_id text not null,
    mark bytea not null,
    erasure_id uuid not null,
    primary key (tenant_id, mark)
);
comment on table ops.erased is 'Turns and events that were erased, by keyed hash: they are not taken in again.';
comment on column ops.erased.mark is 'ops.mark_of what was erased.';
comment on column ops.erased.erasure_id is 'Its receipt, in ops.erasures.';

-- A hash within a hash, each with a key of its own of one block (NMAC, of which HMAC is the form with one key). It runs as the
-- owner: whoever appends to the log compares marks and never reads the keys.
create function ops.mark_of(kind text, parts text[]) returns bytea
    language sql stable security definer set search_path = '' as $$
    select sha256(k.outer_key || sha256(k.inner_key || convert_to(kind || chr(31) || array_to_string(parts, chr(31)), 'UTF8')))
    from ops.erasure_keys k
    where k.tenant_id = current_setting('reverie.tenant', true)
$$;
comment on function ops.mark_of is 'Keyed hash of what a name stands for in the session''s tenant, such as turn of {subject, session, source_id}.';

create function ops.is_erased(kind text, parts text[]) returns boolean
    language sql stable security definer set search_path = '' as $$
    select exists (select from ops.erased e where e.tenant_id = current_setting('reverie.tenant', true) offset 0)
       and exists (select from ops.erased e
                   where e.tenant_id = current_setting('reverie.tenant', true) and e.mark = ops.mark_of(kind, parts))
$$;
comment on function ops.is_erased is 'Whether the session''s tenant erased the turn or event of this name.';

-- keys of the tenants that there are: a backup made from now on can take receipts made later; the owner sees no tenant's rows
-- unless it is let
alter table ops.tenants no force row level security;
insert into ops.erasure_keys (tenant_id) select tenant_id from ops.tenants on conflict do nothing;
alter table ops.tenants force row level security;

create table ops.consents (
    tenant_id text not null,
    subject_id text not null check (length(subject_id) between 1 and 200),
    capture boolean not null default true,
    recall boolean not null default true,
    retain_days int check (retain_days > 0),
    changed_at timestamptz not null,
    actor text check (length(actor) between 1 and 200),
    primary key (tenant_id, subject_id)
);
comment on table ops.consents is 'What a subject agreed to, where it is not everything: a subject without a row is captured, recalled and kept.';
comment on column ops.consents.capture is 'Whether turns and events are taken in.';
comment on column ops.consents.recall is 'Whether recalls and contexts answer from memory.';
comment on column ops.consents.retain_days is 'Days after which turns are erased, by the tenant''s clock; null: never.';
comment on column ops.consents.changed_at is 'When it was last changed, by the clock.';
comment on column ops.consents.actor is 'Who asked for the change, as the caller says; null where nobody said.';

-- data teams count erasures and consents; names and hashes are withheld
grant select (tenant_id, number, kind, counts, erased_at) on ops.erasures to reverie_analyst;
grant select (tenant_id, capture, recall, retain_days, changed_at) on ops.consents to reverie_analyst;
