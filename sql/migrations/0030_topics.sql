-- What messages of a subject may be about: what it talks about more or less than before is told of it.

create table memory.topics (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    said_at timestamptz not null,
    words text[] not null,
    named boolean[] not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, turn_id),
    check (cardinality(words) = cardinality(named))
);
create index topics_by_subject on memory.topics (tenant_id, subject_id, said_at);
comment on table memory.topics is 'Words of a subject''s own messages that these may be about; a message without any has no row.';
comment on column memory.topics.turn_id is 'The message.';
comment on column memory.topics.said_at is 'Event time of the message.';
comment on column memory.topics.words is 'The words, in the order of the message.';
comment on column memory.topics.named is 'Whether each stands in the place of a noun.';

-- messages that were read before there were topics: their days wait again
alter table log.turns no force row level security;
alter table memory.extractions no force row level security;
alter table memory.signal_days no force row level security;
insert into memory.signal_days (tenant_id, subject_id, day, turns)
select t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date, count(*)
from log.turns t
join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
where t.role = 'user'
group by t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date
on conflict do nothing;
alter table log.turns force row level security;
alter table memory.extractions force row level security;
alter table memory.signal_days force row level security;

-- data teams count messages; what they are about is withheld
grant select (tenant_id, said_at, shard, run_id) on memory.topics to reverie_analyst;
