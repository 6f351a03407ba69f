-- name: read_place
-- The place up to which a source was read, and the mapping of its fields.
select cursor_column, place, mapping, read_at from ops.sources where tenant_id = %(tenant)s and name = %(name)s

-- name: keep_place
-- Store the place up to which a source was read, beside the imported rows. Rows without a value leave the place unchanged.
insert into ops.sources as s (tenant_id, name, cursor_column, place, mapping, read_at)
values (%(tenant)s, %(name)s, %(cursor)s, %(value)s, %(mapping)s, %(read_at)s)
on conflict (tenant_id, name) do update
set cursor_column = excluded.cursor_column,
    place = coalesce(excluded.place,
                     case when s.cursor_column is not distinct from excluded.cursor_column then s.place end),
    mapping = excluded.mapping, read_at = excluded.read_at

-- name: read_table
-- All rows of a table in another database.
select * from {table}

-- name: read_all
-- All rows of a query in another database.
select * from ({query}
) as source

-- name: read_in_order
-- The same rows, ordered by a column.
select * from ({query}
) as source order by {order}

-- name: read_since
-- The rows from a place on, including those at that place, because rows with one value may not arrive together; and rows
-- without a value, which have no place.
select * from ({query}
) as source where source.{cursor} >= %(place)s or source.{cursor} is null order by {order}
