"""Reverie."""
