-- name: scattered_subjects
-- Subjects of a scope with more than twice as many posting lists as necessary.
select distinct subject_id
from (select t.subject_id
      from memory.terms t
      join memory.subjects s on s.tenant_id = t.tenant_id and s.subject_id = t.subject_id
      where t.tenant_id = %(tenant)s and s.shard >= %(shard_from)s and s.shard < %(shard_to)s
        and (%(subjects)s::text[] is null or t.subject_id = any(%(subjects)s))
      group by t.subject_id, t.term
      having count(*) > 2 and count(*) > 2 * ceil(sum(cardinality(t.item_ids)) / %(items)s::float8)) scattered
order by subject_id

-- name: join_lists
-- Rewrite the scattered lists of these subjects, in order, with `items` per list; returns the numbers of lists before and
-- after. The caller holds the subjects. The postings stay the same, and so do the results of recall.
with scattered as (
    select subject_id, term from memory.terms
    where tenant_id = %(tenant)s and subject_id = any(%(subjects)s::text[])
    group by subject_id, term
    having count(*) > 2 and count(*) > 2 * ceil(sum(cardinality(item_ids)) / %(items)s::float8)
),
taken as (
    delete from memory.terms t
    where t.tenant_id = %(tenant)s
      and t.ctid = any(array(
              select l.place from scattered s
              cross join lateral (
                  select t.ctid as place from memory.terms t
                  where t.tenant_id = %(tenant)s and t.subject_id = s.subject_id and t.term = s.term offset 0) l))
    returning t.subject_id, t.term, t.item_ids, t.tfs, t.dls
),
postings as (
    select t.subject_id, t.term, array_agg(p.item_id order by p.item_id) as item_ids,
           array_agg(p.tf order by p.item_id) as tfs, array_agg(p.dl order by p.item_id) as dls
    from taken t
    cross join lateral unnest(t.item_ids, t.tfs, t.dls) as p (item_id, tf, dl)
    group by t.subject_id, t.term
),
joined as (
    insert into memory.terms (tenant_id, subject_id, term, first_id, item_ids, tfs, dls)
    select %(tenant)s, p.subject_id, p.term, p.item_ids[c.first], p.item_ids[c.first:c.first + %(items)s - 1],
           p.tfs[c.first:c.first + %(items)s - 1], p.dls[c.first:c.first + %(items)s - 1]
    from postings p
    cross join lateral generate_series(1, cardinality(p.item_ids), %(items)s::int) as c (first)
    returning 1
)
select (select count(*) from taken), (select count(*) from joined)

-- name: retire_runs
-- Delete old rows of the ledger, except runs that made a memory, structured fact or profile still in force, the last prune
-- of each scope and policy, and failures that no retry made good. Of prunes of named subjects, the last one of a policy is
-- enough: drains seldom name the same ones again, and without theirs they reschedule once more.
delete from ops.runs
where tenant_id = %(tenant)s and ctid = any(array(
    select r.ctid from ops.runs r
    where r.tenant_id = %(tenant)s and r.finished_at < %(before)s and r.status = 'done'
      and not r.run_id in (
          select run_id from memory.memories where tenant_id = %(tenant)s and state <> 'merged'
          union all select run_id from memory.structured_facts where tenant_id = %(tenant)s
          union all select run_id from memory.profiles where tenant_id = %(tenant)s)
      and not (r.stage = 'prune' and not exists (
          select from ops.runs l
          where l.tenant_id = r.tenant_id and l.stage = 'prune' and l.status = 'done' and l.policy_hash = r.policy_hash
            and l.as_of >= r.as_of and l.finished_at > r.finished_at and (r.scope ? 'subjects' or l.scope = r.scope)))
    limit %(most)s))

-- name: strip_runs
-- Remove the names of subjects from runs that were being recorded while the subjects were erased, which `record_run` missed.
-- Runs of the day before and after an erasure are looked at; an erasure is considered until a maintenance finished two days
-- after it: one day for such a run, and one for the maintenance itself.
update ops.runs r
set scope = jsonb_set(r.scope, '{subjects}', (r.scope -> 'subjects') - gone.names)
from (select n.run_id, array_agg(s.name) as names
      from ops.runs n
      cross join lateral jsonb_array_elements_text(n.scope -> 'subjects') as s (name)
      where n.tenant_id = %(tenant)s
        and n.finished_at <@ (select range_agg(tstzrange(erased_at - interval '1 day', erased_at + interval '1 day'))
                              from ops.erasures
                              where tenant_id = %(tenant)s and kind = 'subject'
                                and erased_at > coalesce((select max(finished_at) from ops.runs
                                                          where tenant_id = %(tenant)s and stage = 'maintain' and status = 'done')
                                                         - interval '2 days', '-infinity'))
        and not exists (select from memory.subjects m where m.tenant_id = %(tenant)s and m.subject_id = s.name)
        and not exists (select from log.turns u where u.tenant_id = %(tenant)s and u.subject_id = s.name)
        and not exists (select from log.events e where e.tenant_id = %(tenant)s and e.subject_id = s.name)
      group by n.run_id) gone
where r.tenant_id = %(tenant)s and r.run_id = gone.run_id

-- name: retire_calls
-- Delete old requests that are settled, and so the cost of replies that are kept.
delete from ops.calls
where tenant_id = %(tenant)s and ctid = any(array(
    select c.ctid from ops.calls c
    where c.tenant_id = %(tenant)s and c.booked_at < %(before)s and c.state <> 'reserved'
    limit %(most)s))

-- name: retire_replies
-- Delete old replies of language models. A rebuild asks again for those it misses.
delete from ops.replies
where tenant_id = %(tenant)s and ctid = any(array(
    select r.ctid from ops.replies r where r.tenant_id = %(tenant)s and r.made_at < %(before)s limit %(most)s))

-- name: retire_embeddings
-- Delete old vectors of models that the tenant no longer uses: those before and after its model in the order of the key, so
-- that those of its model are not read.
delete from ops.embeddings
where tenant_id = %(tenant)s and ctid = any(array(
    (select e.ctid from ops.embeddings e
     where e.tenant_id = %(tenant)s and e.made_at < %(before)s
       and e.model < (select t.model from ops.tenants t where t.tenant_id = %(tenant)s)
     order by e.model limit %(most)s)
    union all
    (select e.ctid from ops.embeddings e
     where e.tenant_id = %(tenant)s and e.made_at < %(before)s
       and e.model > (select t.model from ops.tenants t where t.tenant_id = %(tenant)s)
     order by e.model limit %(most)s)
    limit %(most)s))

-- name: retire_recalls
-- Delete old recalls that memory does not depend on, keep the others, and delete their questions.
select recalls, kept, questions from ops.retire_recalls(%(before)s, %(most)s)

-- name: retire_contexts
-- Delete old rows of the log of contexts.
select ops.retire_contexts(%(before)s, %(most)s)
