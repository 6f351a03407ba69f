-- Roles, extension and schemas. Idempotent; run by the migrating user before the numbered migrations.
-- reverie_owner owns and migrates, reverie_worker consolidates, reverie_reader answers recalls, reverie_analyst counts over
-- all tenants and sees nobody's words, reverie_eraser deletes what is to be erased, from the log as well. None can log in: the
-- user of DATABASE_URL is a member of all five and takes one of them on for each connection.
do $$
declare
    wanted text;
    -- since Postgres 16 the creator of a role is its member at once, but may not set it until it grants it to itself
    needed constant text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
    foreach wanted in array array['reverie_owner', 'reverie_worker', 'reverie_reader', 'reverie_analyst',
                                  'reverie_eraser'] loop
        begin
            if not exists (select from pg_catalog.pg_roles where rolname = wanted) then
                execute format('create role %I nologin', wanted);
            end if;
        exception when duplicate_object or unique_violation then null;  -- another database of this server was first
        end;
        if not pg_catalog.pg_has_role(current_user, wanted, needed) then
            execute format('grant %I to %I', wanted, current_user);
        end if;
    end loop;
end
$$;

create extension if not exists vector;

create schema if not exists log authorization reverie_owner;
create schema if not exists memory authorization reverie_owner;
create schema if not exists ops authorization reverie_owner;
create schema if not exists marts authorization reverie_analyst;
comment on schema log is 'What was said and done: append-only, the truth.';
comment on schema memory is 'What is remembered: derived from log, can be thrown away and rebuilt.';
comment on schema ops is 'How the work goes: runs, costs, caches, dead letters.';
comment on schema marts is 'Counts for data teams, built by dbt; no content and no vectors, can be thrown away and rebuilt.';
