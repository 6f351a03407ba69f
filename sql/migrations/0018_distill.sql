-- How sure a reader is of what a memory states, and how sure it is where a language model claims the same of the turn.
alter table memory.memories
    add column confidence double precision check (confidence between 0 and 1),
    add column agreed double precision check (agreed between 0 and 1);
comment on column memory.memories.confidence is 'How sure our reader, or the language model, is of the statement; null: a rule or a person made it.';
comment on column memory.memories.agreed is 'How sure both are, where our reader and a language model read the same in the turn; null: one of them did.';

-- What a tenant's own language model taught our reader.
create table ops.reader_heads (
    tenant_id text not null,
    version text not null,
    reader text not null,
    head jsonb not null,
    models text[] not null,
    replies int not null check (replies > 0),
    figures jsonb not null,
    made_at timestamptz not null,
    retired_at timestamptz,
    primary key (tenant_id, version)
);
create unique index reader_heads_current on ops.reader_heads (tenant_id) where retired_at is null;
comment on table ops.reader_heads is 'Calibrations of our reader by the kept replies of a tenant''s language model: weights, no content. At most one is in force.';
comment on column ops.reader_heads.version is 'Version of the reader with this head, as in memory.extractions.reader.';
comment on column ops.reader_heads.reader is 'Version of the reader that it was trained for; it is not used with another.';
comment on column ops.reader_heads.head is 'Means, scales and weights of its logistic regression, and the steps from its chances to the scale of sure.';
comment on column ops.reader_heads.models is 'Language models whose replies it learned from.';
comment on column ops.reader_heads.replies is 'Number of kept replies that it learned from.';
comment on column ops.reader_heads.figures is 'Calls saved and agreement on the turns held back, with the shipped calibration and with this head.';
comment on column ops.reader_heads.made_at is 'When it was trained.';
comment on column ops.reader_heads.retired_at is 'When another took its place, or it was reset; null: it is in force.';

-- data teams compare how sure memories are, and what heads are worth
grant select (confidence, agreed) on memory.memories to reverie_analyst;
grant select (tenant_id, version, reader, head, models, replies, figures, made_at, retired_at) on ops.reader_heads to reverie_analyst;
