-- A recall has a mark once it is counted, and another once retention keeps it, so that a cycle reads the recalls that are new, and
-- retention each once. Deliveries to webhooks compare what may have changed.

-- recalls from before are taken as counted, without writing each of them; a new one has no mark
alter table log.recalls add column standing text default 'counted' check (standing in ('counted', 'kept'));
-- the column is of this migration: nobody counts on its default
-- squawk-ignore ban-drop-default
alter table log.recalls alter column standing drop default;
comment on column log.recalls.standing is 'Null: score has not counted it yet; counted; kept: counted and past its retention, but importance depends on it.';
grant select (standing) on log.recalls to reverie_analyst;
alter table log.recalls no force row level security;
alter table memory.accesses no force row level security;
update log.recalls r set standing = null
where not exists (select from memory.accesses a where a.tenant_id = r.tenant_id and a.recall_id = r.id);
alter table memory.accesses force row level security;
alter table log.recalls force row level security;
-- squawk-ignore require-concurrent-index-creation
create index recalls_to_count on log.recalls (tenant_id, asked_at) where standing is null;
-- squawk-ignore require-concurrent-index-creation
create index recalls_to_retire on log.recalls (tenant_id, asked_at, id) where standing = 'counted';

-- As before, but each recall is looked at once: it is deleted or kept. Rows that a stage is at work on wait for the next time.
-- its result has one column more: maintenance by a worker of the version before fails until that is upgraded
-- squawk-ignore ban-drop-function
drop function ops.retire_recalls;
create function ops.retire_recalls(before timestamptz, most int, out recalls int, out kept int, out questions int)
    language plpgsql security definer set search_path = '' set enable_sort = off as $$
declare
    old uuid[];
begin
    select array_agg(o.id) into old
    from (select r.id from log.recalls r
          join memory.accesses a on a.tenant_id = r.tenant_id and a.recall_id = r.id
          where r.standing = 'counted' and r.asked_at < before
          order by r.asked_at, r.id limit most for update skip locked) o;
    update log.recalls r set standing = 'kept'
    where r.id = any(old)
      and (exists (select from unnest(r.item_ids) i
                   join memory.memories m on m.tenant_id = r.tenant_id and m.id = i)
           or exists (select from unnest(r.item_ids) i
                      join memory.tombstones t on t.tenant_id = r.tenant_id and t.memory_id = i));
    get diagnostics kept = row_count;
    -- of turns alone: no memory was asked for, so no importance follows from it
    delete from memory.accesses a using log.recalls r
    where r.id = any(old) and r.standing = 'counted' and a.tenant_id = r.tenant_id and a.recall_id = r.id;
    delete from log.recalls r where r.id = any(old) and r.standing = 'counted';
    get diagnostics recalls = row_count;
    -- of the others, what was asked: a rebuild reads who asked when and for which memories
    update log.recalls r set question = ''
    where r.ctid = any(array(select o.ctid from log.recalls o where o.asked_at < before and o.question <> ''
                             order by o.asked_at, o.id limit most for update skip locked));
    get diagnostics questions = row_count;
end
$$;
comment on function ops.retire_recalls is 'Delete old recalls that memory does not depend on, keep the others, without their questions; as the owner.';

-- Deliveries compare the memory of the subjects that a run has named since, and all of it now and then.
alter table ops.subscriptions add column compared_at timestamptz;
comment on column ops.subscriptions.compared_at is 'When all memories were last compared with ops.announced, by the clock of the database; null: not yet.';
grant select (compared_at) on ops.subscriptions to reverie_analyst;
-- squawk-ignore require-concurrent-index-creation
create index runs_by_finish on ops.runs (tenant_id, finished_at);
