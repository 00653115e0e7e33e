"""Which variables a pattern can give a value to (SPARQL 1.1, 18.2.1), and which an expression names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from thence.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Exists,
    Expression,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
    Variable,
)
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
    PatternTerm,
    Select,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
)
from thence.rdf.terms import IRI, Literal


def in_scope(pattern: Pattern) -> tuple[Variable, ...]:
    """The pattern's variables in the order of its text, each once; not those of FILTER and of MINUS's right side.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> print(*in_scope(parse_pattern("{ ?a <x:p> [] MINUS { ?b <x:q> ?a } BIND(1 AS ?c) FILTER(?d) }")))
    ?a ?c
    """
    return tuple(dict.fromkeys(_in_scope(pattern)))


def columns(select: Select) -> tuple[Variable, ...]:
    """What SELECT gives, in order; `*` is every variable in scope."""
    if select.columns is not None:
        return tuple(column.variable for column in select.columns)
    values = select.modifiers.values
    return tuple(dict.fromkeys((*_in_scope(select.where), *(values.variables if values else ()))))


def mentioned(expression: Expression) -> frozenset[Variable]:
    """The variables that an expression names itself; the pattern of an EXISTS is a world of its own.

    >>> from thence.lang.sparql.parser import parse_expression
    >>> sorted(str(v) for v in mentioned(parse_expression("?a + ?b > 1 && EXISTS { ?c ?d ?e }")))
    ['?a', '?b']
    """
    return frozenset(part for part in parts(expression) if isinstance(part, Variable))


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly below this one, in the order of the text."""
    match expression:
        case Compare() | Arithmetic() | And() | Or():
            return (expression.left, expression.right)
        case Negate() | Plus() | Not():
            return (expression.operand,)
        case In():
            return (expression.operand, *expression.choices)
        case Bound():
            return (expression.variable,)
        case If():
            return (expression.condition, expression.then, expression.otherwise)
        case Coalesce():
            return expression.choices
        case Call() | Cast():
            return expression.arguments
        case Aggregate():
            return () if expression.operand is None else (expression.operand,)
        case Variable() | IRI() | Literal() | Exists():
            return ()
        case _:
            assert_never(expression)


def has_aggregate(expression: Expression) -> bool:
    """Whether an aggregate stands in the expression, so that it is about a group and not about one solution."""
    return any(isinstance(part, Aggregate) for part in parts(expression))


def parts(expression: Expression, *, into_aggregates: bool = True) -> Iterator[Expression]:
    """The expression and all below it, in no particular order, without recursion."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if into_aggregates or not isinstance(part, Aggregate):
            waiting.extend(operands(part))


def _in_scope(pattern: Pattern) -> Iterator[Variable]:
    """Without recursion, since a pattern is asked before its depth is known to be within the limit."""
    waiting: list[Pattern | Variable] = [pattern]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Variable):
            yield found
        else:
            waiting.extend(reversed(_giving(found)))


def _giving(pattern: Pattern) -> Sequence[Pattern | Variable]:
    """What gives a pattern its variables: those it binds itself and the patterns below it that pass theirs on."""
    match pattern:
        case Bgp():
            return [slot for triple in pattern.triples for slot in _slots(triple) if isinstance(slot, Variable)]
        case Join() | LeftJoin() | Union() | TemporalJoin():
            return (pattern.left, pattern.right)
        case Minus():
            return (pattern.left,)
        case Filter() | WindowPattern():
            return (pattern.pattern,)
        case MatchPattern():
            return pattern.variables
        case Graph():
            return (pattern.name, pattern.pattern) if isinstance(pattern.name, Variable) else (pattern.pattern,)
        case Extend():
            return (pattern.pattern, pattern.variable)
        case Values():
            return pattern.variables
        case SubSelect():
            return columns(pattern.select)
        case _:
            assert_never(pattern)


def _slots(triple: TriplePattern | PathPattern) -> tuple[PatternTerm, ...]:
    if isinstance(triple, TriplePattern):
        return (triple.subject, triple.predicate, triple.object)
    return (triple.subject, triple.object)
