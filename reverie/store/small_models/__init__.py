"""What is kept of small models of Reverie's own.

- `answers`: what the reader and the judge gave for turns
- `reader_heads`: what a tenant's language model taught the reader
"""
