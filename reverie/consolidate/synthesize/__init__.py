"""synthesize: observations become a profile.

- `stage`: the stage
- `decide`: what observations state, by rule and in a language model's reply
- `write`: entries, narratives and facts, written with the marks of what is done
"""
