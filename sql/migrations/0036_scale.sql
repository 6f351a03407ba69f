-- Indexes for what is asked at every drain and at every maintenance, so that its cost follows what is new or due, not all that was stored.

-- prune asks by which policies it ran before
-- squawk-ignore require-concurrent-index-creation
create index runs_pruned on ops.runs (tenant_id, policy_hash, as_of) where stage = 'prune' and status = 'done';
-- retention asks for the oldest
-- squawk-ignore require-concurrent-index-creation
create index recalls_with_question on log.recalls (tenant_id, asked_at, id) where question <> '';
-- squawk-ignore require-concurrent-index-creation
create index contexts_by_time on log.contexts (tenant_id, assembled_at, id);
-- signal asks for events past their retention
-- squawk-ignore require-concurrent-index-creation
create index life_events_to_forget on memory.life_events (tenant_id, forget_at) where forget_at is not null;
-- most triggers are over
-- squawk-ignore require-concurrent-index-creation
create index triggers_by_end on memory.triggers (tenant_id, until_at) where withheld is null;

-- As before, but rows are changed by their place, as a join may read the whole table for each batch, and the oldest are read in
-- the order of the index: without statistics by tenant, the planner takes a tenant's rows for few and would sort them all.
create or replace function ops.retire_recalls(before timestamptz, most int, out recalls int, out questions int)
    language plpgsql security definer set search_path = '' set enable_sort = off as $$
begin
    -- counted, and of turns alone: no memory was asked for, so no importance follows from it
    with old as (
        select r.id from log.recalls r
        where r.asked_at < before
          and exists (select from memory.accesses a where a.tenant_id = r.tenant_id and a.recall_id = r.id)
          and not exists (select from unnest(r.item_ids) i
                          join memory.memories m on m.tenant_id = r.tenant_id and m.id = i)
          and not exists (select from unnest(r.item_ids) i
                          join memory.tombstones t on t.tenant_id = r.tenant_id and t.memory_id = i)
        order by r.asked_at, r.id limit most
    ), uncounted as (
        delete from memory.accesses a using old where a.recall_id = old.id
    )
    delete from log.recalls r using old where r.id = old.id;
    get diagnostics recalls = row_count;
    -- of the others, what was asked: a rebuild reads who asked when and for which memories
    update log.recalls r set question = ''
    where r.ctid = any(array(select o.ctid from log.recalls o where o.asked_at < before and o.question <> ''
                             order by o.asked_at, o.id limit most));
    get diagnostics questions = row_count;
end
$$;

create or replace function ops.retire_contexts(before timestamptz, most int) returns int
    language plpgsql security definer set search_path = '' set enable_sort = off as $$
declare
    contexts int;
begin
    delete from log.contexts c
    where c.ctid = any(array(select o.ctid from log.contexts o where o.assembled_at < before
                             order by o.assembled_at, o.id limit most));
    get diagnostics contexts = row_count;
    return contexts;
end
$$;
