-- name: unread_turns
-- The number of turns of a scope that extract has not read.
select count(*) from log.turns t
where t.tenant_id = %(tenant)s and t.said_at <= %(as_of)s
  and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
  and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
  and not exists (select from memory.extractions e where e.tenant_id = t.tenant_id and e.turn_id = t.id)

-- name: unembedded_items
-- The number of turns and memories of a scope that have no vector yet.
select (select count(*) from log.turns t
        where t.tenant_id = %(tenant)s and t.said_at <= %(as_of)s and t.text <> ''
          and t.shard >= %(shard_from)s and t.shard < %(shard_to)s
          and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
          and not exists (select from memory.vectors v
                          where v.tenant_id = t.tenant_id and v.subject_id = t.subject_id and v.model = %(model)s
                            and v.item_id = t.id))
       + (select count(*) from memory.memories m
          where m.tenant_id = %(tenant)s and m.happened_at <= %(as_of)s
            and m.shard >= %(shard_from)s and m.shard < %(shard_to)s
            and (%(subjects)s::text[] is null or m.subject_id = any(%(subjects)s))
            and not exists (select from memory.vectors v
                            where v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = %(model)s
                              and v.item_id = m.id))
