"""What a text says, by rule: no model, and the same answer for one turn as for a batch.

- `compiled`: a policy's rule table for Python's re and polars
- `single`: the rules over one turn
- `frame`: the rules over a batch of turns
- `immediate`: the candidates of one turn
- `wording`: a clause as the words of a memory
- `speech`: what sort of utterance a turn is
- `attribution`: words that are not the author's own
- `quotation`: where quotation marks open and close
- `transcript`: lines of a pasted conversation
- `entities`: people, pets, places and things named
- `quantities`: numbers with what they count
- `salience`: how much a text stands out
- `routing`: the kind of memory that a piece of a document becomes
- `summarise`: a session in its own sentences
- `mood`: the mood of a message
- `crisis`: signs of a crisis
- `linear`: linear classifiers over a text's vector
"""

from reverie.language.cues.compiled import Rules
from reverie.language.cues.frame import extract_frame
from reverie.language.cues.single import RuleMatch, extract_one

__all__ = ["RuleMatch", "Rules", "extract_frame", "extract_one"]
