-- name: holds
-- Which memory the generation's database holds: the one that was made in it, or the one that it replaced.
select what from kept.holds

-- name: set_holds
-- It holds the other one now.
update kept.holds set what = %(what)s

-- name: make_kept
-- What belongs to the other memory than the one in its database: rows, and keys of rows that it does not have.
create schema if not exists kept authorization reverie_worker;
set role reverie_worker;
create table if not exists kept.holds as select 'generation'::text as what;
reset role

-- name: drop_kept
-- The next comparison writes them anew.
drop table if exists {kept}, {foreign}

-- name: kept_tables
-- The tables of which the other memory has other rows.
select c.relname from pg_catalog.pg_class c
where c.relnamespace = to_regnamespace('kept') and c.relkind = 'r' and c.relname <> 'holds' and right(c.relname, 5) <> '_keys'
order by c.relname

-- name: make_like
-- A table of some columns of another.
create table {kept} as select {columns} from {table} with no data

-- name: make_private
-- The same for this connection alone, over several transactions.
create temp table {private} as select {columns} from {table} with no data

-- name: drop_private
-- What an earlier attempt left.
drop table if exists {private}

-- name: make_hashes
-- Keys of one memory's rows, each with a hash of the row.
create temp table {private} on commit drop as select {plain_key}, ''::text as hash from {table} with no data

-- name: analyze
-- Tables that were just written have no figures, and joins with them would become nested loops.
analyze {private}

-- name: row_hashes
-- Each row's key and hash. A hash of all columns but the run, which says how the work was split.
select {key}, md5(record_send(row({compared}))) as hash from {table} t where t.tenant_id = {tenant}

-- name: posting_hashes
-- Terms of subjects, each with a hash of its postings, however they are cut into lists.
select p.subject_id, p.term,
       md5(sum(('x' || left(x.hash, 16))::bit(64)::bigint)::text || sum(('x' || right(x.hash, 16))::bit(64)::bigint)::text) as hash
from memory.postings p
cross join lateral (select md5(record_send(row(p.item_id, p.tf, p.dl))) as hash) x
where p.tenant_id = {tenant}
group by p.subject_id, p.term

-- name: fill_hashes
-- The hashes of this side.
insert into {private} ({plain_key}, hash) {query}

-- name: differing_keys
-- Keys that one side has and the other has not, or with another row.
select {plain_key} from (select {plain_key}, hash from {one} except select {plain_key}, hash from {other}) x

-- name: fill
-- Keys into a table of keys.
insert into {kept} ({plain_key}) {query}

-- name: rows_of_keys
-- The rows of these keys.
select {columns} from {table} t
where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {kept})

-- name: delete_rows
-- Rows that the other memory has not, or has otherwise.
delete from {table} t where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {private})

-- name: insert_rows
-- Rows that the other memory has, or has otherwise.
insert into {table} ({columns}) select {columns} from {private}

-- name: reset_subjects
-- Subjects stay, since they are what is locked; what is searched of them follows.
update memory.subjects t set items = 0, terms = 0, speakers = '{{}}'
where t.tenant_id = {tenant} and ({key}) in (select {plain_key} from {private})

-- name: upsert_subjects
-- What is searched of the subjects.
insert into memory.subjects ({columns}) select {columns} from {private}
on conflict (tenant_id, subject_id) do update set items = excluded.items, terms = excluded.terms, speakers = excluded.speakers

-- name: standing
-- What changes whenever somebody changes memory: the ledger, in which each stage notes what it wrote, and corrections.
select (select count(*) from log.corrections where tenant_id = %(tenant)s),
       (select sum(hashtextextended(run_id::text || attempts || finished_at, 0)) from ops.runs where tenant_id = %(tenant)s)

-- name: lock_tenant
-- Wait for whoever embeds or changes memory of the tenant; nobody begins before the transaction ends. The tenant first: an
-- embedding run holds it before it locks its subjects.
with tenant as materialized (select tenant_id from ops.tenants where tenant_id = %(tenant)s for update)
select s.subject_id from memory.subjects s where s.tenant_id = (select tenant_id from tenant) order by s.subject_id for update of s

-- name: set_tenant
-- Memory is made and recalled by this policy and model from now on.
update ops.tenants set policy = %(policy)s, model = coalesce(%(model)s, model) where tenant_id = %(tenant)s

-- name: forgive
-- What was known to have failed or to be late was so in the memory that is replaced.
with late as (delete from ops.late_subjects where tenant_id = %(tenant)s)
delete from ops.synthesis_failures where tenant_id = %(tenant)s

-- name: note_switch
-- Which memory is live.
update ops.generations
set state = %(state)s, published_at = %(now)s, kept_until = %(kept_until)s, lock_seconds = %(lock_seconds)s,
    replaced_policy = coalesce(replaced_policy, %(replaced_policy)s), replaced_model = coalesce(replaced_model, %(replaced_model)s)
where tenant_id = %(tenant)s and number = %(number)s

-- name: read_tenant
-- By which policy and model the memory is made that is replaced.
select policy, model from ops.tenants where tenant_id = %(tenant)s

-- name: read_subjects
-- The subjects that the live memory knows.
select subject_id from memory.subjects where tenant_id = %(tenant)s

-- name: outlive_crash
-- What was replaced is on disk before it is replaced, though a generation's database waits for the disk nowhere else.
select set_config('synchronous_commit', 'on', true)
