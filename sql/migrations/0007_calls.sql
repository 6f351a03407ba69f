-- Calls of models: what each cost, what came of it, what a tenant may still spend, and how fast it may ask.

create table ops.calls (
    tenant_id text not null,
    id uuid not null,
    stage text not null,
    run_id uuid,
    kind text not null check (kind in ('completion', 'embedding')),
    model text not null,
    prompt text,
    prompt_hash bytea,
    items int not null,
    state text not null default 'reserved' check (state in ('done', 'failed', 'reserved')),
    reserved_usd double precision not null check (reserved_usd >= 0),
    cost_usd double precision check (cost_usd >= 0),
    priced boolean not null,
    tokens_in bigint not null default 0,
    tokens_out bigint not null default 0,
    seconds double precision not null default 0,
    reason text,
    repairs text[] not null default '{}',
    booked_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    check ((state = 'reserved') = (cost_usd is null))
);
create index calls_by_time on ops.calls (tenant_id, booked_at);
create index calls_by_run on ops.calls (tenant_id, run_id);
comment on table ops.calls is 'Cost ledger: one row a request to a model, booked before it is sent and settled when its reply is kept.';
comment on column ops.calls.id is 'Id of the request.';
comment on column ops.calls.stage is 'Stage that asked.';
comment on column ops.calls.run_id is 'Run that asked, in ops.runs; null outside a run.';
comment on column ops.calls.kind is 'completion: of a language model; embedding: of an embedding model.';
comment on column ops.calls.model is 'Model that was asked.';
comment on column ops.calls.prompt is 'Name of the prompt; null for embeddings.';
comment on column ops.calls.prompt_hash is 'sha256 of all that the model was told beside the data; null for embeddings.';
comment on column ops.calls.items is 'Items in the request.';
comment on column ops.calls.state is 'reserved: sent or about to be, no reply kept; done: settled; failed: no usable reply, see reason.';
comment on column ops.calls.reserved_usd is 'What it can cost at most, taken from the credit before it is sent; counts until it is settled.';
comment on column ops.calls.cost_usd is 'What it cost in US dollars; what it may have cost where nobody knows; null: not settled.';
comment on column ops.calls.priced is 'Whether a price is known; if not, its cost is written as 0.';
comment on column ops.calls.tokens_in is 'Tokens that the model read.';
comment on column ops.calls.tokens_out is 'Tokens that the model wrote.';
comment on column ops.calls.seconds is 'Time until the reply was there.';
comment on column ops.calls.reason is 'Why there was no usable reply, as a code; null when there was.';
comment on column ops.calls.repairs is 'What was put right in the reply: fence, prose, thought, unwrapped, nested, types.';
comment on column ops.calls.booked_at is 'When it was reserved, by the clock.';

create table ops.replies (
    tenant_id text not null,
    model text not null,
    prompt_hash bytea not null,
    input_hash bytea not null,
    subject_id text not null,
    source_ids uuid[] not null,
    reply jsonb not null,
    call_id uuid not null,
    made_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, model, prompt_hash, input_hash)
);
create index replies_by_subject on ops.replies (tenant_id, subject_id);
comment on table ops.replies is 'Replies of language models, kept so that nothing is asked or paid twice; never shared between tenants.';
comment on column ops.replies.model is 'Model that replied.';
comment on column ops.replies.prompt_hash is 'sha256 of all that the model was told beside the data.';
comment on column ops.replies.input_hash is 'sha256 of the subject and of the data that was shown.';
comment on column ops.replies.subject_id is 'Whom it is about: erasing the subject erases its replies.';
comment on column ops.replies.source_ids is 'Turns, memories or events that were shown: erasing one of them erases the reply.';
comment on column ops.replies.reply is 'The reply, checked against its model.';
comment on column ops.replies.call_id is 'The request that brought it, in ops.calls.';
comment on column ops.replies.made_at is 'When it was kept, by the clock.';

create table ops.credits (
    tenant_id text primary key,
    balance_usd double precision not null,
    given_at timestamptz not null default clock_timestamp()
);
comment on table ops.credits is 'What a tenant may still spend on models; a tenant without a row may spend without limit.';
comment on column ops.credits.balance_usd is 'US dollars left, reservations taken off; a request that could take more than this is not sent.';
comment on column ops.credits.given_at is 'When it was set, by the clock; requests booked before are not settled against it.';

create table ops.call_rates (
    tenant_id text not null,
    model text not null,
    free_at timestamptz not null,
    primary key (tenant_id, model)
);
comment on table ops.call_rates is 'The pace that all processes share: a request takes the next free moment and moves it on.';
comment on column ops.call_rates.model is 'Model that is asked.';
comment on column ops.call_rates.free_at is 'When the next request may be sent, by the clock of the database.';

-- Isolation, grants: as in 0001.
do $$
declare
    t regclass;
begin
    foreach t in array array['ops.calls', 'ops.replies', 'ops.credits', 'ops.call_rates']::regclass[] loop
        execute format('comment on column %s.tenant_id is %L', t,
                       'Whose row it is; row-level security holds every session to one tenant.');
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        execute format('alter table %s alter column tenant_id set statistics 0', t);
        execute format('create policy tenant on %s using (tenant_id = (select current_setting(''reverie.tenant'', true)))', t);
    end loop;
end
$$;
grant select, insert, update, delete on ops.calls, ops.replies, ops.credits, ops.call_rates to reverie_worker;
