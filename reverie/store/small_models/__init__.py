"""The stored answers and heads of Reverie's own small models.

- `answers`: answers of the reader and the judge for turns
- `reader_heads`: heads of the reader, trained on replies of a tenant's language model
"""
