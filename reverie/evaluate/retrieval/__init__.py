"""How well recall finds what a question needs, on questions that no judge labelled.

- `ranks`: precision, recall and gain of a ranking; pure
- `question`: a question with what it needs
- `references`: messages of a log that refer to something said earlier; pure
- `held_back`: questions made from a tenant's log: references, outcomes, corrections
- `question_file`: labelled questions of a file
- `answering`: asks many questions at once, as of their own times
- `ablations`: the same questions with parts of memory left out
- `comparing`: paired differences with confidence intervals, and the gate
- `cold_start`: quality by how many sessions came before
- `rebuilt`: the same log, built by another policy or model in a database of its own
"""
