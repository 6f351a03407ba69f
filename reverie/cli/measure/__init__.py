"""Commands that measure memory.

- `evaluate`: how well memory serves, by questions made from the log
- `evaluate_summary`: what `reverie evaluate` prints
- `simulate`: a simulated year under a policy
- `fit_ranking`: fits the weights of recall
- `check`: the quality gates
- `report`: the marts as a page of plots
"""
