"""What the kept replies of a tenant's language model teach the reader: of which turns it would read the same.

- `replied`: the kept replies with their turns
- `labels`: what the model claims of a turn beside what is found without it
- `fitting`: the head, a logistic regression
- `curve`: calls saved and agreement, and whether one order of turns is better than another
- `distill`: the operation
"""
