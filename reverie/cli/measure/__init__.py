"""Commands that measure memory.

- `evaluate`: measures how well memory serves, by questions made from the log
- `evaluate_summary`: prints the summary of `reverie evaluate`
- `simulate`: simulates a year under a policy
- `fit_ranking`: fits the weights of recall
- `check`: runs the quality gates
- `report`: writes the marts as a page of plots
"""
