-- Which reader read a turn: a memory can be traced to the version of the model that read it.
alter table memory.extractions add column reader text;
comment on column memory.extractions.reader is 'Name and version of our reader that read it; null: no reader did, or one before versions were kept.';

-- data teams compare what versions of the reader find
grant select (reader) on memory.extractions to reverie_analyst;
