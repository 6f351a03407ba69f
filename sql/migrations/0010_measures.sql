-- What the quality gates compare: each measure of a tenant with what is usual for it. Numbers and codes, so data teams read all
-- of it. A tenant has some fifty rows a check; a check deletes those of 90 days before it.
create table ops.measures (
    tenant_id text not null,
    as_of timestamptz not null,
    gate text not null,
    part text not null,
    value double precision not null,
    size bigint not null check (size >= 0),
    usual double precision,
    margin double precision check (margin > 0),
    lowest double precision,
    highest double precision,
    weeks smallint not null check (weeks >= 0),
    check_id uuid not null,
    primary key (tenant_id, as_of, gate, part),
    check ((usual is null) = (margin is null))
);
create index measures_by_check on ops.measures (tenant_id, check_id, gate);
comment on table ops.measures is 'What the quality gates compare: each measure of a tenant, and what is usual for it by the weeks before.';
comment on column ops.measures.as_of is 'Logical time at which it was measured, by the tenant''s clock.';
comment on column ops.measures.gate is 'Name of the gate, such as discards.';
comment on column ops.measures.part is 'What of it: a reason, a mood, a script, a range of importance, a model; a code, never a word of a user.';
comment on column ops.measures.value is 'What was measured: a share, a rate, hours, a norm.';
comment on column ops.measures.size is 'Of how many things it is the share or rate.';
comment on column ops.measures.usual is 'Median of the weeks before; null: not enough history.';
comment on column ops.measures.margin is 'How far from the usual value it may be; null: not enough history.';
comment on column ops.measures.lowest is 'Lowest value of the weeks before; null: there are none.';
comment on column ops.measures.highest is 'Highest value of the weeks before; null: there are none.';
comment on column ops.measures.weeks is 'How many weeks before it had enough things to compare with.';
comment on column ops.measures.check_id is 'The check that measured it, over all tenants.';

grant select (tenant_id, as_of, gate, part, value, size, usual, margin, lowest, highest, weeks, check_id)
    on ops.measures to reverie_analyst;
