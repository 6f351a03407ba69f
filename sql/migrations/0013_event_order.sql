-- Turns of a session are read in event time; of turns said at the same time, the one that arrived first comes first.
drop index log.turns_by_place;
create index turns_by_place on log.turns (tenant_id, subject_id, session_id, said_at, turn_index, id);
comment on column log.turns.turn_index is 'Orders turns of a session that were said at the same time: the caller''s index, or the order of arrival.';
