-- name: holds
-- The memory in the generation's database: the one made in it, or the one that it replaced. Others wait until the transaction
-- ends, so that no two exchange it at once.
select what from kept.holds for update

-- name: set_holds
-- Record that it now holds the other one.
update kept.holds set what = %(what)s

-- name: make_kept
-- Create the schema for the memory that is not in its database: its rows, and keys of rows that it does not have.
create schema if not exists kept authorization reverie_worker;
set role reverie_worker;
create table if not exists kept.holds as select 'generation'::text as what;
reset role

-- name: drop_kept
-- Drop these tables; the next comparison writes them anew.
drop table if exists {kept}, {foreign}

-- name: kept_tables
-- The tables in which the other memory has other rows.
select c.relname from pg_catalog.pg_class c
where c.relnamespace = to_regnamespace('kept') and c.relkind = 'r' and c.relname <> 'holds' and right(c.relname, 5) <> '_keys'
order by c.relname

-- name: make_like
-- Create a table with some columns of another.
create table {kept} as select {columns} from {table} with no data

-- name: make_private
-- The same as a temporary table, for this connection over several transactions.
create temp table {private} as select {columns} from {table} with no data

-- name: drop_private
-- Drop the table that an earlier attempt left.
drop table if exists {private}

-- name: make_hashes
-- Create a table for the keys of one memory's rows, each with a hash of the row.
create temp table {private} on commit drop as select {plain_key}, ''::text as hash from {table} with no data

-- name: analyze
-- Tables that were just written have no statistics; joins with them would become nested loops.
analyze {private}

-- name: row_hashes
-- The key and hash of each row. The hash covers all columns but the run, which depends on how the work was split.
select {key}, md5(record_send(row({compared}))) as hash from {table} t where t.tenant_id = {tenant}

-- name: posting_hashes
-- Terms of subjects, each with a hash of its postings, however they are split into lists.
select p.subject_id, p.term,
       md5(sum(('x' || left(x.hash, 16))::bit(64)::bigint)::text || sum(('x' || right(x.hash, 16))::bit(64)::bigint)::text) as hash
from memory.postings p
cross join lateral (select md5(record_send(row(p.item_id, p.tf, p.dl))) as hash) x
where p.tenant_id = {tenant}
group by p.subject_id, p.term

-- name: fill_hashes
-- Write the hashes of this side.
insert into {private} ({plain_key}, hash) {query}

-- name: differing_keys
-- Keys of one side that the other lacks, or has with another row.
select {plain_key} from (select {plain_key}, hash from {one} except select {plain_key}, hash from {other}) x

-- name: fill
-- Write keys into a table of keys.
insert into {kept} ({plain_key}) {query}

-- name: rows_of_keys
-- The rows of these keys.
select {columns} from {table} t
where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {kept})

-- name: delete_rows
-- Delete rows that the other memory lacks or has with other content.
delete from {table} t where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {private})

-- name: insert_rows
-- Insert rows that only the other memory has, or has with other content.
insert into {table} ({columns}) select {columns} from {private}

-- name: reset_subjects
-- Subjects stay, because writers lock them; the figures that search uses follow.
update memory.subjects t set items = 0, terms = 0, speakers = '{{}}'
where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {private})

-- name: upsert_subjects
-- Write the figures of subjects that search uses.
insert into memory.subjects ({columns}) select {columns} from {private}
on conflict (tenant_id, subject_id) do update set items = excluded.items, terms = excluded.terms, speakers = excluded.speakers

-- name: standing
-- The generation's state, and a value that changes with every change of memory: from the ledger, which records each stage's
-- writes, corrections, and notes of late subjects. Every erasure drops the generation.
select (select state from ops.generations where tenant_id = %(tenant)s and number = %(number)s),
       (select count(*) from log.corrections where tenant_id = %(tenant)s),
       (select sum(hashtextextended(run_id::text || attempts || finished_at, 0)) from ops.runs where tenant_id = %(tenant)s),
       (select sum(hashtextextended(subject_id || xmin, 0)) from ops.late_subjects where tenant_id = %(tenant)s)

-- name: lock_tenant
-- Wait for whoever embeds or changes the tenant's memory, and keep others out until the transaction ends. The tenant first:
-- an embedding run holds it before it locks its subjects.
with tenant as materialized (select tenant_id from ops.tenants where tenant_id = %(tenant)s for update)
select s.subject_id from memory.subjects s where s.tenant_id = (select tenant_id from tenant) order by s.subject_id for update of s

-- name: set_tenant
-- Make and recall memory by this policy and model from now on.
update ops.tenants set policy = %(policy)s, model = coalesce(%(model)s, model) where tenant_id = %(tenant)s

-- name: forgive
-- Forget failures, which concern the replaced memory.
delete from ops.synthesis_failures where tenant_id = %(tenant)s

-- name: take_late
-- Delete the notes of late subjects, which concern the replaced memory, and return them.
delete from ops.late_subjects where tenant_id = %(tenant)s returning subject_id, happened_at

-- name: keep_late
-- Note them beside the replaced memory: when it is to be live again, these subjects are made again first.
insert into ops.late_subjects (tenant_id, subject_id, happened_at)
select %(tenant)s, x.subject_id, x.happened_at from unnest(%(subjects)s::text[], %(times)s::timestamptz[]) x (subject_id, happened_at)
on conflict (tenant_id, subject_id) do update set happened_at = least(ops.late_subjects.happened_at, excluded.happened_at)

-- name: note_switch
-- Record which memory is live and, when a generation is published, by what the replaced one was made.
update ops.generations
set state = %(state)s, published_at = %(now)s, kept_until = %(kept_until)s, lock_seconds = %(lock_seconds)s,
    replaced_policy = case when %(state)s = 'published' then %(replaced_policy)s else replaced_policy end,
    replaced_model = case when %(state)s = 'published' then %(replaced_model)s else replaced_model end
where tenant_id = %(tenant)s and number = %(number)s

-- name: read_tenant
-- The policy and model of the memory that is replaced.
select policy, model from ops.tenants where tenant_id = %(tenant)s

-- name: read_subjects
-- The subjects that the live memory knows.
select subject_id from memory.subjects where tenant_id = %(tenant)s

-- name: outlive_crash
-- Wait for the disk on commit, as nothing else in a generation's database does: the replaced memory must survive a crash.
select set_config('synchronous_commit', 'on', true)
