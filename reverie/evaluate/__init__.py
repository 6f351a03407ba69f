"""Measures of memory and recall that need no judge.

- `health`: counts, backlogs and the exactness of recall
- `funnel`: from turns to memories, in counts
- `growth`: the figures of today and of any day before
- `history`: how far a log is read, by month and bucket
- `ranking/`: the weights of recall, fitted on labelled queries
- `worded`: what a language model added
"""
