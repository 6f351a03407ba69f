"""Judge-free measures of memory and recall.

- `health`: how much there is of everything, what waits and for how long, and whether recall is exact.
"""
