-- name: probe
-- Whether a tenant has memories, for the server's readiness: fails where a request would.
select exists (select from memory.memories where tenant_id = %(tenant)s limit 1)

-- name: accepts_writes
-- Whether this database can be written to: not after a failover to a standby, nor if it was made read-only.
select current_setting('transaction_read_only') = 'off'
