"""merge: what was said before in other words becomes one memory."""
