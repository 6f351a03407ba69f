"""link: memories and the entities that they name."""
