-- What runs, answers and requests leave behind ends after a time; nothing that a rebuild reads does.

-- The log is append-only for those who work on it. These two functions, as its owner and within the tenant of the caller,
-- are the only exception.
create function ops.retire_recalls(before timestamptz, most int, out recalls int, out questions int)
    language plpgsql security definer set search_path = '' as $$
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
    with old as (
        select r.id from log.recalls r where r.asked_at < before and r.question <> ''
        order by r.asked_at, r.id limit most
    )
    update log.recalls r set question = '' from old where r.id = old.id;
    get diagnostics questions = row_count;
end
$$;
comment on function ops.retire_recalls is 'Delete old recalls that memory does not depend on, and what was asked in the others; as the owner.';

create function ops.retire_contexts(before timestamptz, most int) returns int
    language plpgsql security definer set search_path = '' as $$
declare
    contexts int;
begin
    delete from log.contexts c
    where (c.tenant_id, c.id) in (select tenant_id, id from log.contexts where assembled_at < before
                                  order by assembled_at, id limit most);
    get diagnostics contexts = row_count;
    return contexts;
end
$$;
comment on function ops.retire_contexts is 'Delete old rows of the log of contexts, which no stage reads; as the owner.';

revoke execute on function ops.retire_recalls, ops.retire_contexts from public;
grant execute on function ops.retire_recalls, ops.retire_contexts to reverie_worker;

alter table ops.embeddings add column made_at timestamptz not null default clock_timestamp();
comment on column ops.embeddings.made_at is 'When it was made, by the clock; vectors of a former model end after a time.';
