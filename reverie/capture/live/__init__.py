"""Live: turns and observations as they come, the working memory of their sessions, and their way to the log."""
