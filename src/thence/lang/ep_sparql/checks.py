"""What makes an EP-SPARQL file mean nothing, and what is legal but hardly meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from thence.algebra.ep_sparql import Statement
from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Construct,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TemporalJoin,
    TemporalOperator,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import has_aggregate, in_scope, mentioned, parts
from thence.hints import closest
from thence.lang.ep_sparql.draft import Draft, DraftStatement
from thence.rdf.times import Domain


def time_kind(draft: Draft) -> tuple[Domain, str] | None:
    """The kind of time that the file's comparisons demand. It is an error if they demand both."""
    if not draft.demands:
        return None
    first = draft.demands[0]
    other = next((demand for demand in draft.demands if demand.domain is not first.domain), None)
    if other is not None:
        needs = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}
        reason = (
            f"{other.words} needs times that are {needs[other.domain]}, and {first.words} at {draft.line(first.at)}"
            f" needs {needs[first.domain]}."
        )
        cure = "numbers in both" if first.domain is Domain.TICKS else "durations or dates in both"
        raise draft.error(reason, other.at, hint=cure)
    return first.domain, first.words


def warnings(draft: Draft) -> Iterator[str]:
    """What is legal, but hardly meant, each as a sentence with its place."""
    yield from draft.cautions
    for each in draft.statements:
        statement = each.statement
        if isinstance(statement, Select) and not reads_stream(statement.where):
            reason = "This SELECT emits no row: no solution of its pattern has a time of the stream."
            yield str(draft.error(reason, each.at, hint="a mandatory pattern outside GRAPH"))
        yield from _unbound(draft, each)
        yield from _filters(draft, each)
        yield from _running(draft, each)


def reads_stream(pattern: Pattern) -> bool:
    """Whether a solution can have a time (EP-38): some part that is always there is matched by the stream."""
    match pattern:
        case Bgp():
            return bool(pattern.triples)
        case Join() | Union():
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case LeftJoin() | Minus():
            return reads_stream(pattern.left)  # what is timeless joins only timeless optional parts (EP-24)
        case TemporalJoin(TemporalOperator.SEQ):
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case TemporalJoin(TemporalOperator.EQUALS):
            return reads_stream(pattern.left) and reads_stream(pattern.right)  # EP-36
        case TemporalJoin(TemporalOperator.OPTIONALSEQ):
            return reads_stream(pattern.right)  # EP-25
        case TemporalJoin():
            return reads_stream(pattern.left)
        case Filter() | Extend():
            return reads_stream(pattern.pattern)
        case SubSelect():
            return reads_stream(pattern.select.where)
        case Graph() | Values():
            return False
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _unbound(draft: Draft, each: DraftStatement) -> Iterator[str]:
    """Variables that SELECT or a template names, and nothing binds."""
    statement, values = each.statement, each.statement.modifiers.values
    bound = {*in_scope(statement.where), *(values.variables if values else ())}
    bound.update(key.variable for key in statement.modifiers.group or () if key.variable is not None)
    named: dict[Variable, str] = {}
    match statement:
        case Select():
            for column in statement.columns or ():
                used = {column.variable} if column.expression is None else mentioned(column.expression)
                named |= dict.fromkeys(sorted(used - bound, key=str), "SELECT names {}, which nothing binds.")
                if column.expression is not None:
                    bound.add(column.variable)
        case Construct():
            slots = (
                slot for triple in statement.template for slot in (triple.subject, triple.predicate, triple.object)
            )
            reason = "The template names {}, which nothing binds: its triple is left out."
            named |= {slot: reason for slot in slots if isinstance(slot, Variable) and slot not in bound}
        case _:
            assert_never(statement)
    places = {variable: draft.after(variable, each.at) for variable in named}
    for variable in sorted(named, key=places.__getitem__):
        reason = named[variable].format(variable)
        yield str(draft.error(reason, places[variable], hint=_meant(variable, bound)))


def _meant(variable: Variable, bound: set[Variable]) -> str:
    found = closest(variable.name, (each.name for each in bound))
    return f"?{found}" if found else ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A pattern, and the variables that an EXISTS around it brings in."""

    pattern: Pattern
    around: frozenset[Variable]


def _filters(draft: Draft, each: DraftStatement) -> Iterator[str]:
    """Variables of FILTERs that their groups do not bind: a group sees nothing of what stands beside it."""
    given = _given(each.statement)
    waiting = [_Seen(each.statement.where, frozenset())]
    while waiting:
        seen = waiting.pop()
        condition, inside = _condition(seen.pattern)
        bound = inside | seen.around
        if condition is not None:
            for expression, at in draft.filters(condition):
                yield from _unseen(draft, expression, at, bound, given)
                exists = (part for part in parts(expression) if isinstance(part, Exists))
                waiting += [_Seen(part.pattern, bound) for part in exists]
        waiting += [_Seen(part, seen.around) for part in reversed(_below(seen.pattern))]


def _condition(pattern: Pattern) -> tuple[Expression | None, frozenset[Variable]]:
    """A pattern's condition, and the variables that it can see."""
    match pattern:
        case Filter():
            return pattern.condition, frozenset(in_scope(pattern.pattern))
        case LeftJoin() | TemporalJoin():
            return pattern.condition, frozenset(in_scope(pattern))
        case _:
            return None, frozenset()


def _below(pattern: Pattern) -> tuple[Pattern, ...]:
    match pattern:
        case Join() | LeftJoin() | Union() | Minus() | TemporalJoin():
            return (pattern.left, pattern.right)
        case Filter() | Graph() | Extend():
            return (pattern.pattern,)
        case SubSelect():
            return (pattern.select.where,)
        case Bgp() | Values():
            return ()
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _unseen(
    draft: Draft, expression: Expression, at: int, bound: frozenset[Variable], given: frozenset[Variable]
) -> Iterator[str]:
    for variable in sorted(mentioned(expression) - bound, key=str):
        place = draft.after(variable, at)
        if variable in given:
            reason = f"FILTER names {variable}, which its own group does not bind: there it has no value."
            hint = "FILTER in the group that holds both"
        else:
            reason, hint = f"FILTER names {variable}, which nothing binds.", _meant(variable, set(bound))
        yield str(draft.error(reason, place, hint=hint))


def _given(statement: Statement) -> frozenset[Variable]:
    """The variables that something in a statement gives a value to."""
    found: set[Variable | None] = set()
    for node in nodes(statement):
        match node:
            case Bgp():
                found.update(in_scope(node))
            case Values():
                found.update(node.variables)
            case Extend() | Projection() | GroupKey():
                found.add(node.variable)
            case Graph(Variable() as name):
                found.add(name)
    return frozenset(variable for variable in found if variable is not None)


def _running(draft: Draft, each: DraftStatement) -> Iterator[str]:
    """Aggregates in sub-selects, which give every running version of their value (EP-60)."""
    waiting = [each.statement.where]
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, SubSelect) and _aggregates(pattern.select):
            reason = "An aggregate in a sub-select gives a row for each of its running values, and joins with all."
            yield str(draft.error(reason, each.at))
            return
        waiting += _below(pattern)


def _aggregates(select: Select) -> bool:
    expressions = [column.expression for column in select.columns or () if column.expression is not None]
    grouped = select.modifiers.group is not None
    return grouped or any(map(has_aggregate, (*expressions, *select.modifiers.having)))
