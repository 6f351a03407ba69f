"""facts: which of the things that were said is in force, and what is known by key.

- `stage`: the stage
- `read`: what memories state
- `statements`: a statement, and what a decision says of it
- `decide`: which statements are in force
- `timeline`: statements of one relation, in event order
- `slots`: which of several a statement is about, by its topic
- `references`: which value an end refers to that does not name it in full
- `relationships`: people who would have the name of a pet
- `ties`: statements of one relation that end values of another
- `endings`: what was judged to have ended, written and read as ends
- `judge`: ends that the judge of Reverie's own finds
- `rests`: whether what is left of a sentence tells something by itself
- `kept`: the judge over what it judged before
- `language_model`: ends that a language model judges
- `write`: what is in force, superseded and in conflict
"""
