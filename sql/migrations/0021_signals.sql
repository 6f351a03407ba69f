-- Signals: moods of all messages, daily figures of each subject and counterpart, and what follows from them: difficult periods,
-- the history of the relationship, ties and triggers. And what callers did about triggers.

create table memory.signal_days (
    tenant_id text not null,
    subject_id text not null,
    day date not null,
    turns int not null check (turns > 0),
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    primary key (tenant_id, subject_id, day)
);
comment on table memory.signal_days is 'Days of subjects with turns that are not in memory.signals yet; empty once the stage signal has run.';
comment on column memory.signal_days.day is 'The day, UTC.';
comment on column memory.signal_days.turns is 'Number of turns that were read since.';

create table memory.moods (
    tenant_id text not null,
    turn_id uuid not null,
    subject_id text not null,
    session_id text not null,
    said_at timestamptz not null,
    mood text not null,
    energy text not null,
    style text not null,
    confidence real,
    method text not null check (method in ('model', 'classifier', 'previous', 'keywords')),
    crisis boolean not null,
    own boolean not null,
    run_id uuid not null,
    primary key (tenant_id, turn_id)
);
create index moods_by_place on memory.moods (tenant_id, subject_id, said_at);
comment on table memory.moods is 'The mood of every message, imported or live, by one chain; a language model''s is that of log.moods.';
comment on column memory.moods.turn_id is 'The message.';
comment on column memory.moods.said_at is 'Event time of the message.';
comment on column memory.moods.mood is 'A mood of the policy.';
comment on column memory.moods.energy is 'high, medium or low.';
comment on column memory.moods.style is 'The approach that answers it.';
comment on column memory.moods.confidence is 'Probability of the mood, where the method gives one.';
comment on column memory.moods.method is 'Step of the chain that gave it: model, classifier, previous or keywords.';
comment on column memory.moods.crisis is 'Whether the message sounds like a crisis.';
comment on column memory.moods.own is 'Whether the subject wrote it: the first user who speaks in the session, or who bears the subject''s name.';

create table memory.signals (
    tenant_id text not null,
    subject_id text not null,
    counterpart text not null,
    day date not null,
    messages int not null,
    received int not null,
    sessions int not null,
    begun int not null,
    own_begun int not null,
    latency_p50 double precision,
    gaps double precision[] not null default '{}',
    half_hours smallint[] not null default '{}',
    words int not null,
    questions int not null,
    emoji int not null,
    formal int not null,
    happy int not null,
    sad int not null,
    anxious int not null,
    excited int not null,
    neutral int not null,
    angry int not null,
    frustrated int not null,
    flirty int not null,
    bored int not null,
    grateful int not null,
    high_energy int not null,
    low_energy int not null,
    crises int not null,
    zone text,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, subject_id, counterpart, day)
);
comment on table memory.signals is 'Figures of a day of a subject with a counterpart; numbers only.';
comment on column memory.signals.counterpart is 'Who answers the subject: the speaker or role heard most in the session that day; empty: nobody.';
comment on column memory.signals.day is 'The day, UTC.';
comment on column memory.signals.messages is 'Messages of the subject.';
comment on column memory.signals.received is 'Turns of everybody else.';
comment on column memory.signals.sessions is 'Sessions with a turn on this day.';
comment on column memory.signals.begun is 'Sessions that began on this day.';
comment on column memory.signals.own_begun is 'Of these, sessions that the subject began; own_begun / begun is the share of own initiative.';
comment on column memory.signals.latency_p50 is 'Median seconds from another''s turn to the subject''s next message in the session; null: no reply.';
comment on column memory.signals.gaps is 'Of each session that began: hours since the turn before it in any session of the subject.';
comment on column memory.signals.half_hours is 'Of each message: the half hour of the day, UTC, 0 to 47, in order.';
comment on column memory.signals.words is 'Words of all messages.';
comment on column memory.signals.questions is 'Messages that end with a question mark.';
comment on column memory.signals.emoji is 'Messages with an emoji.';
comment on column memory.signals.formal is 'Messages that begin with a capital letter and end with a punctuation mark.';
comment on column memory.signals.happy is 'Messages of this mood; likewise the next nine.';
comment on column memory.signals.sad is 'Messages of this mood.';
comment on column memory.signals.anxious is 'Messages of this mood.';
comment on column memory.signals.excited is 'Messages of this mood.';
comment on column memory.signals.neutral is 'Messages of this mood.';
comment on column memory.signals.angry is 'Messages of this mood.';
comment on column memory.signals.frustrated is 'Messages of this mood.';
comment on column memory.signals.flirty is 'Messages of this mood.';
comment on column memory.signals.bored is 'Messages of this mood.';
comment on column memory.signals.grateful is 'Messages of this mood.';
comment on column memory.signals.high_energy is 'Messages of high energy.';
comment on column memory.signals.low_energy is 'Messages of low energy.';
comment on column memory.signals.crises is 'Messages that sound like a crisis.';
comment on column memory.signals.zone is 'Time zone that the metadata of a message names (key timezone), the latest of the day; null: none.';

create view memory.signal_weeks with (security_invoker = true) as
    select tenant_id, subject_id, counterpart, date_trunc('week', day)::date as week, count(*)::int as active_days,
           sum(messages)::int as messages, sum(received)::int as received, sum(sessions)::int as sessions, sum(begun)::int as begun,
           sum(own_begun)::int as own_begun,
           sum(latency_p50 * messages) filter (where latency_p50 is not null)
               / nullif(sum(messages) filter (where latency_p50 is not null), 0) as latency,
           sum(words)::int as words, sum(questions)::int as questions, sum(emoji)::int as emoji, sum(formal)::int as formal,
           sum(happy)::int as happy, sum(sad)::int as sad, sum(anxious)::int as anxious, sum(excited)::int as excited,
           sum(neutral)::int as neutral, sum(angry)::int as angry, sum(frustrated)::int as frustrated,
           sum(flirty)::int as flirty, sum(bored)::int as bored, sum(grateful)::int as grateful,
           sum(high_energy)::int as high_energy, sum(low_energy)::int as low_energy, sum(crises)::int as crises
    from memory.signals
    group by tenant_id, subject_id, counterpart, date_trunc('week', day)::date;
comment on view memory.signal_weeks is 'Figures of a week of a subject with a counterpart: sums of memory.signals.';
comment on column memory.signal_weeks.week is 'Monday of the week, UTC.';
comment on column memory.signal_weeks.active_days is 'Days with a turn.';
comment on column memory.signal_weeks.counterpart is 'Who answers the subject: the speaker or role heard most in the session that day; empty: nobody.';
comment on column memory.signal_weeks.messages is 'Messages of the subject.';
comment on column memory.signal_weeks.received is 'Turns of everybody else.';
comment on column memory.signal_weeks.sessions is 'Sessions with a turn on this day.';
comment on column memory.signal_weeks.begun is 'Sessions that began on this day.';
comment on column memory.signal_weeks.own_begun is 'Of these, sessions that the subject began; own_begun / begun is the share of own initiative.';
comment on column memory.signal_weeks.words is 'Words of all messages.';
comment on column memory.signal_weeks.questions is 'Messages that end with a question mark.';
comment on column memory.signal_weeks.emoji is 'Messages with an emoji.';
comment on column memory.signal_weeks.formal is 'Messages that begin with a capital letter and end with a punctuation mark.';
comment on column memory.signal_weeks.happy is 'Messages of this mood; likewise the next nine.';
comment on column memory.signal_weeks.sad is 'Messages of this mood.';
comment on column memory.signal_weeks.anxious is 'Messages of this mood.';
comment on column memory.signal_weeks.excited is 'Messages of this mood.';
comment on column memory.signal_weeks.neutral is 'Messages of this mood.';
comment on column memory.signal_weeks.angry is 'Messages of this mood.';
comment on column memory.signal_weeks.frustrated is 'Messages of this mood.';
comment on column memory.signal_weeks.flirty is 'Messages of this mood.';
comment on column memory.signal_weeks.bored is 'Messages of this mood.';
comment on column memory.signal_weeks.grateful is 'Messages of this mood.';
comment on column memory.signal_weeks.high_energy is 'Messages of high energy.';
comment on column memory.signal_weeks.low_energy is 'Messages of low energy.';
comment on column memory.signal_weeks.crises is 'Messages that sound like a crisis.';
comment on column memory.signal_weeks.latency is 'Mean of the daily median latencies, weighted by messages, in seconds.';

create table memory.periods (
    tenant_id text not null,
    subject_id text not null,
    opened_at timestamptz not null,
    closed_at timestamptz,
    turn_id uuid not null,
    negatives int not null,
    mood text not null,
    run_id uuid not null,
    primary key (tenant_id, subject_id, opened_at)
);
comment on table memory.periods is 'Difficult periods of subjects: several negative messages in a row.';
comment on column memory.periods.opened_at is 'Event time of the message that opened it.';
comment on column memory.periods.closed_at is 'Event time of the message after which it was over; null: it is not.';
comment on column memory.periods.turn_id is 'The message that opened it.';
comment on column memory.periods.negatives is 'Negative messages in it.';
comment on column memory.periods.mood is 'The most frequent of their moods.';

create table memory.relationships (
    tenant_id text not null,
    subject_id text not null,
    since timestamptz not null,
    stage text not null check (stage in ('new', 'building', 'established', 'deep')),
    sessions int not null,
    streak int not null,
    run_id uuid not null,
    primary key (tenant_id, subject_id, since)
);
comment on table memory.relationships is 'The stages that the relationship with a subject went through.';
comment on column memory.relationships.since is 'Event time at which the stage began.';
comment on column memory.relationships.stage is 'new, building, established or deep.';
comment on column memory.relationships.sessions is 'Sessions up to then.';
comment on column memory.relationships.streak is 'Days in a row with a session up to then.';

create table memory.ties (
    tenant_id text not null,
    subject_id text not null,
    day date not null,
    zone text not null,
    band_start smallint check (band_start between 0 and 47),
    band_half_hours smallint check (band_half_hours between 0 and 48),
    band_share double precision,
    band_since date,
    gap_p50 double precision,
    gap_p95 double precision,
    churn_risk double precision not null check (churn_risk between 0 and 1),
    strength double precision not null check (strength between 0 and 1),
    why jsonb not null,
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, subject_id)
);
comment on table memory.ties is 'How a subject stands to the application, as of its latest active day; numbers only.';
comment on column memory.ties.day is 'The latest day with a message of the subject, UTC.';
comment on column memory.ties.zone is 'Time zone of the subject: the latest that its messages name, else the policy''s.';
comment on column memory.ties.band_start is 'First half hour of the hours in which it usually writes, in its zone; null: no such hours.';
comment on column memory.ties.band_half_hours is 'Length of these hours in half hours.';
comment on column memory.ties.band_share is 'Share of messages in these hours over the days that the policy counts.';
comment on column memory.ties.band_since is 'Day from which they have been the usual hours.';
comment on column memory.ties.gap_p50 is 'Median hours between sessions.';
comment on column memory.ties.gap_p95 is '95th percentile of the hours between sessions.';
comment on column memory.ties.churn_risk is 'Risk that the subject stops writing, 0 to 1, by the rules of the policy.';
comment on column memory.ties.strength is 'Strength of the tie, 0 to 1: the mean of the parts in why.';
comment on column memory.ties.why is 'The parts of strength and churn_risk: {name: value}.';

create table memory.triggers (
    tenant_id text not null,
    id uuid not null,
    subject_id text not null,
    kind text not null check (kind in ('difficult_period', 'check_in', 'silence', 'decline', 'crisis')),
    audience text not null check (audience in ('caller', 'owner', 'person')),
    happened_at timestamptz not null,
    due_at timestamptz not null,
    until_at timestamptz not null,
    why jsonb not null,
    turn_id uuid,
    withheld text check (withheld in ('cap', 'crisis')),
    shard smallint not null generated always as (ops.shard_of(tenant_id, subject_id)) stored,
    run_id uuid not null,
    primary key (tenant_id, id)
);
create index triggers_by_time on memory.triggers (tenant_id, due_at, id);
create index triggers_by_subject on memory.triggers (tenant_id, subject_id);
comment on table memory.triggers is 'Reasons to act for a subject: what, why, for whom, from when and until when.';
comment on column memory.triggers.id is 'Deterministic UUIDv8 of its cause.';
comment on column memory.triggers.kind is 'difficult_period, check_in, silence, decline or crisis.';
comment on column memory.triggers.audience is 'Who is to act: caller: the application, towards the subject; owner: whoever runs it; person: a human, never the application by itself.';
comment on column memory.triggers.happened_at is 'Event time of its cause.';
comment on column memory.triggers.due_at is 'From when on it is to be acted upon, outside of quiet hours.';
comment on column memory.triggers.until_at is 'After this it is no longer of use.';
comment on column memory.triggers.why is 'The figures behind it; numbers and names of moods, no text.';
comment on column memory.triggers.turn_id is 'The message that caused it; null: figures did.';
comment on column memory.triggers.withheld is 'Why it is not delivered: cap: the subject has enough that day; crisis: no automatic outreach near a crisis; null: it is.';

create table log.acknowledgements (
    tenant_id text not null,
    trigger_id uuid not null,
    subject_id text not null,
    action text not null check (action in ('done', 'dismissed')),
    acted_at timestamptz not null,
    actor text check (length(actor) between 1 and 200),
    primary key (tenant_id, trigger_id)
);
create index acknowledgements_by_subject on log.acknowledgements (tenant_id, subject_id);
comment on table log.acknowledgements is 'Triggers that were acted upon or dismissed; append-only.';
comment on column log.acknowledgements.trigger_id is 'The trigger, in memory.triggers.';
comment on column log.acknowledgements.action is 'done: it was acted upon; dismissed: it was not, on purpose.';
comment on column log.acknowledgements.acted_at is 'Event time.';
comment on column log.acknowledgements.actor is 'Who acted, as the caller says; null where nobody said.';

-- turns that were read before there were signals: the owner sees no tenant's rows unless it is let
alter table log.turns no force row level security;
alter table memory.extractions no force row level security;
insert into memory.signal_days (tenant_id, subject_id, day, turns)
select t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date, count(*)
from log.turns t
join memory.extractions e on e.tenant_id = t.tenant_id and e.turn_id = t.id
group by t.tenant_id, t.subject_id, (t.said_at at time zone 'UTC')::date;
alter table log.turns force row level security;
alter table memory.extractions force row level security;

-- data teams read figures; whose mood or crisis a message shows is withheld, as in log.moods
grant select (tenant_id, subject_id, day, turns, shard) on memory.signal_days to reverie_analyst;
grant select (tenant_id, said_at, mood, energy, style, confidence, method, run_id) on memory.moods to reverie_analyst;
grant select (tenant_id, subject_id, day, messages, received, sessions, begun, own_begun, latency_p50, gaps, half_hours, words,
              questions, emoji, formal, shard, run_id) on memory.signals to reverie_analyst;
grant select (tenant_id, subject_id, since, stage, sessions, streak, run_id) on memory.relationships to reverie_analyst;
grant select (tenant_id, subject_id, day, zone, band_start, band_half_hours, band_share, band_since, gap_p50, gap_p95, churn_risk,
              strength, shard, run_id) on memory.ties to reverie_analyst;
grant select (tenant_id, id, audience, due_at, until_at, withheld, shard, run_id) on memory.triggers to reverie_analyst;
grant select (tenant_id, trigger_id, action, acted_at) on log.acknowledgements to reverie_analyst;
