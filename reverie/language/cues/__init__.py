"""Cues: what rules find in a text, without a model. One turn gives the same result alone as in a batch.

- `compiled`: a policy's rule table, compiled for Python's re and for polars
- `single`: applies the rules to one turn
- `frame`: applies the rules to a batch of turns
- `immediate`: finds the candidates of one turn
- `wording`: rewrites a clause as the text of a memory
- `speech`: classifies turns: low content, question, event
- `attribution`: finds words that are not the author's own
- `quotation`: finds where quotations begin and end
- `transcript`: finds lines of a pasted conversation
- `entities`: finds named people, pets, places and things
- `quantities`: finds numbers with their units
- `salience`: measures how much a text stands out
- `routing`: chooses the kind of memory for a chunk of a document
- `summarise`: writes extractive summaries of sessions
- `mood`: classifies the mood of a message
- `crisis`: detects signs of a crisis
- `telling`: finds sentences in which authors tell something about themselves
- `worth`: classifies whether such a sentence is worth keeping
- `keeping`: chooses the parts of a turn that are kept verbatim
- `linear`: linear classifiers over embedding vectors
"""
