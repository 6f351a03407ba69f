-- name: read_heads
-- The tenant's heads of the reader, the one in force first, then the latest.
select version, reader, head, models, replies, figures, made_at, retired_at
from ops.reader_heads
where tenant_id = %(tenant)s
order by retired_at is not null, made_at desc, version

-- name: adopt_head
-- Put a head in force; an earlier one comes into force again.
insert into ops.reader_heads (tenant_id, version, reader, head, models, replies, figures, made_at)
values (%(tenant)s, %(version)s, %(reader)s, %(head)s::jsonb, %(models)s, %(replies)s, %(figures)s::jsonb, %(at)s)
on conflict (tenant_id, version) do update
set retired_at = null, models = excluded.models, replies = excluded.replies, figures = excluded.figures,
    made_at = excluded.made_at

-- name: retire_head
-- Retire the head in force.
update ops.reader_heads set retired_at = %(at)s
where tenant_id = %(tenant)s and retired_at is null
returning version
