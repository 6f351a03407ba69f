"""facts: which statements are in force, and the structured facts that they make.

- `stage`: the stage
- `read`: statements of memories, and known structured facts
- `statements`: types of a statement and of a decision
- `decide`: which statements are in force
- `timeline`: the values of one relation, in event order
- `slots`: the topic that a statement belongs to
- `references`: the value that an end refers to without its full name
- `relationships`: statements about people that misread the name of a pet
- `ties`: statements of one relation that end values of another
- `endings`: judged ends: written, and as statements
- `judge`: ends found by Reverie's own judge
- `rests`: whether the rest of a sentence says something by itself
- `kept`: the judge with its stored answers
- `language_model`: ends judged by a language model
- `write`: writes structured facts, validity and conflicts
"""
