-- A structured fact says what it states, so that it can be ended after its memory is forgotten: several relations share a key, and a
-- key has no polarity.

alter table memory.structured_facts add column relation text;
comment on column memory.structured_facts.relation is 'The relation of the statement, a name in the policy; null: it has only a key, or was written before this column existed.';
alter table memory.structured_facts add column topic text;
comment on column memory.structured_facts.topic is 'The topic of the statement in lower case, such as the role of a contact; empty: it has none.';
alter table memory.structured_facts add column object text;
comment on column memory.structured_facts.object is 'The object of the statement; the value has it in words.';
alter table memory.structured_facts add column polarity smallint;
comment on column memory.structured_facts.polarity is 'The polarity of the statement: below 0, it is denied or disliked.';
alter table memory.structured_facts add column expires_at timestamptz;
comment on column memory.structured_facts.expires_at is 'Time at which it ends by itself; null: at none that is known.';
-- squawk-ignore require-concurrent-index-creation
create index structured_facts_by_end on memory.structured_facts (tenant_id, expires_at) where expires_at is not null;
grant select (relation, polarity, expires_at) on memory.structured_facts to reverie_analyst;

comment on table ops.sources is 'Tables and queries of other databases that turns are imported from, and files with dead letters, and the position of each.';
comment on table memory.signal_days is 'Days of subjects with turns that are not in memory.signals yet.';
