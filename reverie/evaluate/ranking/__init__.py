"""The weights of recall: fitted on labelled queries, and adopted only if held-out folds do not get worse.

- `sets`: public labelled sets in a data folder, as turns and queries
- `recall_log`: labelled queries from a tenant's own recalls and outcomes
- `scratch`: a database of its own for labelled sets
- `examples`: the candidates of each query with their signals, by recall's own statement
- `weights`: weights fitted on examples, and the quality of their ranking; no database
- `fitting`: cross-validation, the decision to adopt, and the policy file
"""
