-- name: read
-- The revision that the database was migrated to.
select version_num from ops.migrations
