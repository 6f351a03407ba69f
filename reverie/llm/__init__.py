"""Calls of language models: cached, priced and metered.

- `calls`: a question asked once, at a shared pace, within the credit
- `metering`: money reserved before a call and settled after it
"""
