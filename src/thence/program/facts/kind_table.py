"""The kinds of a file's predicates and patterns (TEF-1), and what `now()` is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from thence.algebra.expressions import Call, Compare, Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Related,
    TefFile,
    TefPattern,
    Test,
    Times,
)
from thence.algebra.variables import parts
from thence.rdf.terms import IRI, RDF, RDFS

RDF_TYPE = IRI(RDF + "type")

_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
}


@dataclass(frozen=True, slots=True)
class PredicateKind:
    """A predicate's kind, and why it is that: words for errors."""

    kind: Kind
    why: str
    is_open: bool = False  # whether a background that has the predicate would make it static (TEF-4)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of a file's predicates, patterns and statements."""

    predicates: Mapping[IRI, PredicateKind]
    statements: tuple[Kind, ...]  # what each CONSTRUCT makes; what each SELECT is over
    background: frozenset[IRI] = frozenset()
    warnings: tuple[str, ...] = ()  # TEF-15
    file: TefFile | None = None  # that they are of, once they are checked

    def of(self, predicate: IRI) -> Kind:
        """A predicate's kind; of one that the file does not name, what the stream or the background makes it."""
        return self.known(predicate).kind

    def known(self, predicate: IRI) -> PredicateKind:
        """A predicate's kind, and why it is that."""
        found = self.predicates.get(predicate)
        if found is not None:
            return found
        if predicate in self.background:
            return PredicateKind(Kind.STATIC, "the background has it")
        return PredicateKind(Kind.EVENT, "no statement says otherwise", is_open=True)  # TEF-7

    def of_pattern(self, pattern: TefPattern, demanded: Kind = Kind.EVENT) -> Kind:
        """The kind of what a pattern gives. `demanded` is what its place demands: a variable predicate stands for
        predicates of that kind (TEF-8)."""
        match pattern:
            case TriplePattern():
                return demanded if isinstance(pattern.predicate, Variable) else self.of(pattern.predicate)
            case Times() | Assignment():
                return self.of_pattern(pattern.pattern, demanded)
            case Test():
                kind = self.of_pattern(pattern.pattern, demanded)
                return Kind.FACT if kind is Kind.STATIC and asks_now(pattern.condition) else kind
            case Conjunction() | Either():
                left = self.of_pattern(pattern.left, demanded)
                return left if left is not Kind.STATIC else self.of_pattern(pattern.right, demanded)
            case Absent():
                return self.of_pattern(pattern.left, demanded)
            case Related() | OnStart() | OnEnd():
                return Kind.EVENT
            case _:
                assert_never(pattern)


def asks_now(expression: Expression) -> bool:
    """Whether `now()` stands in the expression."""
    return any(isinstance(part, Call) and part.function == "NOW" for part in parts(expression))


def now_comparison(condition: Expression) -> tuple[Comparison, Expression] | None:
    """The comparison and the other side of `now() op c` or `c op now()`, written as the former; None for anything else,
    and where c asks for now() too (TEF-63, TEF-65)."""
    now = Call("NOW", ())
    match condition:
        case Compare(comparison, left, right) if left == now and not asks_now(right):
            return comparison, right
        case Compare(comparison, left, right) if right == now and not asks_now(left):
            return _MIRRORED.get(comparison, comparison), left
        case _:
            return None


_SHORT = {RDF: "rdf:", RDFS: "rdfs:", "http://www.w3.org/2002/07/owl#": "owl:"}
_LONGEST = 60


def predicate_name(predicate: IRI | Variable, namespace: str) -> str:
    """A predicate as an error shows it: without the file's namespace.

    >>> predicate_name(IRI("http://example.org/liveIn"), "http://example.org/"), predicate_name(RDF_TYPE, "x:")
    ('liveIn', 'rdf:type')
    """
    shown = str(predicate)
    if isinstance(predicate, IRI):
        for full, short in ((namespace, ""), *_SHORT.items()):
            local = predicate.value.removeprefix(full)
            if local != predicate.value and local.replace("_", "").replace("-", "").isalnum():
                shown = short + local
                break
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
