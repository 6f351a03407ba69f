"""Life events: sentences about something that happened or will happen to somebody, with the day that they name.

- `mentions`: finds the sentences of a message that tell of an event, and its day
- `worth`: estimates how likely such a sentence tells an event of somebody's life rather than a passing remark
- `settling`: finds mentions of the same event, and plans that were moved or cancelled
- `days`: writes days in words, for people and models
"""
