-- name: read_place
-- How far a source was read, and how its fields were mapped.
select cursor_column, place, mapping, read_at from ops.sources where tenant_id = %(tenant)s and name = %(name)s

-- name: keep_place
-- How far a source was read, beside the rows that were taken. Rows without a value leave the place where it was.
insert into ops.sources as s (tenant_id, name, cursor_column, place, mapping, read_at)
values (%(tenant)s, %(name)s, %(cursor)s, %(value)s, %(mapping)s, %(read_at)s)
on conflict (tenant_id, name) do update
set cursor_column = excluded.cursor_column,
    place = coalesce(excluded.place,
                     case when s.cursor_column is not distinct from excluded.cursor_column then s.place end),
    mapping = excluded.mapping, read_at = excluded.read_at

-- name: read_table
-- All of a table of another database.
select * from {table}

-- name: read_all
-- All rows of a query of another database.
select * from ({query}
) as source

-- name: read_in_order
-- The same, in the order of a column.
select * from ({query}
) as source order by {order}

-- name: read_since
-- The rows from a place on, that of the place again, since rows of one value need not come at one time; and those
-- without a value, which have no place.
select * from ({query}
) as source where source.{cursor} >= %(place)s or source.{cursor} is null order by {order}
