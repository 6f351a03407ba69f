-- How far a table or query of another Postgres was read, and dead letters of its rows.

create table ops.sources (
    tenant_id text not null,
    name text not null check (length(name) between 1 and 200),
    cursor_column text,
    place text,
    mapping jsonb not null default '{}',
    read_at timestamptz not null,
    primary key (tenant_id, name)
);
comment on table ops.sources is 'Tables and queries of other databases that turns are imported from, and how far each was read.';
comment on column ops.sources.name is 'Name of the source.';
comment on column ops.sources.cursor_column is 'Column that its rows are read in the order of; null: each import reads all rows.';
comment on column ops.sources.place is 'Value of that column in the last row that was taken, as text; the next import begins there.';
comment on column ops.sources.mapping is 'How its fields were mapped, given and assumed: {ours: theirs, role:THEIRS: role}.';
comment on column ops.sources.read_at is 'When it was last read.';

comment on column ops.dead_letters.source is 'File name or source that the record came from; stage:<name> for what a stage failed on.';
comment on column ops.dead_letters.line is 'Line or row of the file, from 1; null where the file as a whole is meant, and for a row that has a key.';
comment on column ops.dead_letters.item is 'Key of the row of a table; id of the turn, event or memory that a stage failed on; null for other records and for a whole subject.';

grant select (tenant_id, read_at) on ops.sources to reverie_analyst;
