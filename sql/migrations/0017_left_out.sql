-- How many candidates of a turn were beyond the policy's number for one turn.

alter table memory.extractions add column left_out int not null default 0 check (left_out >= 0);
comment on column memory.extractions.left_out is 'Candidates that were left out, as the policy takes no more from one turn.';
