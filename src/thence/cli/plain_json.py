"""What RETURN of SASE+ gives, as plain JSON: numbers are numbers, and not literals with a datatype."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from thence.rdf.terms import XSD, BlankNode, Literal, Term

if TYPE_CHECKING:
    from thence.program.solutions import Cell

_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])0*+([0-9]*+)\.?([0-9]*+)((?:[eE][+-]?[0-9]++)?)")


def json_text(cell: Cell | Mapping[str, Cell] | None) -> str:
    """A cell as JSON. Written by hand, since a decimal of thirty digits must not pass through a float.

    >>> price = Literal("10.50", XSD + "decimal")
    >>> print(json_text(({"symbol": Literal("ACME"), "price": price}, None)))
    [{"symbol": "ACME", "price": 10.50}, null]
    """
    match cell:
        case None:
            return "null"
        case tuple():
            return f"[{', '.join(map(json_text, cell))}]"
        case Mapping():
            pairs = (f"{_quoted(name)}: {json_text(each)}" for name, each in cell.items())
            return f"{{{', '.join(pairs)}}}"
    return _atom(cell)


def plain_text(term: Term) -> str:
    """A term as text, without its type.

    >>> plain_text(Literal("7", XSD + "integer")), plain_text(Literal("ACME"))
    ('7', 'ACME')
    """
    return str(term) if isinstance(term, BlankNode) else term.value


def _atom(term: Term) -> str:
    match term:
        case Literal(datatype=datatype, value=value) if datatype in _NUMBERS:
            return _number(value) or _quoted(value)  # JSON has no NaN, and no infinity
        case Literal(datatype=datatype, value=value) if datatype == XSD + "boolean":
            return "true" if value in ("true", "1") else "false"
    return _quoted(plain_text(term))


def _number(value: str) -> str | None:
    """A number's text as JSON has it: no plus sign, no zeros in front, digits on both sides of a point.

    >>> [_number(text) for text in ("007", "-.5", "+3.", "1E2", "INF")]
    ['7', '-0.5', '3', '1E2', None]
    """
    found = _NUMBER.fullmatch(value.strip())
    if found is None:
        return None
    sign, whole, fraction, exponent = found.groups()
    return f"{sign.strip('+')}{whole or '0'}{fraction and '.' + fraction}{exponent}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
