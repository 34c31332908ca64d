"""Searches for input that breaks things, longer than tests may take."""
