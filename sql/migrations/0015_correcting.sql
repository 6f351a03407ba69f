-- Corrections take effect with their answer, name who made them, and can ask to forget or to keep one memory.
alter table log.corrections
    add column actor text check (length(actor) between 1 and 200),
    drop constraint corrections_kind_check,
    add constraint corrections_kind_check check (kind in ('keep_apart', 'wrong', 'replace', 'forget', 'pin', 'unpin'));
comment on column log.corrections.kind is 'keep_apart: these two are not the same, undoes their merge; wrong: forget it; replace: forget it, content is right; forget: it is not wrong, and not to be remembered; pin: keep it; unpin: treat it as any other again.';
comment on column log.corrections.actor is 'Who asked for it, as the caller says; null where nobody said.';
comment on column memory.tombstones.reason is 'faded: asked for too seldom; unimportant: below the policy''s threshold from the start; wrong: a person said so; forgotten_on_request: a person did not want it remembered.';

create table memory.marks (
    tenant_id text not null,
    subject_id text not null,
    item_id uuid not null,
    correction_id uuid not null,
    item text not null check (item in ('turn', 'event', 'memory')),
    mark text not null check (mark in ('corrected', 'forgotten', 'pinned', 'replaced')),
    derived boolean not null default false,
    pending boolean not null,
    run_id uuid,
    primary key (tenant_id, subject_id, item_id, correction_id)
);
create index marks_by_correction on memory.marks (tenant_id, correction_id);
comment on table memory.marks is 'What recall and contexts withhold or always consider because of a correction: turns, events and memories.';
comment on column memory.marks.item_id is 'Id of the turn, event or memory.';
comment on column memory.marks.correction_id is 'The correction, in log.corrections.';
comment on column memory.marks.item is 'What item_id names: turn, event or memory.';
comment on column memory.marks.mark is 'corrected: it states what is wrong; forgotten: what is not to be remembered; both are withheld. replaced: withheld, a replacement stands in its place until the correction is worked in. pinned: always considered, and kept.';
comment on column memory.marks.derived is 'Of a memory: made of what is wrong, such as a summary; it is withheld and not forgotten.';
comment on column memory.marks.pending is 'Made with the request; the stage correct puts its own marks in the place of these.';

create table memory.replacements (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    correction_id uuid not null,
    kind text not null check (kind in ('fact', 'preference', 'instruction', 'episode')),
    content text not null check (content <> ''),
    importance real not null check (importance between 0 and 1),
    happened_at timestamptz not null,
    primary key (tenant_id, subject_id, id)
);
comment on table memory.replacements is 'What a person wrote in a memory''s place, from the request until the stage correct makes a memory of it.';
comment on column memory.replacements.id is 'Id that the memory will have.';
comment on column memory.replacements.correction_id is 'The correction, in log.corrections.';
comment on column memory.replacements.kind is 'Kind of the memory that was wrong.';
comment on column memory.replacements.content is 'What is right, as the person wrote it.';
comment on column memory.replacements.importance is 'Importance that the memory will start with.';
comment on column memory.replacements.happened_at is 'Event time of the correction.';

-- What a column means wherever it appears, isolation, grants: as in 0001.
do $$
declare
    c record;
    t regclass;
begin
    foreach t in array array['memory.marks', 'memory.replacements']::regclass[] loop
        for c in
            select a.attname as of_column, x.meaning
            from (values
                ('tenant_id', 'Whose row it is; row-level security holds every session to one tenant.'),
                ('subject_id', 'Whom or what the tenant remembers things about.'),
                ('run_id', 'Run that wrote the row, in ops.runs.')
            ) as x (of_column, meaning)
            join pg_catalog.pg_attribute a on a.attrelid = t and a.attname = x.of_column
        loop
            execute format('comment on column %s.%I is %L', t, c.of_column, c.meaning);
        end loop;
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        execute format('alter table %s alter column tenant_id set statistics 0', t);
        execute format('create policy tenant on %s using (tenant_id = (select current_setting(''reverie.tenant'', true)))', t);
    end loop;
end
$$;
grant select, insert, update, delete on memory.marks, memory.replacements to reverie_worker;
grant select on memory.marks, memory.replacements to reverie_reader;
