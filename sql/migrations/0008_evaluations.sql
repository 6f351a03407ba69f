-- What evaluations measured, so that plots show it over time. Numbers only: no question and no name of a subject.

create table ops.evaluations (
    tenant_id text not null,
    id uuid not null,
    as_of timestamptz not null,
    policy text not null,
    policy_hash text not null,
    model text not null,
    against text,
    driver text not null,
    questions int not null check (questions >= 0),
    measures jsonb not null,
    seconds double precision not null,
    evaluated_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id)
);
create index evaluations_by_time on ops.evaluations (tenant_id, as_of);
comment on table ops.evaluations is 'One row an evaluation of a tenant''s memory: numbers, no text.';
comment on column ops.evaluations.id is 'Deterministic UUIDv8 of tenant, logical time, policy, model, what it was compared with, and questions.';
comment on column ops.evaluations.as_of is 'Logical time up to which the log was read.';
comment on column ops.evaluations.policy is 'Name of the policy by which was recalled.';
comment on column ops.evaluations.against is 'Policy or model that it was compared with; null: none.';
comment on column ops.evaluations.driver is 'Who evaluated: reverie or dagster.';
comment on column ops.evaluations.questions is 'How many held-back questions were asked.';
comment on column ops.evaluations.measures is 'The measures by name, numbers only; null where there was nothing to measure.';
comment on column ops.evaluations.seconds is 'How long it took.';
comment on column ops.evaluations.evaluated_at is 'When the row was written, by the clock; no stage reads it.';

grant select (tenant_id, id, as_of, policy, policy_hash, model, against, driver, questions, measures, seconds, evaluated_at)
    on ops.evaluations to reverie_analyst;
