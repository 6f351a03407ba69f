"""Which place a candidate takes in the answer: what holds before what it replaced, each thing once, within the budget.

- `read`: what candidates stated once, which questions they answer, which turns are around them
- `replacements`: what a person wrote in place of a memory
- `currency`: what holds stands before what it replaced
- `same`: what was said several times, and a memory with its turn, take one place
- `budget`: the best that fit
"""
