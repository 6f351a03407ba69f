-- A correction names the turns and events that its memory rested on, and the memory's kind, so that it holds where another policy
-- makes no memory of that id.

alter table log.corrections add column source_ids uuid[], add column memory_kind text;
comment on column log.corrections.source_ids is 'Turns and events that a withheld memory rested on when it was corrected; null: none, or not known. They are withheld where that memory is not made.';
comment on column log.corrections.memory_kind is 'Kind of the memory when it was corrected; null: not known. The replacement''s id follows from it.';
grant select (source_ids, memory_kind) on log.corrections to reverie_analyst;

-- of corrections from before, as far as memory still tells
alter table log.corrections no force row level security;
alter table memory.marks no force row level security;
alter table memory.memories no force row level security;
alter table memory.tombstones no force row level security;
update log.corrections c set source_ids = k.ids
from (select tenant_id, correction_id, array_agg(item_id order by item_id) as ids from memory.marks
      where item <> 'memory' and not derived
      group by tenant_id, correction_id) k
where c.kind in ('wrong', 'replace', 'forget') and k.tenant_id = c.tenant_id and k.correction_id = c.id;
update log.corrections c set memory_kind = m.kind
from (select tenant_id, id, kind from memory.memories
      union all
      select tenant_id, memory_id, kind from memory.tombstones) m
where c.kind not in ('keep_apart', 'retract') and m.tenant_id = c.tenant_id and m.id = c.memory_id;
alter table memory.tombstones force row level security;
alter table memory.memories force row level security;
alter table memory.marks force row level security;
alter table log.corrections force row level security;
-- squawk-ignore require-concurrent-index-creation
create index corrections_of_memory on log.corrections (tenant_id, memory_id);
