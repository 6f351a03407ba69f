"""facts: what is known by key."""
