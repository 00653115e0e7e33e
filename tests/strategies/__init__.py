"""Hypothesis strategies for whatever tests make up: terms, graphs and events, expressions, patterns."""

from __future__ import annotations

from hypothesis import settings


def examples(times: float) -> settings:
    """So many times the cases that the profile gives to any property."""
    return settings(max_examples=max(1, int(settings.default.max_examples * times)))
