-- Turns that a language model reads too: who read each, why nobody did, and what a memory states by key.

alter table memory.extractions
    add column model text,
    add column discarded int not null default 0 check (discarded >= 0),
    add column unread text,
    add column waits boolean not null default false,
    add constraint extractions_wait_check check (not waits or (unread is not null and model is null));
create index extractions_waiting on memory.extractions (tenant_id, subject_id, turn_id) where waits;
comment on table memory.extractions is 'One row a turn: how many candidates it gave, or why none; which model read it beside the rules, or why none did.';
comment on column memory.extractions.candidates is 'How many candidates it gave, by the rules and by the model.';
comment on column memory.extractions.model is 'Language model that read it too; null: the rules alone.';
comment on column memory.extractions.discarded is 'Notes of the model that were not taken; their reasons are counted in the run.';
comment on column memory.extractions.unread is 'Why no model has read it: unasked, or the reason of the failure as a code; null: it has, or it was not to.';
comment on column memory.extractions.waits is 'Whether the next extract run with a model asks about it.';

alter table memory.memories add column stated jsonb;
comment on column memory.memories.stated is 'What it states by key, as a language model said: {category, key, value, confidence, importance}; null: its rule knows, or nothing.';
