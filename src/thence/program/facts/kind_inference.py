"""Infers the kinds of predicates from DECLARE, heads, the background and operators (TEF-2 to TEF-8)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Plain,
    Related,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
)
from thence.errors import QueryError
from thence.program.facts.kind_demands import certain_kind, head_predicates, read_predicates
from thence.program.facts.kind_table import RDF_TYPE, Kinds, PredicateKind, asks_now, predicate_name
from thence.rdf.terms import IRI


class Inference:
    """What is known of predicates, from the strongest reason to the weakest."""

    def __init__(self, file: TefFile, background: frozenset[IRI]) -> None:
        self._file = file
        self._background = background
        self._known: dict[IRI, PredicateKind] = {}

    def kinds(self) -> Kinds:
        statements = tuple(enumerate(self._file.statements, 1))
        made = {iri for _, each in statements for iri in head_predicates(each)}
        for predicate, kind in self._file.declared:
            self._declare(predicate, kind)
        self._learn(RDF_TYPE, Kind.STATIC, "unless it is DECLAREd")  # TEF-5
        for number, statement in statements:
            if (certain := certain_kind(statement)) is not None:
                self._make(number, statement, certain)
        for predicate in self._background - made:  # TEF-4
            self._learn(predicate, Kind.STATIC, "the background has it")
        for static_only in (True, False):  # ON INIT before the other operators: what it reads is static (TEF-6)
            for number, statement in statements:
                self._obey(number, statement, static_only=static_only)
        derived = self._derive(dict(statements))
        found = tuple(derived.get(number) or certain_kind(each) or Kind.EVENT for number, each in statements)
        return Kinds(self._known, found, self._background)

    def _declare(self, predicate: IRI, kind: Kind) -> None:
        found = self._known.setdefault(predicate, PredicateKind(kind, "it is DECLAREd so"))
        if found.kind is not kind:
            name = predicate_name(predicate, self._file.namespace)
            reason = f"DECLARE gives {name} two kinds, {found.kind.value} and {kind.value}."
            raise QueryError(reason, hint="one of them")

    def _learn(self, predicate: IRI, kind: Kind, why: str, *, is_open: bool = False) -> bool:
        """Note a kind, unless a stronger reason gave one; whether it is new."""
        if predicate in self._known:
            return False
        self._known[predicate] = PredicateKind(kind, why, is_open)
        return True

    def _make(self, number: int, statement: TefStatement, kind: Kind) -> list[IRI]:
        """Note what a statement makes; the predicates that are new. Clashes are found when all is known."""
        why = f"statement {number} makes it"
        return [iri for iri in head_predicates(statement) if self._learn(iri, kind, why)]

    def _obey(self, number: int, statement: TefStatement, *, static_only: bool) -> None:
        """Note the kinds that operators ask for (TEF-3)."""
        for predicate, demand in read_predicates(statement):
            if demand.kind is not None and (demand.kind is Kind.STATIC or not static_only):
                why = f"{demand.operator} in statement {number} asks for that"
                self._learn(predicate, demand.kind, why, is_open=demand.kind is not Kind.STATIC)

    def _derive(self, statements: Mapping[int, TefStatement]) -> dict[int, Kind]:
        """The kinds of CONSTRUCTs that take them from their WHERE, and of SELECTs (TEF-2): a fixpoint, since one may
        read what another makes. What stays open is an event (TEF-7): first what no open statement makes, then the rest,
        which is recursion without a base."""
        waiting = {number: each for number, each in statements.items() if certain_kind(each) is None}
        found = self._propagate(waiting)
        made = {iri for each in waiting.values() for iri in head_predicates(each)}
        for statement in waiting.values():
            for predicate, _ in read_predicates(statement):
                if predicate not in made:
                    self._learn(predicate, Kind.EVENT, "no statement says otherwise", is_open=True)
        found |= self._propagate(waiting)
        for number, statement in waiting.items():
            found[number] = Kind.EVENT
            self._make(number, statement, Kind.EVENT)
        return found

    def _propagate(self, waiting: dict[int, TefStatement]) -> dict[int, Kind]:
        """The kinds of the waiting statements, as far as they follow from what is known; those no longer wait."""
        readers: defaultdict[IRI, list[int]] = defaultdict(list)
        for number, statement in waiting.items():
            for predicate, _ in read_predicates(statement):
                readers[predicate].append(number)
        found: dict[int, Kind] = {}
        queue = deque(waiting)
        while queue:
            number = queue.popleft()
            if number in waiting and (kind := self._partial(waiting[number])) is not None:
                found[number] = kind
                for predicate in self._make(number, waiting.pop(number), kind):
                    queue += readers[predicate]
        return found

    def _partial(self, statement: TefStatement) -> Kind | None:
        """The kind of a statement whose arms are all plain, if it is known; static triples alone are a fact."""
        kinds = [self._pattern(arm.pattern) for arm in statement.arms if isinstance(arm, Plain)]
        certain = [kind for kind in kinds if kind in (Kind.EVENT, Kind.FACT)]
        if certain:
            return certain[0]
        return None if None in kinds else Kind.FACT

    def _pattern(self, pattern: TefPattern) -> Kind | None:
        match pattern:
            case TriplePattern():
                if isinstance(pattern.predicate, Variable):
                    return Kind.EVENT
                known = self._known.get(pattern.predicate)
                return None if known is None else known.kind
            case Times() | Assignment():
                return self._pattern(pattern.pattern)
            case Test():
                kind = self._pattern(pattern.pattern)
                return Kind.FACT if kind is Kind.STATIC and asks_now(pattern.condition) else kind
            case Conjunction() | Either():
                sides = (self._pattern(pattern.left), self._pattern(pattern.right))
                certain = [kind for kind in sides if kind in (Kind.EVENT, Kind.FACT)]
                return certain[0] if certain else None if None in sides else Kind.STATIC
            case Absent():
                return self._pattern(pattern.left)
            case Related() | OnStart() | OnEnd():
                return Kind.EVENT
            case _:
                assert_never(pattern)
