-- Whoever opens the database sees first whether its schema is the one that it needs.
grant select on ops.migrations to reverie_reader;

-- Details of dead letters quoted up to 40 characters of the value that was wrong; the whole record is in payload.
alter table ops.dead_letters no force row level security;
update ops.dead_letters
set detail = regexp_replace(detail, ' is (["''].*|-?[0-9][0-9.e+-]*|True|False); expected ', ' has another value; expected ')
where detail ~ ' is (["''].*|-?[0-9][0-9.e+-]*|True|False); expected ';
alter table ops.dead_letters force row level security;
comment on column ops.dead_letters.detail is 'One sentence: the field, what kind of value was found, what is expected; never the value.';
