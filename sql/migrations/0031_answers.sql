-- What small models of our own gave for turns: a rebuild does not ask them again.

create table ops.answers (
    tenant_id text not null,
    turn_id uuid not null,
    asked text not null check (asked in ('reader', 'judge')),
    model text not null,
    shown bytea not null,
    answer text not null,
    primary key (tenant_id, turn_id, asked)
);
comment on table ops.answers is 'What the reader and the judge gave for turns, kept so that a rebuild asks neither again; the last answer of each.';
comment on column ops.answers.turn_id is 'The turn whose message it was, in log.turns.';
comment on column ops.answers.asked is 'Who was asked: reader or judge.';
comment on column ops.answers.model is 'Version of the model and of the code around it; an answer of another version is not used.';
comment on column ops.answers.shown is 'Hash of the message and of what it was shown with; the answer to other texts is not used.';
comment on column ops.answers.answer is 'As JSON. Of the reader: its statements as places in the text. Of the judge: chances of ends by hashes of statements.';
