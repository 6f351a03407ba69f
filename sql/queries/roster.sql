-- name: page_subjects
-- A page of a tenant's subjects ordered by name, with counts. Names are found by steps along the index, no more than the
-- page needs; a recursive query returns its rows as it finds them, so in order. Memory knows the speakers; turns are
-- searched only for subjects that no run has met. A search compares letters without accents, in lower case.
with recursive known as (
    select least((select t.subject_id from log.turns t
                  where t.tenant_id = %(tenant)s and t.subject_id > %(after)s order by t.subject_id limit 1),
                 (select s.subject_id from memory.subjects s
                  where s.tenant_id = %(tenant)s and s.subject_id > %(after)s order by s.subject_id limit 1)) as subject_id
    union all
    select least((select t.subject_id from log.turns t
                  where t.tenant_id = %(tenant)s and t.subject_id > k.subject_id order by t.subject_id limit 1),
                 (select s.subject_id from memory.subjects s
                  where s.tenant_id = %(tenant)s and s.subject_id > k.subject_id order by s.subject_id limit 1))
    from known k
    where k.subject_id is not null
), page as (
    select k.subject_id
    from known k
    where k.subject_id is not null
      and (%(search)s::text is null
           or position(lower(regexp_replace(normalize(%(search)s::text, NFKD), '[\u0300-\u036f]', '', 'g'))
                       in lower(regexp_replace(normalize(concat_ws(chr(10), k.subject_id, coalesce(
                           (select array_to_string(s.speakers, chr(10))
                            from memory.subjects s where s.tenant_id = %(tenant)s and s.subject_id = k.subject_id),
                           (select string_agg(distinct t.speaker, chr(10))
                            from log.turns t where t.tenant_id = %(tenant)s and t.subject_id = k.subject_id)
                       )), NFKD), '[\u0300-\u036f]', '', 'g'))) > 0)
    limit %(limit)s
)
select p.subject_id, said.turns, kept.memories, said.last_turn
from page p
cross join lateral (select count(*) as turns, max(t.said_at) as last_turn from log.turns t
                    where t.tenant_id = %(tenant)s and t.subject_id = p.subject_id) said
cross join lateral (select count(*) as memories from memory.memories m
                    where m.tenant_id = %(tenant)s and m.subject_id = p.subject_id and m.state = 'active') kept
order by p.subject_id

-- name: count_tenant
-- The counts of a tenant.
select %(tenant)s::text as tenant_id, %(policy)s::text as policy,
       (select count(*) from log.subjects where tenant_id = %(tenant)s) as subjects,
       (select count(*) from log.turns where tenant_id = %(tenant)s) as turns,
       (select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active') as memories,
       (select max(said_at) from log.turns where tenant_id = %(tenant)s) as last_turn

-- name: subjects_around
-- Subjects of the log next to a name, in order, up to `limit` on either side: one step along the index each.
with recursive upward as (
    (select subject_id, 1 as place from log.turns
     where tenant_id = %(tenant)s and subject_id >= %(subject)s order by subject_id limit 1)
    union all
    select n.subject_id, u.place + 1
    from upward u
    cross join lateral (select t.subject_id from log.turns t
                        where t.tenant_id = %(tenant)s and t.subject_id > u.subject_id
                        order by t.subject_id limit 1) n
    where u.place < %(limit)s
), downward as (
    (select subject_id, 1 as place from log.turns
     where tenant_id = %(tenant)s and subject_id < %(subject)s order by subject_id desc limit 1)
    union all
    select n.subject_id, d.place + 1
    from downward d
    cross join lateral (select t.subject_id from log.turns t
                        where t.tenant_id = %(tenant)s and t.subject_id < d.subject_id
                        order by t.subject_id desc limit 1) n
    where d.place < %(limit)s
)
select subject_id from upward
union all
select subject_id from downward

-- name: knows_subject
-- Whether anything was said by or about a subject: in the log, in memory, or waiting for the log.
select exists (select from log.turns where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from log.events where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from memory.memories where tenant_id = %(tenant)s and subject_id = %(subject)s)
    or exists (select from ops.pending_turns where tenant_id = %(tenant)s and subject_id = %(subject)s)
