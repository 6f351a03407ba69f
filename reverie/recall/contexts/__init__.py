"""Contexts: what a model is told about a subject, laid out within a budget."""
