"""Which variables a pattern can bind (SPARQL 1.1, 18.2.1), which it always binds, and which an expression names."""

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
    ChainOperator,
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
from thence.rdf.terms import IRI, BlankNode, Literal


def in_scope(pattern: Pattern) -> tuple[Variable, ...]:
    """The pattern's variables in the order of its text, each once; not those of FILTER and of MINUS's right side.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> print(*in_scope(parse_pattern("{ ?a <x:p> [] MINUS { ?b <x:q> ?a } BIND(1 AS ?c) FILTER(?d) }")))
    ?a ?c
    """
    return tuple(dict.fromkeys(_in_scope(pattern)))


def columns(select: Select) -> tuple[Variable, ...]:
    """The columns of SELECT, in order; `*` is every variable in scope."""
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
    """Whether an aggregate is in the expression, so that it is about a group and not about one solution."""
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
    """The sources of a pattern's variables: those it binds itself, and the patterns below it that pass theirs on."""
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


# Guarantees about a pattern's solutions: which variables are always bound, and whether solutions never repeat.


def always_bound(pattern: Pattern) -> frozenset[Variable]:
    """The variables that no solution leaves unbound; not those of BIND, whose expression may fail.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> pattern = parse_pattern("{ ?a <x:p> ?b OPTIONAL { ?b <x:q> ?c } VALUES (?d ?e) { (1 2) (3 UNDEF) } }")
    >>> sorted(str(variable) for variable in always_bound(pattern))
    ['?a', '?b', '?d']
    """
    match pattern:
        case Bgp():
            return frozenset(in_scope(pattern))
        case Join():
            return always_bound(pattern.left) | always_bound(pattern.right)
        case LeftJoin() | Minus():
            return always_bound(pattern.left)
        case TemporalJoin(operator):
            sides = (always_bound(pattern.left), always_bound(pattern.right))
            if operator is ChainOperator.OPTIONALSEQ:
                return sides[1]
            return sides[0] if operator is ChainOperator.EQUALSOPTIONAL else sides[0] | sides[1]
        case Union():
            return always_bound(pattern.left) & always_bound(pattern.right)
        case Filter() | Extend() | WindowPattern():
            return always_bound(pattern.pattern)
        case MatchPattern():
            return frozenset()  # what its EVENTs bind is known to the query alone
        case Graph():
            return always_bound(pattern.pattern) | ({pattern.name} if isinstance(pattern.name, Variable) else set())
        case Values():
            columns_of_values = zip(pattern.variables, zip(*pattern.rows, strict=True), strict=bool(pattern.rows))
            return frozenset(variable for variable, terms in columns_of_values if None not in terms)
        case SubSelect():
            return always_bound(pattern.select.where).intersection(columns(pattern.select))
        case _:
            assert_never(pattern)


def never_repeats(pattern: Pattern) -> bool:
    """Whether solutions are distinct: each shows everything that it depends on.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> never_repeats(parse_pattern("{ ?a <x:p> ?b FILTER(?b > 1) }")), never_repeats(parse_pattern("{ [] <x:p> ?b }"))
    (True, False)
    """
    match pattern:
        case Bgp():
            return not any(
                isinstance(triple, PathPattern)
                or any(isinstance(slot, BlankNode) for slot in (triple.subject, triple.predicate, triple.object))
                for triple in pattern.triples
            )
        case Filter() | Extend():
            return never_repeats(pattern.pattern)
        case _:
            return False
