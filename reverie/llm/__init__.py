"""Calls of language models: cached, priced and metered."""
