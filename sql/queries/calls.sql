-- name: read_replies
-- Kept replies of this model and prompt to these inputs.
select x.hash, r.reply
from unnest(%(input_hashes)s::bytea[]) as x (hash)
join ops.replies r on r.tenant_id = %(tenant)s and r.model = %(model)s and r.prompt_hash = %(prompt_hash)s
                  and r.input_hash = x.hash

-- name: keep_replies
-- Write replies; if another process was faster, its reply stays. Ordered, so that two writers wait and do not deadlock.
insert into ops.replies (tenant_id, model, prompt_hash, input_hash, subject_id, source_ids, reply, call_id)
select %(tenant)s, %(model)s, %(prompt_hash)s, x.hash, x.subject_id, string_to_array(x.source_ids, ',')::uuid[],
       x.reply::jsonb, %(call_id)s
from unnest(%(input_hashes)s::bytea[], %(subject_ids)s::text[], %(source_ids)s::text[], %(replies)s::text[])
    as x (hash, subject_id, source_ids, reply)
order by x.hash
on conflict do nothing

-- name: take_slot
-- Take the next slot of the rate limit that all processes share, unless it is too far off; returns the seconds until then.
insert into ops.call_rates as r (tenant_id, model, free_at)
values (%(tenant)s, %(model)s, clock_timestamp() + %(pause)s::interval)
on conflict (tenant_id, model) do update
set free_at = greatest(r.free_at, clock_timestamp()) + %(pause)s::interval
where r.free_at <= clock_timestamp() + %(patience)s::interval
returning greatest(extract(epoch from r.free_at - %(pause)s::interval - clock_timestamp()), 0)::float8

-- name: hold_back
-- Let nobody call before the time that the provider asked for.
insert into ops.call_rates as r (tenant_id, model, free_at)
values (%(tenant)s, %(model)s, clock_timestamp() + %(pause)s::interval)
on conflict (tenant_id, model) do update set free_at = greatest(r.free_at, excluded.free_at)

-- name: reserve
-- Book a request at its maximum cost and take that from the credits of tenant and subject, if they have one. No row: it
-- would overdraw one of them, and both stay unchanged. The rows are locked first, so the balances compared are those
-- charged.
with of_tenant as materialized (
    select balance_usd from ops.credits where tenant_id = %(tenant)s for update
),
of_subject as materialized (
    select balance_usd from ops.subject_credits where tenant_id = %(tenant)s and subject_id = %(subject)s for update
),
allowed as materialized (
    select where not exists (select from of_tenant where balance_usd < %(most_usd)s or not %(priced)s)
             and not exists (select from of_subject where balance_usd < %(most_usd)s or not %(priced)s)
),
paid as (
    update ops.credits set balance_usd = balance_usd - %(most_usd)s
    where tenant_id = %(tenant)s and exists (select from allowed)
),
paid_by_subject as (
    update ops.subject_credits set balance_usd = balance_usd - %(most_usd)s
    where tenant_id = %(tenant)s and subject_id = %(subject)s and exists (select from allowed)
)
insert into ops.calls (tenant_id, id, stage, run_id, kind, model, prompt, prompt_hash, items, reserved_usd, priced, subject_id)
select %(tenant)s, %(call_id)s, %(stage)s, %(run_id)s, %(kind)s, %(model)s, %(prompt)s, %(prompt_hash)s, %(items)s,
       %(most_usd)s, %(priced)s, %(subject)s
where exists (select from allowed)
returning id

-- name: settle
-- Record the cost of a request, once; the rest of its reservation goes back to the credits that it came from.
with done as (
    update ops.calls
    set state = %(state)s, cost_usd = coalesce(%(cost_usd)s, reserved_usd), tokens_in = %(tokens_in)s,
        tokens_out = %(tokens_out)s, seconds = %(seconds)s, reason = %(reason)s, repairs = %(repairs)s
    where tenant_id = %(tenant)s and id = %(call_id)s and state = 'reserved'
    returning reserved_usd - cost_usd as left_usd, booked_at, subject_id
),
returned_to_subject as (
    update ops.subject_credits c set balance_usd = c.balance_usd + done.left_usd
    from done
    where c.tenant_id = %(tenant)s and c.subject_id = done.subject_id and c.given_at <= done.booked_at
)
update ops.credits c set balance_usd = c.balance_usd + done.left_usd
from done
where c.tenant_id = %(tenant)s and c.given_at <= done.booked_at

-- name: sum_costs
-- Costs since a time, of one subject or all: one row per stage, model and kind, and per run or subject if asked.
select c.stage, c.model, c.kind, case when %(by_run)s then c.run_id end as run_id,
       case when %(by_subject)s then c.subject_id end as subject_id,
       count(*) as calls, count(*) filter (where c.state = 'failed') as failed,
       sum(c.items) as items, sum(c.tokens_in)::bigint as tokens_in, sum(c.tokens_out)::bigint as tokens_out,
       sum(coalesce(c.cost_usd, c.reserved_usd)) as cost_usd,
       count(*) filter (where c.state = 'reserved') as open,
       sum(c.reserved_usd) filter (where c.state = 'reserved') as open_usd,
       count(*) filter (where not c.priced) as unpriced,
       sum(c.seconds) as seconds, max(c.booked_at) as last_at
from ops.calls c
where c.tenant_id = %(tenant)s and (%(since)s::timestamptz is null or c.booked_at >= %(since)s)
  and (%(subject)s::text is null or c.subject_id = %(subject)s)
group by 1, 2, 3, 4, 5
order by cost_usd desc, c.stage, c.model, 4, 5

-- name: read_credits
-- The remaining credit of a tenant, in all (no subject) and for its subjects, or one of them; no row: no limit.
select null as subject_id, balance_usd, given_at from ops.credits where tenant_id = %(tenant)s
union all
select subject_id, balance_usd, given_at from ops.subject_credits
where tenant_id = %(tenant)s and (%(subject)s::text is null or subject_id = %(subject)s)
order by subject_id nulls first

-- name: give_credit
-- Set a tenant's credit from now on.
insert into ops.credits (tenant_id, balance_usd) values (%(tenant)s, %(balance_usd)s)
on conflict (tenant_id) do update set balance_usd = excluded.balance_usd, given_at = clock_timestamp()

-- name: lift_credit
-- Remove the limit on a tenant's spending.
delete from ops.credits where tenant_id = %(tenant)s

-- name: give_subject_credit
-- Set a tenant's credit for a subject from now on.
insert into ops.subject_credits (tenant_id, subject_id, balance_usd) values (%(tenant)s, %(subject)s, %(balance_usd)s)
on conflict (tenant_id, subject_id) do update set balance_usd = excluded.balance_usd, given_at = clock_timestamp()

-- name: lift_subject_credit
-- Remove the limit on spending for a subject; the tenant's own credit still applies.
delete from ops.subject_credits where tenant_id = %(tenant)s and subject_id = %(subject)s

-- name: limited_subjects
-- Subjects with a credit of their own; requests about them are sent and booked separately.
select subject_id from ops.subject_credits where tenant_id = %(tenant)s

-- name: forget_replies
-- Delete kept replies about a subject: all, or only those made from one turn, memory or event.
delete from ops.replies
where tenant_id = %(tenant)s and subject_id = %(subject)s
  and (%(source_id)s::uuid is null or %(source_id)s = any(source_ids))
