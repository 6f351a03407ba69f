"""Drive: what runs the stages, in which order, and for whom."""
