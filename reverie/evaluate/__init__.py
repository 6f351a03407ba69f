"""Measures of memory and recall that need no judge.

- `health`: counts, backlogs and the exactness of recall
- `funnel`: from turns to memories, in counts
- `history`: the time range of a log
- `ranking/`: the weights of recall, fitted on labelled queries
- `worded`: what a language model added
"""
