-- A statement may be in doubt: a later message may have ended it, but the judge is not sure enough to say so.

alter table memory.memories add column doubted_by uuid;
comment on column memory.memories.doubted_by is 'The turn, in log.turns, that may have ended it; null: none has, or it was said again since.';
alter table memory.memories add column doubt real;
comment on column memory.memories.doubt is 'The chance that this turn ended it, by the judge.';
grant select (doubted_by, doubt) on memory.memories to reverie_analyst;
