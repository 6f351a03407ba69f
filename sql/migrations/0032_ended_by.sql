-- The end of a memory rests on the turn that ended it: it stays when the statement that told it is forgotten.

alter table memory.memories add column ended_by uuid;
comment on column memory.memories.ended_by is 'The turn that ended it, in log.turns; null: nothing did, or no turn.';
grant select (ended_by) on memory.memories to reverie_analyst;

-- what ended before: by the turn of the memory that ended it
alter table memory.memories no force row level security;
update memory.memories m set ended_by = b.turn_id
from memory.memories b
where m.state = 'superseded' and b.tenant_id = m.tenant_id and b.id = m.superseded_by and b.turn_id is not null;
alter table memory.memories force row level security;
