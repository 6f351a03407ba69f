-- name: probe
-- Whether a tenant has memories, for the server's readiness: fails where a request would.
select exists (select from memory.memories where tenant_id = %(tenant)s limit 1)
