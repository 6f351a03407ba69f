"""Training on kept replies of a tenant's language model: the reader learns when the model would read the same.

- `replied`: the kept replies with their turns
- `labels`: claims of the model about a turn, next to the statements found without it
- `fitting`: the head, a logistic regression
- `curve`: calls saved and agreement, and whether one order of turns is better than another
- `distill`: the operation
"""
