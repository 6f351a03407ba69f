-- A message that states nothing may end something all the same.

comment on column memory.judged_ends.by_id is 'The memory of that message that is nearest to it; the message itself, by its turn_id, where it left none.';
comment on column memory.memories.superseded_by is 'The memory whose statement ended this one; the turn (ended_by) where the message stated nothing.';
-- squawk-ignore require-concurrent-index-creation
create index extractions_unjudged on memory.extractions (tenant_id, subject_id, turn_id) where ends_model is null and not ends_wait;
