"""synthesize: observations become a profile.

- `stage`: the stage
- `observations`: observations that wait for a profile, and the stored profile
- `rules`: entries that rules take from observations
- `reply_reader`: entries and facts from a language model's reply, as far as the observations support them
- `decide`: the update of one subject's profile
- `language_model`: the prompt, its input and the check of a reply
- `read`: observations and stored profiles, from Postgres
- `write`: entries, narratives, facts, and the marks of included observations
"""
