"""Statements as the machine runs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import Plain, Replace, SelectStatement, Since, TefPattern, TefStatement, Until
from thence.kernel.facts.event_nodes import EventNode


class ArmNode(NamedTuple):
    """An arm over events: its node."""

    arm: Plain | Since | Until | Replace
    node: EventNode


@dataclass(slots=True)
class EventStatement:
    """A statement, as far as events complete its arms."""

    number: int  # from 1, of all statements
    statement: TefStatement
    arms: tuple[ArmNode, ...]


@dataclass(slots=True)
class FactSelect:
    """A SELECT over facts: the arms' patterns (TEF-72), and the variables that all of them bind (TEF-69)."""

    number: int
    statement: SelectStatement
    patterns: tuple[TefPattern, ...]
    common: frozenset[Variable]
