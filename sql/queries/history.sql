-- name: months
-- Turns, and those that extract has read, by month (UTC) and bucket.
select date_trunc('month', t.said_at at time zone 'UTC')::date as month, ((t.shard + 1) * %(of)s - 1) / %(shards)s as bucket,
       count(*) as turns, count(e.turn_id) as turns_read
from log.turns t
left join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
where t.tenant_id = %(tenant)s
group by 1, 2

-- name: reading_rate
-- Recent seconds per turn of extract and embed together; null if neither has run.
select sum(per_turn)
from (select r.stage, sum(r.seconds) / nullif(sum((r.report ->> 'turns')::float8), 0) as per_turn
      from (select stage, seconds, report, row_number() over (partition by stage order by finished_at desc) as place
            from ops.runs
            where tenant_id = %(tenant)s and stage in ('extract', 'embed') and (report ->> 'turns')::float8 > 0) r
      where r.place <= 20
      group by r.stage) each_stage

-- name: activity
-- A value that changes whenever turns arrive or are read; costs nothing to query.
select coalesce(sum(n_tup_ins + n_tup_del), 0)::text from pg_stat_all_tables
where schemaname = 'log' and relname = 'turns' or schemaname = 'memory' and relname = 'extractions'
