-- name: open_cycle
-- Begin the steps of a cycle: no step is done, and the cycle is not chosen yet. A cycle opened before begins anew.
insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status)
values (%(tenant)s, %(run_id)s, 'cycle', %(as_of)s, %(scope)s || jsonb_build_object('opened_at', clock_timestamp()),
        %(driver)s, %(policy)s, %(policy_hash)s, 'done')
on conflict (tenant_id, run_id) do update set
    scope = excluded.scope, driver = excluded.driver, policy = excluded.policy, policy_hash = excluded.policy_hash,
    report = '{}', attempts = ops.runs.attempts + 1, finished_at = clock_timestamp()

-- name: choose_cycle
-- Record the cycle that the steps process: its time, and its subjects if they are few.
update ops.runs set scope = scope || %(chosen)s, finished_at = clock_timestamp()
where tenant_id = %(tenant)s and run_id = %(run_id)s

-- name: mark_step
-- Mark a step as done.
update ops.runs set report = report || jsonb_build_object(%(step)s::text, 1), seconds = seconds + %(seconds)s,
                    finished_at = clock_timestamp()
where tenant_id = %(tenant)s and run_id = %(run_id)s

-- name: read_cycle
-- The cycle of a bucket that was opened at a logical time.
select as_of, scope, report from ops.runs where tenant_id = %(tenant)s and run_id = %(run_id)s

-- name: latest_cycle
-- The cycle of a bucket with the latest logical time.
select as_of, scope, report from ops.runs
where tenant_id = %(tenant)s and stage = 'cycle' and scope -> 'shards' is not distinct from %(scope)s::jsonb -> 'shards'
order by as_of desc limit 1

-- name: clear_worked_in
-- Remove sessions whose turns a cycle has consolidated from the queue, unless they got turns since it was opened or a worker
-- holds them. Turns of the minute before may have arrived after the log was read: these stay.
delete from ops.queue
where tenant_id = %(tenant)s and said_at <= %(as_of)s and last_at <= %(opened_at)s::timestamptz - interval '1 minute'
  and (leased_until is null or leased_until <= %(as_of)s)
  and shard >= %(shard_from)s and shard < %(shard_to)s
  and (%(subjects)s::text[] is null or subject_id = any(%(subjects)s))

-- name: sum_cycles
-- Sums over the runs of each stage in a bucket since its cycle was opened: those of past cycles and of the last one.
with done as (
    select stage, report, seconds, cost_usd from ops.runs
    where tenant_id = %(tenant)s and stage <> 'cycle' and driver = %(driver)s and finished_at >= %(opened_at)s
      and scope -> 'shards' is not distinct from %(scope)s::jsonb -> 'shards')
select d.stage, count(*)::int as runs, sum(d.seconds) as seconds, sum(d.cost_usd) as cost_usd,
       coalesce((select jsonb_object_agg(c.name, c.number)
                 from (select e.key as name, sum(e.value::float8) as number
                       from done o cross join lateral jsonb_each_text(o.report) e
                       where o.stage = d.stage group by e.key) c), '{}') as counts
from done d group by d.stage
