-- A credit of one subject beside the credit of its tenant: a request about a subject must be within both.
create table ops.subject_credits (
    tenant_id text not null,
    subject_id text not null,
    balance_usd double precision not null,
    given_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, subject_id)
);
comment on table ops.subject_credits is 'What a tenant may still spend on models for one subject; a subject without a row is limited by its tenant''s credit alone.';
comment on column ops.subject_credits.balance_usd is 'US dollars left, reservations taken off; a request about the subject that could take more than this is not sent.';
comment on column ops.subject_credits.given_at is 'When it was set, by the clock; requests booked before are not settled against it.';

alter table ops.calls add column subject_id text;
comment on column ops.calls.subject_id is 'Subject that the whole request was about; null: several subjects, or none.';

-- data teams may add up by subject, as they do of runs
grant select (tenant_id, subject_id, balance_usd, given_at) on ops.subject_credits to reverie_analyst;
grant select (subject_id) on ops.calls to reverie_analyst;
