"""Views: facts derived from facts alone, the least fixpoint (TEF-47 to TEF-49)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import ConstructStatement, HeadTriple, TefPattern
from thence.errors import LimitError
from thence.kernel.facts.fact_patterns import FactEvaluation, FactInstance
from thence.kernel.facts.fact_store import Fact, FactStore
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.terms import IRI, BlankNode, Term, Triple


@dataclass(frozen=True, slots=True)
class View:
    """A statement that derives facts from facts: its number and its patterns."""

    number: int
    statement: ConstructStatement
    patterns: tuple[TefPattern, ...]


def head_triples(head: Sequence[HeadTriple], bound: Solution, context: Context) -> Iterator[Triple]:
    """The triples that a head makes; one whose expression has an error is left out (TEF-59)."""
    for each in head:
        subject = bound.get(each.subject) if isinstance(each.subject, Variable) else each.subject
        predicate = bound.get(each.predicate) if isinstance(each.predicate, Variable) else each.predicate
        target: Term | None = attempt(each.object, bound, context)
        if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and target is not None:
            yield Triple(subject, predicate, target)


@dataclass(slots=True)
class Views:
    """The views of a program, by stratum: those of a stratum read only what is in it, or settled before it."""

    strata: tuple[tuple[View, ...], ...]
    max_rounds: int = 1000

    def settle(self, facts: FactEvaluation, now: int) -> tuple[list[Fact], list[Fact]]:
        """Bring all views up to the facts of a step; those that ended, and those that began."""
        ended: list[Fact] = []
        began: list[Fact] = []
        for stratum in self.strata:
            one, other = self._settle(stratum, facts, now)
            ended += one
            began += other
        return ended, began

    def _settle(self, stratum: Sequence[View], facts: FactEvaluation, now: int) -> tuple[list[Fact], list[Fact]]:
        store = facts.store
        numbers = {view.number for view in stratum}
        held = {fact.triple: fact for fact in store.holding() if fact.is_view and fact.statement in numbers}
        for fact in held.values():
            store.remove(fact)
        # what has held without a break: by derivations that began earlier
        kept: dict[Triple, Fact] = {}
        changed = True
        while changed:
            changed = False
            for triple, _ in _derived(stratum, facts, lambda each: each.holds_at(now) and each.start < now):
                known = held.get(triple)
                if known is not None and known.start < now and triple not in kept:
                    kept[triple] = known
                    store.add(known)
                    changed = True
        began: list[Fact] = []
        changed = True
        rounds = 0
        while changed:
            rounds += 1
            if rounds > self.max_rounds:
                raise LimitError(
                    f"Statement {began[-1].statement} still derives new facts after {self.max_rounds:,} rounds at one "
                    "time. Try: a view that ends, or a larger max_rounds"
                )
            changed = False
            for triple, number in _derived(stratum, facts, lambda each: each.holds_at(now)):
                if triple in kept:
                    continue
                known = held.get(triple)
                if known is not None and known.start == now:
                    store.add(known)
                else:
                    known = store.start(triple, now, number, is_view=True)
                    assert known is not None
                    began.append(known)
                kept[triple] = known
                changed = True
        _in_order(store, began)
        ended = []
        for triple, fact in held.items():
            if kept.get(triple) is not fact and fact.start < now:
                fact.end = now
                store.add(fact)
                ended.append(fact)
        return sorted(ended, key=lambda fact: (fact.statement, fact.start, _rank(fact.triple))), began


def _in_order(store: FactStore, began: list[Fact]) -> None:
    """Facts that began in one step are created in the order of their statements, then of their triples."""
    numbers = [fact.number for fact in began]
    for fact in began:
        store.remove(fact)
    began.sort(key=lambda fact: (fact.statement, _rank(fact.triple)))
    for number, fact in zip(sorted(numbers), began, strict=True):
        fact.number = number
        store.add(fact)


def _rank(triple: Triple) -> list[tuple[object, ...]]:
    return [(order_key(term), tie_key(term)) for term in triple]


def _derived(
    stratum: Sequence[View], facts: FactEvaluation, holds: Callable[[FactInstance], bool]
) -> list[tuple[Triple, int]]:
    """The triples that a stratum derives from what is there, each once, with the statement's number."""
    found: dict[Triple, int] = {}
    for view in stratum:
        for pattern in view.patterns:
            for instance in list(facts.facts(pattern, {})):
                if holds(instance):
                    for triple in head_triples(view.statement.head, instance.bound, facts.context):
                        found.setdefault(triple, view.number)
    return list(found.items())
