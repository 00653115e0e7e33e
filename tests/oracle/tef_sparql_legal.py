"""Which TEF-SPARQL programs are refused: kinds that clash (TEF-11), what Tables 4.1 and 4.2 do not admit (TEF-12 to
TEF-14), views that cannot be stratified (TEF-47), now() over facts (TEF-65), names (TEF-69), clauses (TEF-73)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from oracle.tef_sparql_expressions import is_clip
from oracle.tef_sparql_kinds import Kinds, arms, construct_kind, demands, heads, is_arm, is_made, kinds
from oracle.tef_sparql_names import unambiguous
from oracle.tef_sparql_query import (
    Before,
    Condition,
    Conjunction,
    Construct,
    During,
    Expression,
    Kind,
    Now,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Program,
    Replace,
    Select,
    Seq,
    Since,
    Timed,
    TriplePattern,
    Union,
    Until,
    With,
    Without,
    bound,
    every,
    new_name,
    used,
)
from oracle.tef_sparql_unions import split_names
from oracle.tef_sparql_views import NotStratified, reads, strata, view_constructs
from oracle.terms import Iri, Literal, Triple, Var

EVENT, FACT, STATIC = Kind.EVENT, Kind.FACT, Kind.STATIC


class Meaningless(ValueError):
    """The program is an error."""


def is_legal(program: Program, background: Iterable[Triple] = ()) -> bool:
    try:
        check(program, background)
    except Meaningless:
        return False
    return True


def check(program: Program, background: Iterable[Triple] = ()) -> None:
    """Raise `Meaningless` if the program is an error with this background (TEF-16)."""
    known = kinds(program, background)
    _clashes(program, known)
    written, program = program, unambiguous(program)
    for construct in program.constructs:
        _construct(construct, known)
    for select in program.selects:
        _refuse(any(map(is_arm, arms(select.where))), "an arm of CONSTRUCT FACT in a SELECT (TEF-13)")
        kind = Checked(known).kind(select.where, None, frozenset())
        _refuse(not set(select.names) <= bound(select.where), "a column that nothing binds (TEF-69)")
        _refuse(select.within is not None and kind is not EVENT, "WITHIN without an event (TEF-76)")
        _once(select)
        _refuse(select.once is not None and not set(select.once.names) <= set(select.names), "ONCE PER of no column")
    for statement in (*written.constructs, *written.selects):
        _refuse(bool(split_names(statement.where)), "a variable of only some arms of a UNION, and outside it (TEF-69)")
    _derived(program, known)


def _clashes(program: Program, known: Kinds) -> None:
    """TEF-11: a predicate with two kinds. Static triples combine with events and with facts (TEF-9)."""
    declared = [(iri, declare.kind) for declare in program.declares for iri in declare.iris]
    for iri, kind in (*declared, *heads(program, known)):
        _refuse(known[iri] is not kind, f"{iri.name} has two kinds (TEF-11)")
    for iri, kind in demands(program):
        _refuse(known[iri] not in (kind, STATIC), f"{iri.name} has two kinds (TEF-11)")


def _construct(construct: Construct, known: Kinds) -> None:
    kind, checked = construct_kind(construct, known), Checked(known)
    parts = arms(construct.where)
    for arm in parts:
        _refuse(kind is EVENT and is_arm(arm), "an arm of CONSTRUCT FACT in CONSTRUCT EVENT (TEF-13)")
        found = checked.arm(arm, kind)
        _refuse(kind is EVENT and found is not EVENT, "CONSTRUCT EVENT over facts (TEF-12)")
        _refuse(kind is FACT and found is EVENT, "CONSTRUCT FACT over events (TEF-12)")
    if is_made(construct):
        _refuse(not all(map(is_arm, parts)), "facts both derived and made (TEF-14)")
    else:
        checked.kind(construct.where, kind, frozenset())
    names = bound(construct.where)
    for triple in construct.head:
        _refuse(not isinstance(triple.predicate, Iri), "a head with a variable predicate")
        _refuse(isinstance(triple.subject, Literal), "a head with a literal as subject")
        _refuse(not set(used(triple)) <= names, "a head's variable that an arm lacks (TEF-69)")
        _refuse(not is_made(construct) and kind is FACT and any(every(Now, triple)), "now() over facts (TEF-65)")
    _refuse(not construct.head, "an empty head")
    has_event = kind is EVENT or any(isinstance(arm, Since | Until | Replace) for arm in parts)
    _refuse(construct.within is not None and not has_event, "WITHIN without an event (TEF-76)")
    if construct.once is not None:
        _refuse(any(isinstance(arm, Until) for arm in parts), "ONCE PER on UNTIL (TEF-73)")
        _refuse(kind is FACT and not is_made(construct), "ONCE PER on a view")
    _once(construct)


def _once(statement: Construct | Select) -> None:
    if statement.once is not None:
        names = {*statement.once.names, *used(statement.once.expressions)}
        _refuse(not names <= bound(statement.where), "ONCE PER names what an arm lacks (TEF-69)")


def _derived(program: Program, known: Kinds) -> None:
    """TEF-14 and TEF-47."""
    views = view_constructs(program, known)
    derived = {triple.predicate for view in views for triple in view.head}
    made = {t.predicate for each in program.constructs if is_made(each) for t in each.head}
    _refuse(bool(derived & made), "a predicate both derived and made (TEF-14)")
    for node in every(Replace, program):
        replaced = {predicate for predicate, negated in reads(node.fact, known) if not negated}
        _refuse(bool(replaced & derived), "REPLACE of a derived fact (TEF-14)")
        _refuse(not replaced or any(isinstance(each, Var) for each in replaced), "REPLACE of no known fact")
    try:
        strata(program, known)
    except NotStratified:
        raise Meaningless("WITHOUT among views that cannot be stratified (TEF-47)") from None


class Checked:
    """The kind of patterns, by the tables; what these do not admit is refused."""

    def __init__(self, known: Kinds) -> None:
        self.known = known

    def arm(self, arm: Pattern, context: Kind | None) -> Kind:
        """An arm of a CONSTRUCT."""
        nothing: frozenset[str] = frozenset()
        match arm:
            case Since(event) | Until(event):
                self.one_of((EVENT,), event, EVENT, nothing)
            case Replace(fact, event):
                self.one_of((FACT,), fact, FACT, nothing)
                self.one_of((EVENT,), event, EVENT, bound(fact))
            case OnInit(fact):
                self.one_of((STATIC,), fact, STATIC, nothing)
            case _:
                return self.kind(arm, context, nothing)
        return FACT

    def one_of(self, admitted: tuple[Kind, ...], pattern: Pattern, context: Kind, scope: frozenset[str]) -> Kind:
        found = self.kind(pattern, context, scope)
        _refuse(found not in admitted, f"{found.value} where {admitted[0].value} is admitted (TEF-11)")
        return found

    def kind(self, pattern: Pattern, context: Kind | None, scope: frozenset[str]) -> Kind:
        """Its kind, where `scope` is bound to its left."""
        match pattern:
            case TriplePattern(_, predicate, _):
                return self.known.get(predicate, EVENT) if isinstance(predicate, Iri) else context or EVENT
            case Timed(inner):
                return self.kind(inner, context, scope)
            case Condition(inner, expression):
                found = self.kind(inner, context, scope)
                self.expression(expression, scope | bound(inner, scope), found)
                return found
            case Conjunction(left, right):
                a, b = self.sides(left, right, context, scope)
                _refuse({a, b} == {EVENT, FACT}, "an event and a fact under , (TEF-12)")
                return b if a is STATIC else a
            case Union(left, right):
                a, b = self.kind(left, context, scope), self.kind(right, context, scope)
                _refuse(a is not b, "a UNION of two kinds (TEF-12)")
                return a
            case Without(left, right):
                found = self.kind(left, context, scope)
                _refuse(found is STATIC, "WITHOUT whose left side is static (TEF-12)")
                self.kind(right, None, scope | bound(left, scope))
                return found
            case Seq(left, right) | Before(left, right):
                self.one_of((EVENT,), left, EVENT, scope)
                self.one_of((EVENT,), right, EVENT, scope | bound(left, scope))
                return EVENT
            case During(left, right) | With(left, right):
                self.one_of((EVENT,), left, EVENT, scope)
                self.one_of((FACT, STATIC), right, FACT, scope | bound(left, scope))
                return EVENT
            case OnStart(fact) | OnEnd(fact):
                self.one_of((FACT,), fact, FACT, frozenset())
                return EVENT
            case Since() | Until() | Replace() | OnInit():
                raise Meaningless("an arm of CONSTRUCT FACT inside a pattern (TEF-13)")
            case _:
                assert_never(pattern)

    def sides(self, left: Pattern, right: Pattern, context: Kind | None, scope: frozenset[str]) -> tuple[Kind, Kind]:
        return self.kind(left, context, scope), self.kind(right, context, scope | bound(left, scope))

    def expression(self, expression: Expression, scope: frozenset[str], kind: Kind) -> None:
        """TEF-57 and TEF-65."""
        name = new_name(expression, scope)
        unknown = set(used(expression)) - scope
        _refuse(not unknown <= {name}, "an expression with a variable that nothing binds")
        _refuse(name is not None and used(expression).count(name) > 1, "a variable bound by itself")
        over_facts = kind is not EVENT and any(every(Now, expression))
        _refuse(over_facts and (name is not None or not is_clip(expression)), "now() over facts (TEF-65)")


def _refuse(wrong: bool, reason: str) -> None:
    if wrong:
        raise Meaningless(reason)
