-- What a language model says of the end of earlier statements.

create table memory.judged_ends (
    tenant_id text not null,
    memory_id uuid not null,
    turn_id uuid not null,
    subject_id text not null,
    by_id uuid not null,
    model text not null,
    run_id uuid not null,
    primary key (tenant_id, memory_id, turn_id)
);
create index judged_ends_by_subject on memory.judged_ends (tenant_id, subject_id);
comment on table memory.judged_ends is 'Statements that a later message ends, as a language model judged.';
comment on column memory.judged_ends.memory_id is 'The memory that no longer holds.';
comment on column memory.judged_ends.turn_id is 'The message that ends it.';
comment on column memory.judged_ends.by_id is 'The memory of that message that is nearest to it.';
comment on column memory.judged_ends.model is 'Language model that judged.';
comment on column memory.judged_ends.run_id is 'Run that wrote the row, in ops.runs.';
grant select (tenant_id, memory_id, turn_id, subject_id, by_id, model, run_id) on memory.judged_ends to reverie_analyst;

alter table memory.extractions add column ends_wait boolean not null default false;
comment on column memory.extractions.ends_wait is 'Whether the next facts run with a model will ask what the turn ends.';
alter table memory.extractions add column ends_model text;
comment on column memory.extractions.ends_model is 'Language model that was asked what the turn ends; null: none was.';
grant select (ends_wait, ends_model) on memory.extractions to reverie_analyst;
-- squawk-ignore require-concurrent-index-creation
create index extractions_ends_wait on memory.extractions (tenant_id, subject_id, turn_id) where ends_wait;
