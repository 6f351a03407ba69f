"""Commands that make memory, serve it and look after it."""
