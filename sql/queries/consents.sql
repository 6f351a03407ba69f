-- name: set
-- Set a subject's consent; null leaves a field as it is, and 0 days mean for ever.
insert into ops.consents as c (tenant_id, subject_id, capture, recall, retain_days, changed_at, actor)
values (%(tenant)s, %(subject)s, coalesce(%(capture)s::boolean, true), coalesce(%(recall)s::boolean, true),
        nullif(%(retain_days)s::int, 0), %(at)s, %(actor)s)
on conflict (tenant_id, subject_id) do update
set capture = coalesce(%(capture)s::boolean, c.capture), recall = coalesce(%(recall)s::boolean, c.recall),
    retain_days = case when %(retain_days)s::int is null then c.retain_days else nullif(%(retain_days)s::int, 0) end,
    changed_at = %(at)s, actor = %(actor)s
returning subject_id, capture, recall, retain_days, changed_at, actor

-- name: read
-- The consent of a subject, if it was ever changed.
select subject_id, capture, recall, retain_days, changed_at, actor
from ops.consents where tenant_id = %(tenant)s and subject_id = %(subject)s

-- name: list
-- The consents of a tenant's subjects who do not agree to everything, ordered by subject.
select subject_id, capture, recall, retain_days, changed_at, actor
from ops.consents
where tenant_id = %(tenant)s and (not capture or not recall or retain_days is not null)
order by subject_id

-- name: overdue
-- Subjects of a scope with data older than they agreed to keep, each with the time before which it is erased: a midnight
-- (UTC), so that a subject's memory is made again once a day at most.
select c.subject_id, k.before
from ops.consents c
cross join lateral (
    select date_trunc('day', %(as_of)s::timestamptz - make_interval(days => c.retain_days), 'UTC') as before) k
where c.tenant_id = %(tenant)s and c.retain_days is not null
  and ops.shard_of(c.tenant_id, c.subject_id) >= %(shard_from)s and ops.shard_of(c.tenant_id, c.subject_id) < %(shard_to)s
  and (%(subjects)s::text[] is null or c.subject_id = any(%(subjects)s))
  and (exists (select from log.turns t
               where t.tenant_id = c.tenant_id and t.subject_id = c.subject_id and t.said_at < k.before)
       or exists (select from log.events e
                  where e.tenant_id = c.tenant_id and e.subject_id = c.subject_id and e.observed_at < k.before)
       or exists (select from log.recalls r
                  where r.tenant_id = c.tenant_id and r.subject_id = c.subject_id and r.asked_at < k.before))
order by c.subject_id
