-- A document may be hinted to be about now: it is an episode of the origin `working` that ends with working memory.
-- The new check allows more than the old one, so every row passes it, and nobody may expect less.
-- squawk-ignore ban-drop-constraint
alter table log.events drop constraint events_hint_check;
-- squawk-ignore constraint-missing-not-valid
alter table log.events add constraint events_hint_check
    check (hint in ('fact', 'preference', 'instruction', 'episode', 'working'));
comment on column log.events.hint is 'Kind of memory that the caller wants it kept as, or working: about now; null: by rule.';
