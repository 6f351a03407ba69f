-- A correction can be taken back: a row of kind retract names it in other_id, and memory is made as if it had not been made.

-- squawk-ignore-file require-concurrent-index-creation, ban-drop-constraint, constraint-missing-not-valid
alter table log.corrections
    drop constraint corrections_kind_check,
    add constraint corrections_kind_check
        check (kind in ('keep_apart', 'wrong', 'replace', 'forget', 'pin', 'unpin', 'retract')) not valid;
alter table log.corrections validate constraint corrections_kind_check;
create index corrections_retracted on log.corrections (tenant_id, other_id) where kind = 'retract';
comment on column log.corrections.kind is 'keep_apart: these two are not the same, undoes their merge; wrong: forget it; replace: forget it, content is right; forget: it is not wrong, and not to be remembered; pin: keep it; unpin: treat it as any other again; retract: the correction other_id does not hold.';
comment on column log.corrections.other_id is 'Of a keep_apart the memory it is to be kept apart from; of a retract the correction that is taken back.';
comment on column memory.corrected.correction_id is 'The correction, in log.corrections; one that was taken back counts as worked in.';
