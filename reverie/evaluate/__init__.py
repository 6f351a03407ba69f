"""Measures of memory and recall that need no judge.

- `health`: counts, backlogs and the exactness of recall
- `funnel`: from turns to memories, in counts
- `evaluation`: every measure of one tenant
- `against`: the same questions under another policy or model
- `rehearsal`: a run over a copy of the tenant, to say what it would do
- `results`: what was measured, kept in the database
- `report`: an evaluation as an HTML page
- `retrieval/`: how well recall finds what a question needs
- `conduct/`: how memory does in use
- `growth`: the figures of today and of any day before
- `history`: how far a log is read, by month and bucket
- `ranking/`: the weights of recall, fitted on labelled queries
- `simulation/`: a simulated year, and what a policy keeps of it
- `distill/`: what the kept replies of a language model teach the reader
- `lines`: files of JSON lines
- `worded`: what a language model added
"""
