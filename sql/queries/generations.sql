-- name: list_generations
-- The generations of a tenant, the latest first.
select number, database, state, policy, policy_hash, model, embedder, without_source, as_of, turns, memories, sha256, seconds, made_at,
       published_at, kept_until, replaced_policy, replaced_model, lock_seconds
from ops.generations
where tenant_id = %(tenant)s
order by number desc

-- name: lock_begin
-- Let one process at a time number a generation of the tenant and create its database, until its connection closes.
select pg_advisory_lock(hashtextextended('generations/' || %(tenant)s, 0))

-- name: lock_build
-- Let one process build a generation, until its connection closes; false: another one does.
select pg_try_advisory_lock(hashtextextended('generations/' || %(tenant)s || '/' || %(number)s::int, 0))

-- name: next_number
-- The number of the next generation.
select coalesce(max(number), 0) + 1 from ops.generations where tenant_id = %(tenant)s

-- name: add_generation
-- Record a generation before it is begun.
insert into ops.generations (tenant_id, number, database, state, policy, policy_hash, model, embedder, without_source, as_of)
values (%(tenant)s, %(number)s, %(database)s, 'building', %(policy)s, %(policy_hash)s, %(model)s, %(embedder)s,
        %(without_source)s, %(as_of)s)

-- name: note_build
-- Record the state of a generation's build.
update ops.generations
set state = case when state = 'building' and %(complete)s then 'ready' else state end,
    as_of = greatest(as_of, %(as_of)s), turns = %(turns)s, memories = %(memories)s, sha256 = %(sha256)s,
    seconds = seconds + %(seconds)s
where tenant_id = %(tenant)s and number = %(number)s

-- name: drop_generation
-- Mark a generation as dropped.
update ops.generations set state = 'dropped' where tenant_id = %(tenant)s and number = %(number)s

-- name: ended_generations
-- Generations whose kept window has ended.
select number from ops.generations
where tenant_id = %(tenant)s and state in ('published', 'reverted') and kept_until < %(now)s
order by number

-- name: read_clock
-- The fixed time of the tenant's clock; null: it runs.
select clock_at from ops.tenants where tenant_id = %(tenant)s

-- name: set_tenant
-- Write the tenant to the database of its generation, with its policy and clock.
insert into ops.tenants (tenant_id, policy, clock_at) values (%(tenant)s, %(policy)s, %(clock_at)s)
on conflict (tenant_id) do update set policy = excluded.policy, clock_at = excluded.clock_at

-- name: count_log
-- Numbers of turns and memories of a tenant.
select (select count(*) from log.turns where tenant_id = %(tenant)s),
       (select count(*) from memory.memories where tenant_id = %(tenant)s)

-- name: count_active
-- The number of a tenant's active memories.
select count(*) from memory.memories where tenant_id = %(tenant)s and state = 'active'

-- name: without_source
-- Leave out turns and events of one source.
and not exists (select from log.attributes a where a.tenant_id = t.tenant_id and a.id = t.id and a.source = {source})

-- name: of_model
-- Take vectors of one embedding model.
and t.model = {model}

-- name: read_memories
-- All memories with the columns that can differ between two generations, and a hash of the turns and events they come from.
select m.id::text, m.subject_id, m.kind, m.state, encode(m.content_hash, 'hex'), m.valid_to, m.superseded_by::text,
       coalesce(l.sources, '')
from memory.memories m
left join (select memory_id, md5(string_agg(source_id::text, ',' order by source_id)) as sources
           from memory.lineage
           where tenant_id = %(tenant)s and source in ('turn', 'event')
           group by memory_id) l on l.memory_id = m.id
where m.tenant_id = %(tenant)s

-- name: read_facts
-- Structured facts in force.
select subject_id, speaker, category, key, value
from memory.structured_facts
where tenant_id = %(tenant)s and valid_to is null

-- name: read_entries
-- Entries of profiles in force: those of the scaffold, and the current narratives under an empty path.
select subject_id, connection_id, array_to_string(path, '/'), coalesce(value::text, '')
from memory.scaffold
where tenant_id = %(tenant)s and state = 'active'
union all
select subject_id, '', '', narrative from memory.profiles where tenant_id = %(tenant)s and replaced_at is null

-- name: read_contents
-- The texts of some memories.
select id::text, content from memory.memories where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])

-- name: last_questions
-- The latest questions, latest first.
select id, subject_id, asked_at, question
from log.recalls
where tenant_id = %(tenant)s and question <> ''
order by asked_at desc, id
limit %(limit)s

-- name: share_runs
-- Copy the runs that wrote a memory to the ledger beside it.
insert into ops.runs ({columns}) select {columns} from {incoming}
on conflict (tenant_id, run_id) do update
set policy = excluded.policy, policy_hash = excluded.policy_hash, model = excluded.model, status = excluded.status,
    report = excluded.report, driver = excluded.driver, finished_at = excluded.finished_at
