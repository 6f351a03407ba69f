"""Question to context.

- `recall`: the answer with its reasons; `question`: what is asked besides the words; `search`: the one statement;
  `budget`: what fits; `result`: the values of an answer; `inspect`: what is remembered, and why.
"""
