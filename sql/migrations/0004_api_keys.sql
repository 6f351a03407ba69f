-- Keys by which callers of the API are let in. A key names its tenant, so that even the look-up sees one tenant's rows alone.

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
comment on column ops.api_keys.tenant_id is 'Whose row it is; row-level security holds every session to one tenant.';
comment on column ops.api_keys.id is 'By which a key is named when it is listed or revoked.';
comment on column ops.api_keys.name is 'What people call it.';
comment on column ops.api_keys.digest is 'sha256 of the key, which is random and long enough to need no salt.';
comment on column ops.api_keys.scopes is 'What it is for: read, write, admin; admin may do everything.';
comment on column ops.api_keys.made_at is 'When it was made.';
comment on column ops.api_keys.expires_at is 'From when on it lets nobody in; null: never by itself.';
comment on column ops.api_keys.revoked_at is 'When it was revoked; null: in force.';

alter table ops.api_keys enable row level security;
alter table ops.api_keys force row level security;
alter table ops.api_keys alter column tenant_id set statistics 0;
create policy tenant on ops.api_keys using (tenant_id = (select current_setting('reverie.tenant', true)));
grant select, insert, update, delete on ops.api_keys to reverie_worker;
