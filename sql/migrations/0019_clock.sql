-- A tenant may have a clock that stands still, as a sample does whose history has ended.
alter table ops.tenants add column clock_at timestamptz;
comment on column ops.tenants.clock_at is 'Logical time beyond which this tenant''s memory is not brought; null: the wall clock.';
