-- Numbers that a subject's messages report and its outcomes have: trends are told of them. And patterns that rest on turns of
-- which no episode was made.

-- The new check allows more than the old one, so every row passes it, and nobody may expect less.
-- squawk-ignore ban-drop-constraint
alter table memory.lineage drop constraint lineage_relation_check;
-- squawk-ignore constraint-missing-not-valid
alter table memory.lineage add constraint lineage_relation_check check (relation in (
    'extracted', 'context', 'merged', 'compressed', 'summarised', 'mentioned', 'outcome', 'corrected', 'synthesized'));
comment on column memory.lineage.relation is 'How it came of it: extracted, named in the context of what was extracted, merged, compressed, summarised as a part of a running session, mentioned beside the episodes of a pattern, raised by an outcome, written by a correction, or synthesized with the profile.';

create table memory.measurements (
    tenant_id text not null,
    source text not null check (source in ('turn', 'outcome')),
    source_id uuid not null,
    place smallint not null check (place >= 0),
    subject_id text not null,
    measured_at timestamptz not null,
    speaker text,
    metric text not null,
    value double precision not null,
    topics text[] not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, source_id, place)
);
create index measurements_by_subject on memory.measurements (tenant_id, subject_id, measured_at);
comment on table memory.measurements is 'Numbers that a subject''s messages report and its outcomes have.';
comment on column memory.measurements.source is 'What source_id names: turn or outcome.';
comment on column memory.measurements.source_id is 'The message or the outcome.';
comment on column memory.measurements.place is 'Which number of its source, from 0.';
comment on column memory.measurements.measured_at is 'Event time of the message, or when the outcome was observed.';
comment on column memory.measurements.speaker is 'Who wrote the message, where it has a name; null for outcomes.';
comment on column memory.measurements.metric is 'Its unit or metric, in one form: kg, views.';
comment on column memory.measurements.value is 'The number.';
comment on column memory.measurements.topics is 'Words that say of what it is, in the order of the message or of the tool call.';

-- numbers of turns that were read before there were measurements: their days wait again
alter table log.turns no force row level security;
alter table memory.extractions no force row level security;
alter table memory.signal_days no force row level security;
insert into memory.signal_days (tenant_id, subject_id, day, turns)
select t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date, count(*)
from log.turns t
join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
where t.role = 'user' and t.text ~ '[0-9]'
group by t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date
on conflict do nothing;
alter table log.turns force row level security;
alter table memory.extractions force row level security;
alter table memory.signal_days force row level security;

-- data teams count numbers; what they are of, and their values, are withheld
grant select (tenant_id, source, place, measured_at, shard, run_id) on memory.measurements to reverie_analyst;
