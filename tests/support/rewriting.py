"""Queries before and after a rule, as text."""

from __future__ import annotations

from thence.algebra.show import show
from thence.algebra.spaseq import SequenceQuery
from thence.engines.automaton.plan.rules import Rule
from thence.lang.spaseq.parser import parse

_HEAD = "PREFIX : <x:> SELECT * WITHIN 9 TICKS {partition} FROM STREAM S <x:s> {{ {body} }}"


def query_of(sequence: str, *, partition: str = "", **gpms: str) -> SequenceQuery:
    """A query with these GPMs, all on one stream."""
    defined = " ".join(f"DEFINE GPM {name} ON S {{ {pattern} }}" for name, pattern in gpms.items())
    return parse(_HEAD.format(partition=partition, body=f"SEQ ({sequence}) {defined}"))


def after(rule: Rule, query: SequenceQuery) -> str:
    """What stands in WHERE once the rule has been applied, on one line."""
    text = show(rule(query))
    return " ".join(text.partition("WHERE {")[2].rpartition("}")[0].split())
