"""What is sensitive in a text: its classes, and the secrets in it.

- `classes`: what is sensitive, by class, and secrets taken out of texts; rules
- `secrets`: secrets that no word gives away, by their shape and what stands round them; learned
- `secret_words`: those of letters alone, by their words; learned
- `vectors`: what is sensitive by the vector of a text; learned
"""
