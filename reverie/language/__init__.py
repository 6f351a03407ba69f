"""Analysis of texts by rules, without a model.

- `text`: cleaning, sentences and chunks
- `cues/`: finds what a text says: statements by rules, sentences worth keeping, entities, mood, signs of a crisis
- `statements/`: the statement of a clause that a rule matches, as data and as a sentence
- `english/`: the English language pack: relations, patterns, and the words for wording statements as sentences
- `standalone`: finds the sentences that can be read alone
- `stemming`: stems of words
- `contradiction`: whether two similar texts contradict each other
- `contradiction_words`: word lists of `contradiction`
- `languages`: detects the language of a message
- `times`: times that a clause names, as days
- `periods`: weeks, months, seasons and holidays as days
- `clock`: times of day
- `life_events/`: finds sentences that tell an event of somebody's life, with its day
- `expiry`: finds when plans and states end, by the time that they name
- `sensitive/`: finds sensitive content by class, and removes secrets from texts
- `fact_keys`: reads a memory as a structured fact, and a text as a statement of a relation
- `pack`: reads the tables of the language pack
- `objects`: whether the objects of two statements are the same
- `topics`: identifies the thing that a topic or an object refers to
- `measures`: finds the numbers that a text reports, with their topics
- `talk_words`: finds the words of a message that may be its topic
- `subject`: words a statement as a sentence about its speaker
- `parts`: splits a sentence into parts that can become untrue one by one
- `grounding`: whether generated text is supported by its sources
- `headings`: the words that may become keys of a profile
"""
