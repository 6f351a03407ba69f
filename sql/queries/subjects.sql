-- name: lock_subjects
-- Let one writer at a time work on these subjects; always in this order, so that two never wait for each other.
select from memory.subjects
where tenant_id = %(tenant)s and subject_id = any(%(subjects)s)
order by subject_id
for update

-- name: refresh_subjects
-- Corpus figures of these subjects, counted anew from their live postings.
insert into memory.subjects (tenant_id, subject_id, items, terms)
select %(tenant)s, s.subject_id, f.items, f.terms
from (select distinct unnest(%(subjects)s::text[]) as subject_id) s
cross join lateral (
    select count(*) as items, coalesce(sum(i.dl), 0) as terms
    from (select t.item_id, min(t.dl) as dl
          from memory.terms t
          where t.tenant_id = %(tenant)s and t.subject_id = s.subject_id and t.live
          group by t.item_id) i) f
on conflict (tenant_id, subject_id) do update set items = excluded.items, terms = excluded.terms
where (memory.subjects.items, memory.subjects.terms) is distinct from (excluded.items, excluded.terms)
