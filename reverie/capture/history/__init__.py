"""History: files and exports into the log; what cannot go in becomes a dead letter."""
