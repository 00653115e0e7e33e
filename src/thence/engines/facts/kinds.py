"""Kinds of predicates in TEF-SPARQL, inferred from DECLARE, heads, the background and operators (TEF-1 to TEF-8)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from thence.algebra.expressions import Call, Compare, Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    TemporalRelation,
    Test,
    Times,
    Until,
)
from thence.algebra.variables import parts
from thence.errors import QueryError
from thence.rdf.terms import IRI, RDF, RDFS

# The kinds of a file's predicates and patterns (TEF-1), and what `now()` is compared with.

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
    warnings: tuple[str, ...] = ()  # TEF-5, TEF-15
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
    """Whether `now()` is in the expression."""
    return any(isinstance(part, Call) and part.function == "NOW" for part in parts(expression))


def now_comparison(condition: Expression) -> tuple[Comparison, Expression] | None:
    """The comparison and the other side of `now() op c` or `c op now()`, written as the former; None for anything else,
    and if c contains now() too (TEF-63, TEF-65)."""
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


# Evidence in statements of TEF-SPARQL for the kinds of predicates: heads, and operators that ask for a kind
# (TEF-3).


@dataclass(frozen=True, slots=True)
class Demand:
    """A pattern, the kind that its place requires, if any, and the operator that requires it."""

    pattern: TefPattern
    kind: Kind | None
    operator: str


def certain_kind(statement: TefStatement) -> Kind | None:
    """The kind that a CONSTRUCT makes, if its text says so: by FACT or EVENT, or by an arm that makes facts."""
    match statement:
        case SelectStatement():
            return None
        case ConstructStatement(kind=None):
            return None if all(isinstance(arm, Plain) for arm in statement.arms) else Kind.FACT
        case ConstructStatement():
            return statement.kind
        case _:
            assert_never(statement)


def head_predicates(statement: TefStatement) -> tuple[IRI, ...]:
    """The predicates of what a statement makes; variables aside."""
    head = statement.head if isinstance(statement, ConstructStatement) else ()
    return tuple(each.predicate for each in head if isinstance(each.predicate, IRI))


def statement_demands(statement: TefStatement) -> Iterator[Demand]:
    """The patterns at the top of a statement's arms. FACT or EVENT flows down to plain ones (TEF-3)."""
    top = statement.kind if isinstance(statement, ConstructStatement) else None
    for arm in statement.arms:
        yield from arm_demands(arm, top)


def arm_demands(arm: Arm, top: Kind | None) -> tuple[Demand, ...]:
    """The patterns of an arm; `top` is the kind that CONSTRUCT requires."""
    match arm:
        case Plain(pattern):
            return (Demand(pattern, top, "" if top is None else f"CONSTRUCT {top.value.upper()}"),)
        case Since(events):
            return (Demand(events, Kind.EVENT, "SINCE"),)
        case Until(events):
            return (Demand(events, Kind.EVENT, "UNTIL"),)
        case Replace():
            return Demand(arm.facts, Kind.FACT, "REPLACE"), Demand(arm.events, Kind.EVENT, "ON")
        case OnInit(pattern):
            return (Demand(pattern, Kind.STATIC, "ON INIT"),)
        case _:
            assert_never(arm)


def operands(demand: Demand) -> tuple[Demand, ...]:
    """The patterns directly below, with what is asked of each: nothing of WITHOUT's right side (TEF-3)."""
    pattern, kind, operator = demand.pattern, demand.kind, demand.operator
    match pattern:
        case TriplePattern():
            return ()
        case Times() | Test() | Assignment():
            return (Demand(pattern.pattern, kind, operator),)
        case Conjunction() | Either():
            return Demand(pattern.left, kind, operator), Demand(pattern.right, kind, operator)
        case Absent():
            return Demand(pattern.left, kind, operator), Demand(pattern.right, None, "WITHOUT")
        case Related(relation, left, right):
            after = relation in (TemporalRelation.SEQ, TemporalRelation.BEFORE)
            second = Kind.EVENT if after else Kind.FACT
            return Demand(left, Kind.EVENT, relation.value), Demand(right, second, relation.value)
        case OnStart(facts):
            return (Demand(facts, Kind.FACT, "ONSTART"),)
        case OnEnd(facts):
            return (Demand(facts, Kind.FACT, "ONEND"),)
        case _:
            assert_never(pattern)


def all_demands(statement: TefStatement) -> Iterator[Demand]:
    """All patterns of a statement, in the order of the text, with what is asked of each; without recursion."""
    waiting = list(reversed(list(statement_demands(statement))))
    while waiting:
        demand = waiting.pop()
        yield demand
        waiting += reversed(operands(demand))


def read_predicates(statement: TefStatement) -> Iterator[tuple[IRI, Demand]]:
    """The predicates that a statement's patterns name, and what is asked of each."""
    for demand in all_demands(statement):
        if isinstance(demand.pattern, TriplePattern) and isinstance(demand.pattern.predicate, IRI):
            yield demand.pattern.predicate, demand


# Words and cures for errors about kinds.


def a_kind(kind: Kind) -> str:
    return {Kind.EVENT: "an event", Kind.FACT: "a fact", Kind.STATIC: "static"}[kind]


def keyword_of(arm: Arm) -> str:
    match arm:
        case Plain():
            return ""
        case Since():
            return "SINCE"
        case Until():
            return "UNTIL"
        case Replace():
            return "REPLACE"
        case OnInit():
            return "ON INIT"
        case _:
            assert_never(arm)


def needed(demand: Demand) -> str:
    match demand.operator, demand.kind:
        case ("DURING" | "WITH", Kind.EVENT):
            return "an event on its left"
        case ("DURING" | "WITH", Kind.FACT):
            return "a fact on its right"
        case (_, Kind.EVENT):
            return "an event"
        case (_, Kind.FACT):
            return "a fact"
        case _:
            return "a triple of the background"


_DECLARED = "or DECLARE EVENT if the stream has it too"


def cure(demand: Demand, found: Kind) -> str:
    match demand.operator, found:
        case ("SEQ" | "BEFORE", Kind.FACT):
            return f"DURING instead of {demand.operator}, or ONSTART before the fact"
        case ("SEQ" | "BEFORE", _):
            return f'"," instead of {demand.operator}, {_DECLARED}'
        case ("SINCE" | "UNTIL" | "ON", Kind.FACT):
            return f"{demand.operator} (ONSTART … ) or {demand.operator} (ONEND … )"
        case ("SINCE" | "UNTIL" | "ON", _):
            return f'an event beside it, with ",", {_DECLARED}'
        case ("DURING" | "WITH", Kind.EVENT):
            return "SEQ or BEFORE between events, or SINCE to make a fact of the event"
        case ("DURING" | "WITH", Kind.FACT):
            return '"," between facts, or ONSTART before the left one'
        case ("DURING" | "WITH", _):
            return f"an event on the left, {_DECLARED}"
        case ("ONSTART" | "ONEND", Kind.EVENT):
            return f"the event without {demand.operator}"
        case ("ONSTART" | "ONEND" | "REPLACE", Kind.STATIC):
            return "a fact that a statement makes"
        case ("REPLACE", _):
            return "a fact that a statement makes; events end by themselves"
        case ("ON INIT", _):
            return "another predicate than the background's"
        case ("CONSTRUCT EVENT", Kind.FACT):
            return "ONSTART before the fact"
        case ("CONSTRUCT EVENT", _):
            return f"an event beside the static triple, {_DECLARED}"
        case ("CONSTRUCT FACT", _):
            return "SINCE before the event"
        case _:
            return "an event beside the static triple"


class Inference:
    """The known kinds of predicates, inferred from the strongest reason to the weakest."""

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
        """Note the kinds that operators require (TEF-3)."""
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
