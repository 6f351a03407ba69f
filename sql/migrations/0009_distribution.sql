-- Tables over several machines, where the extension Citus is: each tenant's rows on one of them, all tables alike. Every key
-- and every join contains tenant_id (tests/store/test_distribution.py), so a statement of one tenant runs where its rows are.

create function ops.distribution() returns table (of_table text, statement text)
    language sql stable set search_path = pg_catalog as $$
    select t.of_table,
           format('select create_distributed_table(%L, ''tenant_id'', colocate_with => %L)', t.of_table,
                  case t.of_table when 'log.turns' then 'none' else 'log.turns' end)
    from (select n.nspname || '.' || c.relname as of_table
          from pg_class c
          join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p') and not c.relispartition
            and c.relname <> 'migrations') t
    order by t.of_table <> 'log.turns', t.of_table
$$;
comment on function ops.distribution is 'What distributes each table by tenant where Citus is, the first one first: all others lie beside it.';

create function ops.distribute_tables() returns int
    language plpgsql set search_path = pg_catalog as $$
declare
    d record;
    distributed int := 0;
begin
    if not exists (select from pg_extension where extname = 'citus') then
        return 0;
    end if;
    for d in select of_table, statement from ops.distribution() loop
        continue when exists (select from pg_dist_partition where logicalrelid = d.of_table::regclass);
        -- rows that are there already are moved by the owner, who else sees none of them
        execute format('alter table %s no force row level security', d.of_table);
        execute d.statement;
        execute format('alter table %s force row level security', d.of_table);
        distributed := distributed + 1;
    end loop;
    return distributed;
end
$$;
comment on function ops.distribute_tables is 'Distribute each table that is not distributed yet, where Citus is; returns how many. Migrations end with it.';
revoke execute on function ops.distribution(), ops.distribute_tables() from public;
