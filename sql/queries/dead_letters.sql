-- name: record
-- Keep records that could not be imported. The same record of the same line is one row, with its latest reason; so is a row
-- of a database, with its latest content.
insert into ops.dead_letters (tenant_id, id, source, line, reason, detail, payload, item, subject_id)
select %(tenant)s, l.*
from unnest(%(ids)s::uuid[], %(sources)s::text[], %(lines)s::bigint[], %(reasons)s::text[], %(details)s::text[],
            %(payloads)s::bytea[], %(items)s::text[], %(subjects)s::text[]) as l
on conflict (tenant_id, id) do update
set reason = excluded.reason, detail = excluded.detail, payload = excluded.payload
where (ops.dead_letters.reason, ops.dead_letters.detail, ops.dead_letters.payload)
      is distinct from (excluded.reason, excluded.detail, excluded.payload)

-- name: list
-- Dead letters without their content, in the order of their files.
select id, source, line, reason, detail, attempts, recorded_at, coalesce(octet_length(payload), 0), item
from ops.dead_letters
where tenant_id = %(tenant)s
  and (%(source)s::text is null or source = %(source)s)
  and (%(reason)s::text is null or reason = %(reason)s)
order by source, line, id
limit %(limit)s

-- name: read
-- Dead letters whose id is in a range (a prefix), with their content; a second one makes the prefix ambiguous.
select id, source, line, reason, detail, attempts, recorded_at, coalesce(octet_length(payload), 0) as size,
       subject_id, item, payload
from ops.dead_letters
where tenant_id = %(tenant)s and id between %(first)s and %(last)s
order by id
limit 2

-- name: count
-- The number of dead letters by reason.
select reason, count(*)
from ops.dead_letters
where tenant_id = %(tenant)s and (%(source)s::text is null or source = %(source)s)
group by reason
order by count(*) desc, reason

-- name: claim
-- The next dead letters to retry, after a place in the order of their files; those that others hold are skipped.
select id, source, coalesce(line, 0), reason, detail, payload, subject_id
from ops.dead_letters
where tenant_id = %(tenant)s
  and (%(source)s::text is null or source = %(source)s)
  and (%(reason)s::text is null or reason = %(reason)s)
  and payload is not null and octet_length(payload) < %(whole_below)s
  and (source, coalesce(line, 0), id) > (%(after_source)s, %(after_line)s, %(after_id)s)
order by source, coalesce(line, 0), id
limit %(limit)s
for update skip locked

-- name: places
-- Ids of the dead letters of one file or source, by key or line, to find those that a new import resolves.
select coalesce(item, line::text), id
from ops.dead_letters
where tenant_id = %(tenant)s and source = %(source)s and (line is not null or item is not null)

-- name: records
-- Dead letters of records, with their files and reasons; not those of stages and sessions, which only a redrive ends.
select id, source, reason from ops.dead_letters
where tenant_id = %(tenant)s and session_id is null and source not like 'stage:%%'
  and (%(id)s::uuid is null or id = %(id)s)
  and (%(source)s::text is null or source = %(source)s)
  and (%(reason)s::text is null or reason = %(reason)s)
order by source, reason

-- name: delete
-- Delete dead letters.
delete from ops.dead_letters where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])

-- name: failed_again
-- Count another attempt, with its reason and detail.
update ops.dead_letters d
set attempts = d.attempts + 1, reason = l.reason, detail = l.detail
from unnest(%(ids)s::uuid[], %(reasons)s::text[], %(details)s::text[]) as l (id, reason, detail)
where d.tenant_id = %(tenant)s and d.id = l.id

-- name: group
-- Dead letters by file and reason: their number, the lines and keys of the first of them, and the detail of the first.
select source, reason, count(*),
       coalesce((array_agg(line order by line, id) filter (where line is not null))[1:%(samples)s], '{}') as lines,
       coalesce((array_agg(item order by item) filter (where item is not null and source not like 'stage:%%'))[1:%(samples)s],
                '{}') as rows,
       (array_agg(detail order by line, id))[1] as detail
from ops.dead_letters
where tenant_id = %(tenant)s
  and (%(source)s::text is null or source = %(source)s)
  and (%(reason)s::text is null or reason = %(reason)s)
group by source, reason
order by count(*) desc, source, reason
