"""synthesize: observations become a profile."""
