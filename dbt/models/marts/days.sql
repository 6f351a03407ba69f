-- The time spine of the metrics: one row per day, from ten years ago to the end of next year.
select generate_series(
    date_trunc('year', now() - interval '10 years'), date_trunc('year', now() + interval '2 years') - interval '1 day', interval '1 day'
)::date as day
