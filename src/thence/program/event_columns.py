"""Columns of extracted typed events, and slots that hold their values: variables that no query's text can name, told
apart by their classes."""

from __future__ import annotations

from dataclasses import dataclass

from thence.algebra.expressions import Variable
from thence.algebra.sase import Key, Name
from thence.algebra.show_sase import key_text


@dataclass(frozen=True, slots=True)
class AttributeVariable(Variable):
    """The column of an attribute, and the slot of a frame in which tests find that of the event beside a run."""

    attribute: Name


@dataclass(frozen=True, slots=True)
class EventVariable(Variable):
    """An attribute of an event that is tested alone."""

    attribute: Name


@dataclass(frozen=True, slots=True)
class KeyVariable(Variable):
    """The column of a key as equality compares it, and a run's slot for it."""

    key: Key


def attribute(name: Name) -> AttributeVariable:
    return AttributeVariable(str(name), name)


def of_event(name: Name) -> EventVariable:
    return EventVariable(str(name), name)


def as_compared(key: Key) -> KeyVariable:
    return KeyVariable(key_text(key), key)
