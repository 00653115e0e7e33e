"""The strata of views: WITHOUT reads what is settled before (TEF-47)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import Absent, ConstructStatement, Kind, TefPattern
from thence.errors import QueryError
from thence.program.facts.kinds import Kinds
from thence.program.facts.placed_errors import StatementErrors
from thence.rdf.terms import IRI


class Derives(Protocol):
    """A view: a numbered statement with patterns over facts."""

    @property
    def number(self) -> int: ...

    @property
    def statement(self) -> ConstructStatement: ...

    @property
    def patterns(self) -> tuple[TefPattern, ...]: ...


V = TypeVar("V", bound=Derives)


def view_strata(views: Sequence[V], kinds: Kinds) -> tuple[tuple[V, ...], ...]:
    """Views by stratum, lowest first. QueryError if one depends on the absence of what it derives."""
    levels = {view.number: 0 for view in views}
    for _ in range(len(views) + 1):
        changed = False
        for view in views:
            for pattern in view.patterns:
                for triple, absent in _read(pattern, kinds):
                    for other in views:
                        if _derives(other, triple, kinds) and levels[view.number] < levels[other.number] + absent:
                            levels[view.number] = levels[other.number] + absent
                            changed = True
            for other in views:  # views of one predicate are settled together: their derivations are merged (TEF-48)
                if levels[view.number] < levels[other.number] and _have_one_predicate(view, other):
                    levels[view.number] = levels[other.number]
                    changed = True
        if not changed:
            numbers = sorted(set(levels.values()))
            return tuple(tuple(view for view in views if levels[view.number] == level) for level in numbers)
    worst = max(views, key=lambda view: levels[view.number])
    reason = f"Statement {worst.number} depends on the absence of what it derives."
    hint = "WITHOUT over facts that do not depend on this statement"
    if kinds.file is None:
        raise QueryError(reason, hint=hint)
    raise StatementErrors(kinds.file, worst.number).here(reason, hint)


def _have_one_predicate(view: Derives, other: Derives) -> bool:
    made = {triple.predicate for triple in view.statement.head if isinstance(triple.predicate, IRI)}
    return any(triple.predicate in made for triple in other.statement.head)


def _read(pattern: object, kinds: Kinds) -> Iterator[tuple[TriplePattern, int]]:
    """The triple patterns over facts that a pattern reads, and whether right of WITHOUT."""
    waiting: list[tuple[object, int]] = [(pattern, 0)]
    while waiting:
        found, level = waiting.pop()
        match found:
            case TriplePattern():
                yield found, level
            case Absent():
                waiting.append((found.left, level))
                if kinds.of_pattern(found.right) is not Kind.EVENT:
                    waiting.append((found.right, 1))
            case tuple():
                waiting += [(each, level) for each in found]
            case _ if (names := getattr(found, "__dataclass_fields__", None)) is not None:
                waiting += [(getattr(found, name), level) for name in names]
            case _:
                pass


def _derives(view: Derives, triple: TriplePattern, kinds: Kinds) -> bool:
    """Whether a view may derive a triple that a pattern matches."""
    for head in view.statement.head:
        made, read = head.predicate, triple.predicate
        if isinstance(made, Variable) or isinstance(read, Variable):
            if isinstance(read, Variable) or kinds.of(read) is Kind.FACT:
                return True
        elif isinstance(made, IRI) and made == read:
            return True
    return False
