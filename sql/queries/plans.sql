-- name: by_key
-- Until the transaction ends, look up a row that a statement names by its key with one probe of an index. No statistics tell
-- how large a tenant is, and the planner would rather read all of its rows than probe for a hundred. Rows to change by key
-- are read first (`offset 0`): the planner avoids reading that again for every row of the tenant.
select set_config('enable_nestloop', 'on', true), set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true), set_config('enable_memoize', 'off', true),
       set_config('enable_material', 'off', true)

-- name: by_group
-- Until the transaction ends, match rows group by group: the planner expects few, and would compare each with every other.
select set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'on', true)
