-- Life events: what happened to somebody or will happen, with the day that it was told for.

create table memory.life_events (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    speaker text not null,
    kind text not null check (kind in ('told', 'planned', 'cancelled', 'moved')),
    title text not null check (title <> ''),
    who text,
    first_on date,
    last_on date,
    precision text check (precision in ('day', 'weekend', 'week', 'month', 'season', 'year', 'span')),
    certainty text check (certainty in ('date', 'reckoned', 'assumed')),
    clock time,
    zone text not null,
    yearly boolean not null,
    worth real not null check (worth between 0 and 1),
    told_at timestamptz not null,
    turn_id uuid not null,
    memory_id uuid,
    place smallint not null,
    state text not null check (state in ('told', 'planned', 'cancelled', 'moved', 'repeated', 'change')),
    ended_at timestamptz,
    by_id uuid,
    confirmed_at timestamptz,
    forget_at timestamptz,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, id),
    constraint life_events_day_check check (
        (first_on is null) = (last_on is null) and (first_on is null) = (certainty is null)
        and (first_on is null) = (precision is null) and first_on <= last_on)
);
create index life_events_by_cause on memory.life_events (tenant_id, by_id) where by_id is not null;
create index life_events_by_day on memory.life_events (tenant_id, subject_id, first_on);
comment on table memory.life_events is 'What happened to a subject, or will happen, each time that it was told; state says what became of it.';
comment on column memory.life_events.id is 'Deterministic UUIDv8 of the turn and its sentence; the UID of the event in a calendar.';
comment on column memory.life_events.speaker is 'Who told it, if not the subject; else empty.';
comment on column memory.life_events.kind is 'What the sentence says: told: it happened; planned: it will; cancelled: a plan is off; moved: a plan has another day.';
comment on column memory.life_events.title is 'The event: the object of a plan, or the sentence that tells it.';
comment on column memory.life_events.who is 'Whose it is, if not the speaker''s, as it was said: sister Ann.';
comment on column memory.life_events.first_on is 'First day on which it is or was, in zone; null: no day was named.';
comment on column memory.life_events.last_on is 'Last such day; of a month its last day.';
comment on column memory.life_events.precision is 'How exactly the days are known: day: it is on the first day, week: within the days of a week, and so on; span: some days in a row.';
comment on column memory.life_events.certainty is 'date: a date was said; reckoned: a time such as "on Friday" or "in three weeks" was, and reckoned from the day of the message; assumed: none was, and it is the day of the message.';
comment on column memory.life_events.clock is 'Time of day in zone; null: none was said.';
comment on column memory.life_events.zone is 'Time zone of the subject when it was told.';
comment on column memory.life_events.yearly is 'Whether it comes every year, as a birthday does.';
comment on column memory.life_events.worth is 'Probability that the sentence tells an event of somebody''s life.';
comment on column memory.life_events.told_at is 'Event time of the message.';
comment on column memory.life_events.turn_id is 'The message.';
comment on column memory.life_events.memory_id is 'A memory that was extracted from the message and states it; null: none does.';
comment on column memory.life_events.place is 'Number of the mention in its message, from 0.';
comment on column memory.life_events.state is 'told: it happened; planned: it is or was planned; cancelled, moved: the plan ended so; repeated: another row tells the same; change: it ended or moved a plan and is no event.';
comment on column memory.life_events.ended_at is 'Event time at which the plan was cancelled or moved.';
comment on column memory.life_events.by_id is 'The row that cancelled or moved it, or that tells the same.';
comment on column memory.life_events.confirmed_at is 'Event time at which it was first told that the plan happened.';
comment on column memory.life_events.forget_at is 'When it is no longer shown, by the retention of its class; null: no such time.';

-- the day before an event, and the day after
-- squawk-ignore ban-drop-constraint
alter table memory.triggers drop constraint triggers_kind_check;
-- squawk-ignore constraint-missing-not-valid
alter table memory.triggers add constraint triggers_kind_check
    check (kind in ('difficult_period', 'check_in', 'event_ahead', 'event_after', 'silence', 'decline', 'crisis'));
comment on column memory.triggers.kind is 'difficult_period, check_in, event_ahead, event_after, silence, decline or crisis.';

-- turns that were read before there were life events are read for them
alter table log.turns no force row level security;
alter table memory.extractions no force row level security;
alter table memory.signal_days no force row level security;
insert into memory.signal_days as d (tenant_id, subject_id, day, turns)
select t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date, count(*)
from log.turns t
join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
group by t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date
on conflict do nothing;
alter table log.turns force row level security;
alter table memory.extractions force row level security;
alter table memory.signal_days force row level security;

-- data teams count events; what and when they are is withheld
grant select (tenant_id, id, subject_id, kind, precision, certainty, yearly, worth, told_at, place, state, ended_at, confirmed_at,
              shard, run_id) on memory.life_events to reverie_analyst;
