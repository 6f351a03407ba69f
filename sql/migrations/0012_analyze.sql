-- Statistics of a database of any size: a day's turns of one tenant are no reason to sample all tables.

create or replace function ops.analyze_tables() returns void language plpgsql security definer set search_path = '' as $$
declare
    grown text;
begin
    for grown in
        select c.oid::regclass::text
        from unnest(array['log.turns', 'log.outcomes', 'log.recalls', 'memory.accesses', 'memory.extractions', 'memory.memories',
                          'memory.items', 'memory.vectors', 'memory.terms', 'memory.lineage', 'memory.entities',
                          'memory.links']) as t (name)
        join pg_catalog.pg_class c on c.oid = t.name::regclass
        -- relpages is the size at the last analyze; the size is exact at once, unlike the counters of autovacuum
        where pg_catalog.pg_relation_size(c.oid)
              > 1.1 * c.relpages * pg_catalog.current_setting('block_size')::bigint
    loop
        execute 'analyze ' || grown;
    end loop;
end
$$;
comment on function ops.analyze_tables is
    'Refresh the planner''s statistics of the tables that grew by a tenth, as a bulk load makes them; as the owner.';
