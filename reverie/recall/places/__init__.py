"""Which place a candidate takes in the answer: what holds before what it replaced, each thing once, within the budget.

- `read`: what candidates stated once, which questions they answer, which turns are around them
- `replacements`: a correction in the place of the memory that it replaces
- `small_talk`: turns that tell nothing are no answer to a message
- `sensitive`: what is sensitive is not brought up by a message about something else
- `sensitive_items`: what is sensitive by its stored vector
- `general`: classifies requests that general knowledge answers
- `currency`: what holds stands before what it replaced
- `asked`: what states the relation that a question asks for stands first
- `same`: what was said several times, and a memory with its turn, take one place
- `budget`: the best that fit
- `moves`: the words for what a pass did to a hit's place
"""
