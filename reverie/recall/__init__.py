"""Question to context.

- `recall`: the answer with its reasons; `question`: what is asked besides the words; `search`: the one statement;
  `budget`: what fits; `result`: the values of an answer; `inspect`: what is remembered, and why.
- `context`: what a model is told, of `profile` (`facts`, `relationship`), `recall` or `staged`, and what is `given`;
  `forms` lays it out, `adaptation` and `conversation` are parts of it, `sections` is what fits.
"""
