"""Analysis of texts by rules, without a model.

- `text`: cleaning, sentences and chunks
- `cues/`: what a text says: rules, sentences worth keeping, entities, mood, signs of a crisis
- `statements/`: what a clause that a rule matches says, as data and as a sentence
- `english/`: the English language pack: relations, patterns, and the words by which statements are put into sentences
- `standalone`: finds the sentences that can be read alone
- `contradiction`: whether two similar texts contradict each other
- `contradiction_words`: word lists of `contradiction`
- `languages`: in which language a message is written
- `times`: times that a clause names, as days
- `clock`: times of day
- `life_events/`: sentences that tell an event of somebody's life, with its day
- `expiry`: when plans and states end by the time that they name
- `sensitive/`: what is sensitive, by class, and secrets taken out of texts
- `fact_keys`: reads a memory as a structured fact, and a text as a statement of a relation
- `pack`: reads the tables of the language pack
- `objects`: whether the objects of two statements are the same
- `topics`: which thing a topic or an object refers to
- `measures`: finds the numbers that a text reports, and of what they are
- `talk_words`: the words of a message that may be what it is about
- `subject`: a statement as a sentence about its speaker
- `parts`: the parts of a sentence that can become untrue one by one
- `grounding`: whether generated text is supported by its sources
- `headings`: the words that may become keys of a profile
"""
