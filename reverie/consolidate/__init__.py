"""Log to memory: the stages, each `stage(store, *, scope, policy, as_of, ...) -> Report`.

In order: `extract` (turns to candidates), `embed` (vectors and terms), `merge` (candidates into memories), `link`
(entities), `structure` (facts by key), `compress` (episodes to patterns, sessions to summaries), `score` (importance),
`prune`, `decay`. Before them `flush` (turns that came live into the log), between them `correct` (what a person said is
wrong), each where there is something to do.
`cycle` runs them in event time, `tenants` for one tenant after the other; `fading` is the closed form they share.
A stage reads (SQL), decides (a pure function) and writes (SQL, with its ledger row in the same transaction).
"""
