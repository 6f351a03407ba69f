-- What holds for every table and function, so that a migration states only what is particular to its own. It runs at the end of
-- every upgrade, in the transaction of the migrations, and changes nothing that is already as it says.

-- What a column means wherever it appears; a migration gives a comment where it means something else.
do $$
declare
    c record;
begin
    for c in
        select a.attrelid::regclass as of_table, a.attname as of_column, x.meaning
        from (values
            ('tenant_id', 'Whose row it is; row-level security holds every session to one tenant.'),
            ('subject_id', 'Whom or what the tenant remembers things about.'),
            ('session_id', 'The caller''s id of the conversation.'),
            ('shard', 'Virtual shard of the subject, 0 to 1023; buckets are ranges of shards.'),
            ('run_id', 'Run that wrote the row, in ops.runs.'),
            ('policy_hash', 'Hash of all numbers of the policy in force.'),
            ('model', 'Key of the embedding model; vectors of different models are never compared.'),
            ('item', 'What item_id names: turn or memory.'),
            ('recorded_at', 'When the row was written, by the clock; no stage reads it.')
        ) as x (of_column, meaning)
        join pg_catalog.pg_attribute a on a.attname = x.of_column
        join pg_catalog.pg_class t on t.oid = a.attrelid and t.relkind in ('r', 'v')
        join pg_catalog.pg_namespace n on n.oid = t.relnamespace and n.nspname in ('log', 'memory', 'ops')
        where pg_catalog.col_description(a.attrelid, a.attnum) is null
    loop
        execute format('comment on column %s.%I is %L', c.of_table, c.of_column, c.meaning);
    end loop;
end
$$;

-- Row-level security: a session sees the rows of the tenant that it named. ops.migrations is Alembic's, and has no tenant.
do $$
declare
    t regclass;
begin
    for t in
        select c.oid::regclass
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.relname <> 'migrations'
          and not exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname = 'tenant')
    loop
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        -- a tenant that the statistics have not seen would be estimated at no rows, and any index would seem as good
        execute format('alter table %s alter column tenant_id set statistics 0', t);
        -- the sub-select is evaluated once a statement, not once a row
        execute format('create policy tenant on %s using (tenant_id = (select current_setting(''reverie.tenant'', true)))', t);
    end loop;
end
$$;

-- What one role may read of all tenants. The worker must know which tenants exist to serve them one after the other; it sees
-- their rows one at a time. The backlog is for the functions that tell which tenants wait: they run as the owner, and nobody
-- logs in as the owner but to migrate.
do $$
declare
    p record;
begin
    for p in
        select x.of_name, x.of_table, x.of_role
        from (values
            ('roster', 'ops.tenants', 'reverie_worker'),
            ('backlog', 'ops.queue', 'reverie_owner'),
            ('backlog', 'ops.sessions', 'reverie_owner')
        ) as x (of_name, of_table, of_role)
        where not exists (select from pg_catalog.pg_policy
                          where polrelid = x.of_table::regclass and polname = x.of_name)
    loop
        execute format('create policy %I on %s for select to %I using (true)', p.of_name, p.of_table, p.of_role);
    end loop;
end
$$;

-- Data teams count over all tenants. Each migration grants them columns, never a whole table; where they have some, they see
-- every row.
do $$
declare
    t regclass;
begin
    for t in
        select c.oid::regclass
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'r' and c.relname <> 'migrations'
          and pg_catalog.has_any_column_privilege('reverie_analyst', c.oid, 'select')
          and not exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname = 'analyst')
    loop
        execute format('create policy analyst on %s for select to reverie_analyst using (true)', t);
    end loop;
end
$$;
grant usage on schema log, memory, ops to reverie_analyst;

-- Grants, from nothing: what is not named here is not granted.
grant usage on schema log, memory, ops to reverie_worker, reverie_reader, reverie_eraser;
revoke all on all tables in schema log, memory, ops from reverie_worker, reverie_reader, reverie_eraser;
grant select, insert on all tables in schema log to reverie_worker;
-- the mark of what it has counted; nothing that was logged
grant update (standing) on log.recalls to reverie_worker;
grant select, insert, update, delete on all tables in schema memory, ops to reverie_worker;
revoke insert, update, delete on ops.migrations, ops.unsynthesized, ops.erasures, ops.erased from reverie_worker;
-- whoever makes a tenant known makes its keys; nobody who takes turns in reads them
revoke select, update, delete on ops.erasure_keys from reverie_worker;
grant select on all tables in schema log, memory to reverie_reader;
grant insert on log.recalls, log.contexts to reverie_reader;
grant select on ops.tenants, ops.runs, ops.unsynthesized, ops.connection_tools, ops.pending_turns, ops.queue, ops.embeddings,
    ops.consents to reverie_reader;
-- whoever opens the database sees first whether its schema is the one that it needs
grant select on ops.migrations to reverie_reader;
-- the eraser deletes; it changes only what names something erased beside other things, and receipts are only added to
grant select, delete on all tables in schema log, memory, ops to reverie_eraser;
revoke delete on ops.migrations, ops.unsynthesized, ops.erasures, ops.erased, ops.erasure_keys from reverie_eraser;
revoke select on ops.erasure_keys from reverie_eraser;
grant insert on ops.erasures, ops.erased, ops.erasure_keys to reverie_eraser;
grant update (question, item_ids) on log.recalls to reverie_eraser;
grant update (memory_id, source_ids) on log.corrections to reverie_eraser;
grant update (items, terms, speakers) on memory.subjects to reverie_eraser;
grant update (mood, stated) on ops.sessions to reverie_eraser;
grant update (scope) on ops.runs to reverie_eraser;
grant update (state) on ops.generations to reverie_eraser;
grant update (subject_id) on ops.state_versions to reverie_eraser;
grant update (subject_id) on ops.calls to reverie_eraser;
grant insert, update on ops.queue to reverie_eraser;
grant insert on ops.outbox to reverie_eraser;

-- Functions that run as the owner are for the worker and the eraser alone.
do $$
declare
    f regprocedure;
begin
    for f in
        select p.oid::regprocedure
        from pg_catalog.pg_proc p
        join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('log', 'memory', 'ops') and p.prosecdef
    loop
        execute format('revoke execute on function %s from public', f);
        execute format('grant execute on function %s to reverie_worker, reverie_eraser', f);
    end loop;
end
$$;
revoke execute on function ops.erasure_secret, ops.take_erasure_secret from reverie_worker;

-- Where Citus is, new tables are distributed as the others are.
select ops.distribute_tables();
