"""The quality of recall, on questions that no judge labelled.

- `ranks`: precision, recall and gain of a ranking; pure
- `question`: a question with the items that it needs
- `references`: messages of a log that refer to something said earlier; pure
- `held_back`: questions made from a tenant's log: references, outcomes, corrections
- `question_file`: labelled questions from a file
- `answering`: many questions asked at once, each as of its own time
- `ablations`: the same questions with parts of memory left out
- `comparing`: paired differences with confidence intervals, and the gate
- `cold_start`: quality by the number of earlier sessions
- `rebuilt`: memory rebuilt from the same log with another policy or model, in a database of its own
"""
