"""A TEF-SPARQL program about homes, and its namespace."""

from __future__ import annotations

EX = "http://example.org/"


HOMES = """
CONSTRUCT ?person liveIn ?place
  WHERE (SINCE ?person bornIn ?place)
  UNION (REPLACE ?person liveIn ?old ON ?person relocatedTo ?place, ?place != ?old)
  UNION (UNTIL (?person diedIn ?somewhere DURING ?person liveIn ?place))
"""
