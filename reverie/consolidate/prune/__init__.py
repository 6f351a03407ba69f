"""prune: what is due is forgotten."""
