-- name: by_key
-- Until the transaction ends, a row that a statement names by its key is one probe of an index. No statistics tell how large a
-- tenant is, and the planner would rather read all of its rows than probe for a hundred. What is changed by key is read by it
-- first (`offset 0`): to read that anew for every row of the tenant is what the planner then shuns.
select set_config('enable_nestloop', 'on', true), set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true), set_config('enable_memoize', 'off', true),
       set_config('enable_material', 'off', true)

-- name: by_group
-- Until then, rows are matched group by group: the planner expects a handful and would compare each with every other.
select set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'on', true)
