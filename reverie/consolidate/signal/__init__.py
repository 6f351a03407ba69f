"""signal: moods of all messages, figures of each subject's days, life events, and what follows from them.

- `stage`: the stage
- `read`: days that wait, their messages without a mood, and the histories of subjects
- `history`: types of these
- `moods`: the chain of moods over messages of the log
- `decide`: everything that follows from a subject's history
- `periods`: difficult periods
- `hours`: the hours in which a subject usually writes
- `acquaintance`: stages of the relationship, the tie and its parts
- `events`: life events: read from messages, written and settled
- `alerts`: triggers: when they are due, and which are withheld
- `numbers`: numbers of messages and outcomes
- `trends`: which series of numbers rise or fall, and when that changes
- `rank_tests`: tests for a trend, its slope, and the correction for many series
- `talk`: what messages may be about, as rows
- `talk_changes`: what a subject talks about more or less than before
- `share_tests`: tests for a change of a share
- `insights`: memories of trends, and of what is talked about more or less
- `wording`: memories of difficult periods and usual hours
- `write`: rows of all of these
"""
