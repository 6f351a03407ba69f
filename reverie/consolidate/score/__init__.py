"""score: importance from novelty, recalls and outcomes."""
