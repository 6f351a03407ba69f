"""What memory offers an assistant beside answers (docs/assisting.md).

- `asking`: a message of the person, with what every offer must know before it looks
- `tools`: tools for a message, by their use in like situations and what came of it
- `lessons`: what other sessions taught that bears on a message
- `inbox`: items of an inbox, ranked by what matters to the person
- `states`: the feed of subjects' states
"""
