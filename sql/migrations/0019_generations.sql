-- Generations: memories of a tenant that a rebuild made beside the live one, each in a database of its own; and the subjects of
-- whom history arrived late.

create table ops.generations (
    tenant_id text not null,
    number int not null check (number > 0),
    database text not null,
    state text not null check (state in ('building', 'ready', 'published', 'reverted', 'dropped')),
    policy text not null,
    policy_hash text not null,
    model text not null,
    embedder text not null,
    without_source text,
    as_of timestamptz not null,
    turns bigint,
    memories bigint,
    sha256 text,
    seconds double precision not null default 0,
    made_at timestamptz not null default clock_timestamp(),
    published_at timestamptz,
    kept_until timestamptz,
    replaced_policy text,
    replaced_model text,
    lock_seconds double precision,
    primary key (tenant_id, number)
);
comment on table ops.generations is 'Memories of a tenant that rebuilds made beside the live one, each in a database of its own on the same server.';
comment on column ops.generations.number is 'Number of the generation, from 1; never used again.';
comment on column ops.generations.database is 'Name of the database that holds it.';
comment on column ops.generations.state is 'building: not complete, the same command goes on; ready: it can be compared and published; published: live memory is this one; reverted: live memory is again what it replaced; dropped: its database is gone.';
comment on column ops.generations.policy is 'Name or path of the policy that made it.';
comment on column ops.generations.policy_hash is 'Hash of all numbers of that policy.';
comment on column ops.generations.model is 'Key of the embedding model that made it.';
comment on column ops.generations.embedder is 'Name that loads that model, as REVERIE_EMBEDDING_MODEL has it.';
comment on column ops.generations.without_source is 'Source whose turns and events were left out; null: none.';
comment on column ops.generations.as_of is 'Logical time up to which it was made.';
comment on column ops.generations.turns is 'Number of turns in its log when it was last brought up to date.';
comment on column ops.generations.memories is 'Number of its memories when it was last brought up to date.';
comment on column ops.generations.sha256 is 'Digest of its memory when it was last brought up to date.';
comment on column ops.generations.seconds is 'Seconds spent on making it, over all attempts.';
comment on column ops.generations.made_at is 'When it was begun, by the clock.';
comment on column ops.generations.published_at is 'When it was published or reverted last, by the clock.';
comment on column ops.generations.kept_until is 'Until when what it replaced is kept, by the clock; its database is dropped afterwards.';
comment on column ops.generations.replaced_policy is 'Policy of the memory that it replaced, or was replaced by when it was reverted; null: never published.';
comment on column ops.generations.replaced_model is 'Embedding model of that memory.';
comment on column ops.generations.lock_seconds is 'How long the last publish or revert kept stages of the tenant waiting.';
grant select (tenant_id, number, state, policy, policy_hash, model, embedder, without_source, as_of, turns, memories, sha256, seconds,
              made_at, published_at, kept_until, replaced_policy, replaced_model, lock_seconds)
    on ops.generations to reverie_analyst;

create table ops.late_subjects (
    tenant_id text not null,
    subject_id text not null,
    happened_at timestamptz not null,
    noticed_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, subject_id)
);
comment on table ops.late_subjects is 'Subjects of whom something was read after cycles had gone beyond its time: their memory is not yet what event order would have given.';
comment on column ops.late_subjects.happened_at is 'Event time of the earliest turn or event that was late.';
comment on column ops.late_subjects.noticed_at is 'When the first of them was read, by the clock.';
grant select (tenant_id, subject_id, happened_at, noticed_at) on ops.late_subjects to reverie_analyst;
