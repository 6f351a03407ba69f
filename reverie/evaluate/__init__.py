"""Measures of memory and recall that need no judge.

- `health`: counts, backlogs and the exactness of recall
- `funnel`: counts on the way from turns to memories
- `evaluation`: every measure of one tenant
- `against`: the same questions under another policy or model
- `rehearsal`: a run over a copy of the tenant, to show its effect
- `results`: past evaluations in the database
- `report`: an evaluation as an HTML page
- `retrieval/`: the quality of recall on questions
- `conduct/`: how memory performs in use
- `growth`: the figures of today and of earlier days
- `history`: how far a log has been read, by month and bucket
- `ranking/`: the weights of recall, fitted on labelled queries
- `simulation/`: a simulated year, and how much of it a policy keeps
- `distill/`: training the reader's confidence on kept replies of a language model
- `lines`: files of JSON lines
- `worded`: the share of a language model in memory
"""
