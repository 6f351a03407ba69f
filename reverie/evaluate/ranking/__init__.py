"""The weights of recall: fitted on labelled queries, and adopted only where held-out folds do not get worse.

- `sets`: public labelled sets in a data folder, as turns and queries
- `recall_log`: labelled queries of a tenant's own recalls and outcomes
- `scratch`: a database of its own for labelled sets
- `examples`: the candidates of each query with their signals, by the statement that recall sends
- `weights`: from examples to weights, and how well weights rank; no database
- `fitting`: cross-validation, what is adopted, and a policy file of it
"""
