-- name: cache_tools
-- Write the tools of a connection in place of those read before.
insert into ops.connection_tools as c (tenant_id, subject_id, connection_id, tools, read_at, expires_at)
values (%(tenant)s, %(subject)s, %(connection)s, %(tools)s::jsonb, %(read_at)s, %(expires_at)s)
on conflict (tenant_id, subject_id, connection_id) do update
set tools = excluded.tools, read_at = excluded.read_at, expires_at = excluded.expires_at
where excluded.read_at >= c.read_at
