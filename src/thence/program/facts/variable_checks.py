"""Refuses variables that an arm of a statement lacks, or that UNION drops before an expression (TEF-69)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
)
from thence.algebra.tef_variables import bound, bound_by_arm, dropped
from thence.algebra.variables import mentioned
from thence.program.facts.kind_words import keyword_of
from thence.program.facts.placed_errors import StatementErrors


def check_variables(statement: TefStatement, errors: StatementErrors) -> None:
    """A QueryError, if the head names a variable that an arm lacks, or an expression one that UNION drops."""
    for place, arm in enumerate(statement.arms, 1):
        known = bound_by_arm(arm)
        for variable, words in _named(statement):
            if variable not in known:
                which = f"arm {place} of UNION ({keyword_of(arm) or 'a pattern'})" if statement.arms[1:] else "WHERE"
                reason = f"{words} {variable}, which {which} does not bind."
                raise errors.at_first(reason, _cure(arm, variable), variable)
    if isinstance(statement, SelectStatement) and statement.once_per is not None:
        for variable in statement.once_per.variables:
            if variable not in statement.variables:  # Section 4.4
                reason = f"ONCE PER names {variable}, which SELECT does not."
                raise errors.at_first(reason, f"SELECT … {variable}", variable)
    for names, seen in _expressions(statement):
        inside = seen.outer.union(*map(bound, seen.patterns))
        for variable in sorted((names & seen.hidden) - inside, key=str):
            reason = f"An expression inside {seen.operator} names {variable}, which is bound outside."
            raise errors.at_last(reason, f"the expression behind {seen.operator} ( … )", variable)
        lost = (
            frozenset[Variable]().union(*map(dropped, seen.patterns)).difference(*map(bound, seen.patterns), seen.outer)
        )
        for variable in sorted(names & lost, key=str):
            reason = f"An expression names {variable}, which only one side of the UNION before it binds."
            raise errors.at_last(reason, f"{variable} on both sides", variable)


def _named(statement: TefStatement) -> Iterator[tuple[Variable, str]]:
    """The variables that every arm must bind, and the words for who names them."""
    match statement:
        case SelectStatement():
            yield from ((variable, "SELECT names") for variable in statement.variables)
        case ConstructStatement():
            for triple in statement.head:
                slots = (triple.subject, triple.predicate, *sorted(mentioned(triple.object), key=str))
                yield from ((slot, "The head names") for slot in slots if isinstance(slot, Variable))
        case _:
            assert_never(statement)
    if statement.once_per is not None:
        yield from ((variable, "ONCE PER names") for variable in statement.once_per.variables)
        for expression in statement.once_per.expressions:
            yield from ((variable, "ONCE PER names") for variable in sorted(mentioned(expression), key=str))


@dataclass(frozen=True, slots=True)
class _Seen:
    """Patterns before an expression, or one to look into; and what is bound to their left, outside of them."""

    patterns: tuple[TefPattern, ...]
    outer: frozenset[Variable]
    hidden: frozenset[Variable] = frozenset()  # what is bound outside of an ONSTART or ONEND around them (TEF-50)
    operator: str = ""


def _expressions(statement: TefStatement) -> Iterator[tuple[frozenset[Variable], _Seen]]:
    """The variables that each expression names, and what stands before it (TEF-58). One that it assigns is new, also
    where an arm of a UNION has a variable of that name."""
    for arm in statement.arms:
        match arm:
            case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
                yield from _within(pattern, _Seen((), frozenset()))
            case Replace():
                yield from _within(arm.facts, _Seen((), frozenset()))
                yield from _within(arm.events, _Seen((), bound(arm.facts)))
                for _, expression in arm.steps:
                    yield mentioned(expression), _Seen((arm.facts, arm.events), frozenset())
            case _:
                assert_never(arm)


def _within(pattern: TefPattern, seen: _Seen) -> Iterator[tuple[frozenset[Variable], _Seen]]:
    match pattern:
        case TriplePattern():
            return
        case Test(inner, condition):
            yield mentioned(condition), replace(seen, patterns=(inner,))
            yield from _within(inner, seen)
        case Assignment(inner, _, expression):
            yield mentioned(expression), replace(seen, patterns=(inner,))
            yield from _within(inner, seen)
        case Times(inner):
            yield from _within(inner, seen)
        case OnStart(inner) | OnEnd(inner):
            operator = "ONSTART" if isinstance(pattern, OnStart) else "ONEND"
            yield from _within(inner, _Seen((), frozenset(), seen.outer | seen.hidden, operator))
        case Either(left, right):
            yield from _within(left, seen)
            yield from _within(right, seen)
        case Conjunction(left, right) | Related(_, left, right) | Absent(left, right):
            yield from _within(left, seen)
            yield from _within(right, replace(seen, outer=seen.outer | bound(left)))
        case _:
            assert_never(pattern)


def _cure(arm: Arm, variable: Variable) -> str:
    if isinstance(arm, Until):
        return f"UNTIL ( … DURING the fact with {variable} )"
    return f"{variable} = … behind it" if isinstance(arm, Since | Replace) else f"{variable} in that pattern"
