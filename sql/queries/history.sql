-- name: months_with_turns
-- In which months (UTC) and shards the log has turns, for backfills that leave out empty partitions.
select distinct date_trunc('month', said_at at time zone 'UTC')::date, shard
from log.turns where tenant_id = %(tenant)s
