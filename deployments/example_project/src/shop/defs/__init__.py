"""The project's definitions and components."""
