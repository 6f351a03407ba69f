"""What a text says, by rule: no model, the same answer from both engines.

`compiled` is a policy's rule table for Python's re and polars, `wording` what turns a
clause into a memory's words. `one` reads one turn, `frame` a batch; `noticed` is all that one turn gives. `speech`
tells what sort of utterance a turn is, `entities` whom and what it names, `quantities` its numbers, `salience` how much
it stands out.
"""

from reverie.language.cues.compiled import Rules
from reverie.language.cues.frame import extract_frame
from reverie.language.cues.one import Hit, extract_one

__all__ = ["Hit", "Rules", "extract_frame", "extract_one"]
