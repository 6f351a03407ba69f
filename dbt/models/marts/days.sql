-- The time spine of the metrics: a row a day, from ten years ago to the end of the next one.
select generate_series(
    date_trunc('year', now() - interval '10 years'), date_trunc('year', now() + interval '2 years') - interval '1 day', interval '1 day'
)::date as day
