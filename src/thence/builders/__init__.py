"""Queries built in Python, for those who would rather not write a text."""
