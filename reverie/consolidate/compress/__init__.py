"""compress: episodes become patterns, sessions become summaries."""
