"""Turns that are recalled before they are searchable: on their way to the log, or not yet embedded.

- `arm`: the arm by which they join a recall
- `read`: the statement that reads them, sent with the search
- `weigh`: their signals and scores, on the scale of the search; pure
"""
