-- name: write_candidates
-- Write new candidates. An existing one (another attempt was faster) stays unchanged, and one that a person found wrong or
-- had forgotten does not come back when its session is read again. Fields that only a model fills are null for the rules.
insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, polarity, base, peak,
                             importance, happened_at, accessed_at, decayed_at, forget_at, mentions, turn_id, session_id,
                             origin, run_id, policy_hash, model, stated, lasting, expires_at, relation, object, who, topic,
                             phase, valid_from, confidence, agreed)
select %(tenant)s, x.id, x.subject_id, x.kind, 'candidate', x.content, sha256(convert_to(x.content, 'UTF8')),
       x.polarity, x.base, x.base, x.base, x.happened_at, x.happened_at, x.happened_at, x.forget_at,
       coalesce(string_to_array(nullif(x.mentions, ''), ' '), '{}'), x.turn_id, x.session_id, x.origin, %(run_id)s,
       %(policy_hash)s, x.model, x.stated::jsonb, x.lasting, x.expires_at, x.relation, x.object, x.who, x.topic, x.phase,
       case when x.phase is not null then x.happened_at end, x.confidence, x.agreed
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(kinds)s::text[], %(contents)s::text[],
            %(polarities)s::smallint[], %(bases)s::real[], %(happened_at)s::timestamptz[],
            %(forget_at)s::timestamptz[], %(mentions)s::text[], %(turn_ids)s::uuid[], %(session_ids)s::text[],
            %(origins)s::text[], %(models)s::text[], %(stated)s::text[], %(lasting)s::boolean[],
            %(expires_at)s::timestamptz[], %(relations)s::text[], %(objects)s::text[], %(whose)s::text[],
            %(topics)s::text[], %(phases)s::text[], %(confidences)s::float8[], %(agreed)s::float8[])
    as x (id, subject_id, kind, content, polarity, base, happened_at, forget_at, mentions, turn_id, session_id, origin,
          model, stated, lasting, expires_at, relation, object, who, topic, phase, confidence, agreed)
where not exists (select from memory.tombstones f
                  where f.tenant_id = %(tenant)s and f.memory_id = x.id
                    and f.reason in ('wrong', 'forgotten_on_request') offset 0)
on conflict do nothing

-- name: write_memories
-- Write new patterns and summaries. Importance is the policy's and links are the sources', so score and link are done.
insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak, importance,
                             access_count, happened_at, accessed_at, decayed_at, forget_at, linked, scored, session_id,
                             turn_start, turn_end, origin, run_id, policy_hash, model)
select %(tenant)s, x.id, x.subject_id, x.kind, 'active', x.content, sha256(convert_to(x.content, 'UTF8')), x.importance,
       x.importance, x.importance, x.access_count, x.happened_at, x.accessed_at, x.accessed_at, x.forget_at, true, true,
       x.session_id, x.turn_start, x.turn_end, x.origin, %(run_id)s, %(policy_hash)s, x.model
from unnest(%(ids)s::uuid[], %(subject_ids)s::text[], %(kinds)s::text[], %(contents)s::text[], %(importances)s::real[],
            %(access_counts)s::int[], %(happened_at)s::timestamptz[], %(accessed_at)s::timestamptz[],
            %(forget_at)s::timestamptz[], %(session_ids)s::text[], %(turn_starts)s::int[], %(turn_ends)s::int[],
            %(origins)s::text[], %(models)s::text[])
    as x (id, subject_id, kind, content, importance, access_count, happened_at, accessed_at, forget_at, session_id,
          turn_start, turn_end, origin, model)
on conflict do nothing

-- name: write_lineage
-- Write the sources of each memory.
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
select %(tenant)s, x.id, x.relation, x.source, x.source_id, x.at, %(run_id)s
from unnest(%(ids)s::uuid[], %(relations)s::text[], %(sources)s::text[], %(source_ids)s::uuid[],
            %(at)s::timestamptz[]) as x (id, relation, source, source_id, at)
on conflict do nothing

-- name: set_live
-- Take memories out of the search, or back into it. By place, as the caller holds the subjects: see forget in
-- forgetting.sql. The condition on content keeps the look-up on the primary key: once the table is vacuumed, scanning a
-- wider index alone looks cheaper, but reads all of the tenant's entries.
update memory.vectors set live = %(live)s
where tenant_id = %(tenant)s and live <> %(live)s and ctid = any(array(
    select v.place
    from unnest(%(ids)s::uuid[]) as x (id)
    cross join lateral (
        select m.subject_id from memory.memories m
        where m.tenant_id = %(tenant)s and m.id = x.id and m.content <> '' offset 0) m
    cross join lateral (
        select v.ctid as place from memory.vectors v
        where v.tenant_id = %(tenant)s and v.subject_id = m.subject_id and v.item_id = x.id offset 0) v))

-- name: inherit_pins
-- Pin the memories into which pinned ones were merged, in the same way.
insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending, run_id)
select k.tenant_id, k.subject_id, m.into_id, k.correction_id, k.item, k.mark, k.pending, k.run_id
from memory.marks k
join memory.memories m on m.tenant_id = k.tenant_id and m.id = k.item_id and m.state = 'merged'
where k.tenant_id = %(tenant)s and k.mark = 'pinned' and k.subject_id = any(%(subject_ids)s)
on conflict do nothing
