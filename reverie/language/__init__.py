"""Language: what texts say, by rule and without a model.

- `text`: cleaning, sentences and chunks
- `cues/`: what one text says: its kind, memories, entities, mood, signs of a crisis
- `contradiction`: whether two similar texts contradict each other
- `contradiction_words`: the word lists of that
- `fact_keys`: a memory as a key with a value
- `grounding`: whether generated text stands on its sources
- `headings`: which words may become keys of a profile
"""
