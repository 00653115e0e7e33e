"""Terms in the head of a saved state."""

from __future__ import annotations

import contextlib

from thence.columns.dictionary import from_text
from thence.kernel.array_checks import require
from thence.rdf.terms import Term


def saved_term(text: object) -> Term:
    """A term of a snapshot. InputError if it cannot be one."""
    require(is_text(text) and bool(text), "a term is none")
    found: Term | None = None
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, IndexError):
        found = from_text(str(text))
    require(found is not None, "a term is none")
    assert found is not None
    return found


def is_text(found: object) -> bool:
    """Whether it is a text that can be written: one half of a pair of surrogates cannot."""
    return isinstance(found, str) and not any("\ud800" <= each <= "\udfff" for each in found)
