-- name: record
-- Write the results of an evaluation; repeating the same evaluation replaces them.
insert into ops.evaluations (tenant_id, id, as_of, policy, policy_hash, model, against, driver, questions, measures, seconds)
values (%(tenant)s, %(id)s, %(as_of)s, %(policy)s, %(policy_hash)s, %(model)s, %(against)s, %(driver)s, %(questions)s,
        %(measures)s, %(seconds)s)
on conflict (tenant_id, id) do update
    set questions = excluded.questions, measures = excluded.measures, seconds = excluded.seconds, driver = excluded.driver,
        evaluated_at = excluded.evaluated_at

-- name: history
-- The evaluations of a tenant, latest first.
select id, as_of, policy, policy_hash, model, against, questions, measures from ops.evaluations
where tenant_id = %(tenant)s
order by as_of desc, id desc
