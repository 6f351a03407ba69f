-- name: record_run
-- Write the ledger row of a run, or add to its counts; a retry is another attempt of the same run. The commit does not wait
-- for the disk: if the server dies, only the last of the work is lost, and it is done again. Subjects that were erased
-- since the run read its scope are not named again, and a tenant that was erased gets no row.
insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, model, status, report, error,
                      model_calls, tokens, cost_usd, seconds)
select %(tenant)s, %(run_id)s, %(stage)s, %(as_of)s,
       case when l.scope ? 'subjects' and t.has_erasures then jsonb_set(l.scope, '{subjects}', (
           select coalesce(jsonb_agg(s.name order by s.place), '[]')
           from jsonb_array_elements_text(l.scope -> 'subjects') with ordinality as s (name, place)
           where exists (select from memory.subjects m where m.tenant_id = %(tenant)s and m.subject_id = s.name)
              or exists (select from log.turns u where u.tenant_id = %(tenant)s and u.subject_id = s.name)
              or exists (select from log.events e where e.tenant_id = %(tenant)s and e.subject_id = s.name)))
       else l.scope end,
       %(driver)s, %(policy)s, %(policy_hash)s, %(model)s, %(status)s, %(report)s, %(error)s, %(model_calls)s, %(tokens)s,
       %(cost_usd)s, %(seconds)s
from (select %(scope)s::jsonb as scope) l
cross join (select exists (select from ops.erasures where tenant_id = %(tenant)s) as has_erasures) t
where not t.has_erasures or exists (select from ops.tenants where tenant_id = %(tenant)s)
on conflict (tenant_id, run_id) do update set
    driver = excluded.driver, policy = excluded.policy, policy_hash = excluded.policy_hash, model = excluded.model,
    status = excluded.status, error = excluded.error,
    report = (
        select coalesce(jsonb_object_agg(x.name, x.number), '{}')
        from (select c.key as name, sum(c.value::numeric) as number
              from (select * from jsonb_each_text(ops.runs.report)
                    union all select * from jsonb_each_text(excluded.report)) c
              group by c.key) x),
    attempts = ops.runs.attempts + %(new_attempt)s,
    model_calls = ops.runs.model_calls + excluded.model_calls,
    tokens = ops.runs.tokens + excluded.tokens,
    cost_usd = ops.runs.cost_usd + excluded.cost_usd,
    seconds = ops.runs.seconds + excluded.seconds,
    finished_at = clock_timestamp()
returning set_config('synchronous_commit', 'off', true)

-- name: list_runs
-- The latest ledger rows, newest first.
select run_id, stage, as_of, scope, driver, policy, policy_hash, model, status, attempts, report, error,
       model_calls, tokens, cost_usd, seconds, finished_at
from ops.runs
where tenant_id = %(tenant)s and (%(stage)s::text is null or stage = %(stage)s)
order by finished_at desc
limit %(limit)s

-- name: count_failures
-- Failed runs that were not repeated: no later run of the stage completed all of their work, subject by subject if they name
-- some. A failed batch of the queue is done again at other times and with other subjects.
select count(*) from ops.runs f
where f.tenant_id = %(tenant)s and f.status = 'failed'
  and exists (
      select from jsonb_array_elements_text(coalesce(f.scope -> 'subjects', '[null]')) s (subject_id)
      where not exists (
          select from ops.runs d
          where d.tenant_id = %(tenant)s and d.as_of >= f.as_of and d.stage = f.stage
            and d.status = 'done' and d.finished_at > f.finished_at
            and (not d.scope ? 'subjects' or d.scope -> 'subjects' ? s.subject_id)
            and (not d.scope ? 'shards'
                 or coalesce(ops.shard_of(%(tenant)s, s.subject_id)::int, (f.scope #>> '{shards,0}')::int)
                        >= (d.scope #>> '{shards,0}')::int
                    and coalesce(ops.shard_of(%(tenant)s, s.subject_id) + 1, (f.scope #>> '{shards,1}')::int)
                        <= (d.scope #>> '{shards,1}')::int)
            and (not d.scope ? 'since' or (d.scope ->> 'since')::timestamptz <= (f.scope ->> 'since')::timestamptz)
            and (not d.scope ? 'until' or (d.scope ->> 'until')::timestamptz >= (f.scope ->> 'until')::timestamptz)))
