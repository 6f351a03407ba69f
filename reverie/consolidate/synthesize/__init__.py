"""synthesize: observations become a profile.

- `stage`: the stage
- `observations`: observations, and the stored profile that they update
- `rules`: entries that rules take from observations
- `reply_reader`: entries and facts that a language model's reply states, as far as the observations support them
- `decide`: the update of one subject's profile
- `language_model`: the prompt, its inputs and the check of a reply
- `read`: observations and stored profiles, from Postgres
- `write`: entries, narratives, facts, and the marks of what is done
"""
