"""Analysis of texts by rules, without a model.

- `text`: cleaning, sentences and chunks
- `cues/`: what a text says: statements, entities, mood, signs of a crisis
- `contradiction`: whether two similar texts contradict each other
- `contradiction_words`: word lists of `contradiction`
- `expiry`: when plans and states end by the time that they name
- `fact_keys`: reads a memory as a structured fact, a key with a value
- `grounding`: whether generated text is supported by its sources
- `headings`: the words that may become keys of a profile
"""
