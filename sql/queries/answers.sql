-- name: read_answers
-- Answers of this version of a model for these turns.
select turn_id, shown, answer
from ops.answers
where tenant_id = %(tenant)s and turn_id = any(%(turn_ids)s::uuid[]) and asked = %(asked)s and model = %(model)s

-- name: keep_answers
-- Write a model's answers for turns in the log, replacing earlier ones. Ordered, so that two writers wait and do not
-- deadlock.
insert into ops.answers (tenant_id, turn_id, asked, model, shown, answer)
select %(tenant)s, t.id, %(asked)s, %(model)s, x.shown, x.answer
from unnest(%(turn_ids)s::uuid[], %(shown)s::bytea[], %(answers)s::text[]) as x (turn_id, shown, answer)
join log.turns t on t.tenant_id = %(tenant)s and t.id = x.turn_id
order by t.id
on conflict (tenant_id, turn_id, asked) do update
set model = excluded.model, shown = excluded.shown, answer = excluded.answer
