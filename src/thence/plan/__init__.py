"""Algebra → program."""
