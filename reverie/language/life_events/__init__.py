"""Life events: what happened to somebody or will happen, in sentences, with the day that they name.

- `mentions`: finds the sentences of a message that tell of an event, and its day
- `worth`: how likely such a sentence tells an event of somebody's life, and no passing remark
- `settling`: which mentions tell the same event, and which plans were moved or cancelled
- `days`: days in words, for people and models
"""
