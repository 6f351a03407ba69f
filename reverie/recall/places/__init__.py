"""The places of candidates in the answer: current before replaced, each thing once, within the budget.

- `read`: reads candidates' former statements, the questions they answer, and the turns around them
- `replacements`: puts a correction in the place of the memory that it replaces
- `small_talk`: drops turns that tell nothing from the answer to a message
- `sensitive`: drops sensitive candidates unless the message is about their class
- `sensitive_items`: reads which items are sensitive by their stored vectors
- `general`: classifies requests that general knowledge answers
- `currency`: puts statements in force before those that they replaced
- `asked`: puts hits that state the relation asked for first
- `same`: gives repeats, and a memory with its turn, one place
- `budget`: the best that fit
- `moves`: the words for what a pass did to a hit's place
"""
