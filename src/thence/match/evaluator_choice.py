"""Which evaluator a pattern takes: columns for what streams use, event by event for the rest of SPARQL."""

from __future__ import annotations

from thence.algebra.expressions import Aggregate, Call, Exists, Expression
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    PathPattern,
    Pattern,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.variables import operands

_DIFFERENT_EACH_TIME = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})


def reason_for_plain(pattern: Pattern) -> str | None:
    """Why a pattern must be evaluated event by event; None if it runs vectorised.

    >>> from thence.algebra.patterns import Bgp, OneOrMore, PathPattern
    >>> from thence.algebra.expressions import Variable
    >>> from thence.rdf.terms import IRI
    >>> path = OneOrMore(IRI("http://example.org/feeds"))
    >>> reason_for_plain(Bgp((PathPattern(Variable("a"), path, Variable("b")),)))
    'a property path'
    """
    match pattern:
        case Bgp():
            return "a property path" if any(isinstance(t, PathPattern) for t in pattern.triples) else None
        case Values():
            return None
        case SubSelect():
            return "a sub-select"
        case WindowPattern():
            return reason_for_plain(pattern.pattern)
        case MatchPattern():
            return None
        case TemporalJoin():
            raise AssertionError("one graph has no time")
        case Join() | Union() | Minus():
            return reason_for_plain(pattern.left) or reason_for_plain(pattern.right)
        case LeftJoin():
            found = reason_for_plain(pattern.left) or reason_for_plain(pattern.right)
            return found or (pattern.condition and reason_in_expression(pattern.condition)) or None
        case Filter():
            return reason_for_plain(pattern.pattern) or reason_in_expression(pattern.condition)
        case Extend():
            return reason_for_plain(pattern.pattern) or reason_in_expression(pattern.expression)
        case Graph():
            return reason_for_plain(pattern.pattern)


def reason_in_expression(expression: Expression) -> str | None:
    """Why an expression is evaluated row by row; None: it is not."""
    match expression:
        case Exists():
            return "EXISTS"
        case Aggregate():
            return "an aggregate"
        case Call() if expression.function in _DIFFERENT_EACH_TIME:
            return f"{expression.function}(), which differs from row to row"
        case _:
            return next((reason for part in operands(expression) if (reason := reason_in_expression(part))), None)
