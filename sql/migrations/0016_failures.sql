-- A dead letter may be an item, or a subject, that a stage cannot work in.

alter table ops.dead_letters add column item text;
comment on column ops.dead_letters.item is 'Id of the turn, event or memory that a stage failed on; null for a record and for a whole subject.';
comment on column ops.dead_letters.source is 'File name the record came from; stage:<name> for what a stage failed on.';
comment on column ops.dead_letters.subject_id is 'Subject of a session that could not be worked in, or of what a stage failed on; null for a record.';

-- read by every stage run, and short
create index dead_letters_stages on ops.dead_letters (tenant_id, source, subject_id) where source like 'stage:%';
