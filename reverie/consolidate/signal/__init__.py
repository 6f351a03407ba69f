"""signal: moods of all messages, figures of each subject's days, life events, and what follows from them.

- `stage`: the stage
- `read`: days that wait, their messages without a mood, and the histories of subjects
- `history`: the types of these
- `moods`: the chain of moods over messages of the log
- `decide`: everything that follows from a subject's history
- `periods`: difficult periods
- `hours`: the hours in which a subject usually writes
- `acquaintance`: stages of the relationship, the tie and its parts
- `events`: life events, read from messages, written and settled
- `alerts`: triggers, when they are due, and which are withheld
- `numbers`: numbers of messages and outcomes
- `trends`: which series of numbers rise or fall, and when that changes
- `rank_tests`: tests for a trend, its slope, and the correction for many series
- `talk`: possible topics of messages, as rows
- `talk_changes`: topics that come up more or less often than before
- `share_tests`: tests for a change of a share
- `insights`: memories of trends and of changes of topics
- `wording`: memories of difficult periods and usual hours
- `write`: writes the rows of all these
"""
