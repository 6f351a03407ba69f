-- Summaries name the turns of their session that they stand for; a running session's are told part by part (Chat flow 1).

alter table memory.memories add column turn_start int, add column turn_end int,
    add constraint memories_turns_check check (
        (turn_start is null) = (turn_end is null) and (turn_start is null or turn_start between 1 and turn_end));
comment on column memory.memories.turn_start is 'Of a summary: the first turn that it tells, counted from 1 in its session; null for other kinds.';
comment on column memory.memories.turn_end is 'Of a summary: the last turn that it tells.';
