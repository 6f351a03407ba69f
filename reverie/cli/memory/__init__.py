"""Commands about what is remembered."""
