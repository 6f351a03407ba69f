-- name: read_tools
-- The cached tools of a subject's connections, by name.
select connection_id, tools, read_at, expires_at
from ops.connection_tools
where tenant_id = %(tenant)s and subject_id = %(subject)s
  and (%(connections)s::text[] is null or connection_id = any(%(connections)s))
order by connection_id
