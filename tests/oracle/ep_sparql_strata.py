"""Which rules depend on which, and in which strata they are evaluated (EP-50 to EP-53).

A background, where there is one, can match every pattern. So a side of SEQ can match background alone if all its
patterns stand for data, and there is a background, given or derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from oracle.ep_sparql_query import (
    Bind,
    Chain,
    Construct,
    Either,
    Element,
    Expression,
    File,
    Filter,
    Group,
    InGraph,
    Inverse,
    Minus,
    Operator,
    Optional,
    Path,
    Pattern,
    Repeat,
    Select,
    Slot,
    Steps,
    SubSelect,
    Triples,
    Values,
    constructs,
    exists_in,
)
from oracle.ep_sparql_rdfs import SUB_PROPERTY, TYPE
from oracle.terms import Blank, Graph, Iri, Var


class NotStratified(ValueError):
    """A rule needs, at the same time, that one of its own results is absent (EP-53)."""


@dataclass(frozen=True)
class Read:
    """A triple pattern that a rule reads at the end time of its solution. `strict`: what it finds must be final."""

    subject: Slot
    predicate: Var | Iri
    object: Slot
    strict: bool


def strata(file: File, schema: Graph | None = None, *, background: bool = False) -> list[list[int]]:
    """The numbers of the rules, by strata. `schema` is the closed background if there is reasoning."""
    rules = constructs(file)
    timeless = background or any(can_be_timeless(rule.where, False) for rule in rules)
    level = [0] * len(rules)
    while True:
        new = [
            max([level[at], *(level[other] + strict for other, strict in needs(rules, at, schema, timeless))])
            for at in range(len(rules))
        ]
        if new == level:
            return [[at for at in range(len(rules)) if level[at] == stratum] for stratum in sorted(set(level))]
        if max(new) > len(rules):
            raise NotStratified
        level = new


def stratified(file: File, schema: Graph | None = None, *, background: bool = False) -> bool:
    try:
        strata(file, schema, background=background)
    except NotStratified:
        return False
    return True


def needs(rules: list[Construct], at: int, schema: Graph | None, timeless: bool) -> set[tuple[int, bool]]:
    """The rules that a rule depends on, and whether they have to be finished before it."""
    return {
        (other, read.strict)
        for read in reads(rules[at].where, False, timeless)
        for other, rule in enumerate(rules)
        if any(answers(triple, read, schema) for triple in rule.template)
    }


def answers(triple: Pattern, read: Read, schema: Graph | None) -> bool:
    """Can an instance of the template triple, or what RDFS infers from it, match the pattern? (EP-51)"""
    if schema is not None and (isinstance(read.predicate, Var) or read.predicate == TYPE):
        return True
    predicates = {read.predicate}
    if schema is not None:
        predicates |= {
            sub for sub, p, super_ in schema if p == SUB_PROPERTY and super_ == read.predicate and isinstance(sub, Iri)
        }
    assert isinstance(triple.predicate, Var | Iri)
    return (
        any(unify(triple.predicate, predicate) for predicate in predicates)
        and unify(triple.subject, read.subject)
        and unify(triple.object, read.object)
    )


def unify(made: Slot, wanted: Slot) -> bool:
    """A template's slot, and a pattern's. A template's blank node is never a term that the query writes."""
    return isinstance(wanted, Var | Blank) or isinstance(made, Var) or made == wanted


# What a rule reads at the end of its solution


def reads(group: Group, strict: bool, timeless: bool) -> Iterator[Read]:
    for element in group.elements:
        yield from _reads(element, strict, timeless)


def _reads(element: Element, strict: bool, timeless: bool) -> Iterator[Read]:
    match element:
        case Triples(patterns):
            for pattern in patterns:
                yield from pattern_reads(pattern, strict)
        case Group():
            yield from reads(element, strict, timeless)
        case Chain():
            yield from chain_reads(element, strict, timeless)
        case Optional(group) | Minus(group):
            yield from reads(group, True, timeless)
        case Filter(expression) | Bind(expression):
            yield from exists_reads((expression,), timeless)
        case Values():
            return
        case InGraph(_, group):
            yield from reads(group, strict, timeless)  # an unnamed background answers too, with what rules derive
        case SubSelect(select):
            yield from select_reads(select, strict, timeless)
        case _:
            assert_never(element)


def chain_reads(chain: Chain, strict: bool, timeless: bool) -> Iterator[Read]:
    """What stands left of SEQ or OPTIONALSEQ is earlier, unless the right side can match background alone (EP-52). The
    F of OPTIONALSEQ is judged on the combination (EP-21, EP-22): its EXISTS reads at the combination's end (EP-27)."""
    found = list(reads(chain.first, strict, timeless))
    condition = chain.first.filters if chain.rest[0][0] is Operator.OPTIONALSEQ else ()
    later: list[Read] = list(exists_reads(condition, timeless))
    for operator, group in chain.rest:
        right = list(reads(group, strict, timeless))
        match operator:
            case Operator.SEQ:
                found = found + right if can_be_timeless(group, timeless) else right
            case Operator.OPTIONALSEQ:
                found = strictly(found) + right if can_be_timeless(group, timeless) else later + right
                later = []
            case Operator.EQUALSOPTIONAL:
                found += strictly(right)
            case Operator.EQUALS | Operator.UNION:
                found += right
            case _:
                assert_never(operator)
    yield from found


def strictly(found: Iterable[Read]) -> list[Read]:
    return [Read(read.subject, read.predicate, read.object, True) for read in found]


def exists_reads(expressions: Iterable[Expression], timeless: bool) -> Iterator[Read]:
    for group in exists_in(*expressions):
        yield from reads(group, True, timeless)


def select_reads(select: Select, strict: bool, timeless: bool) -> Iterator[Read]:
    yield from reads(select.where, strict or select.aggregated or select.sliced, timeless)
    shown = [column.expression for column in select.columns or () if column.expression is not None]
    others = [*(key.expression for key in select.group_by), *(order.expression for order in select.order_by)]
    yield from exists_reads((*shown, *select.having, *others), timeless)


ANYTHING = Var("")


def pattern_reads(pattern: Pattern, strict: bool) -> Iterator[Read]:
    """A path reads each of its predicates between any terms; with a length of zero, any triple."""
    if isinstance(pattern.predicate, Var | Iri):
        yield Read(pattern.subject, pattern.predicate, pattern.object, strict)
        return
    for step in predicates(pattern.predicate):
        yield Read(ANYTHING, step, ANYTHING, strict)


def predicates(path: Path) -> Iterator[Var | Iri]:
    match path:
        case Iri():
            yield path
        case Inverse(inner):
            yield from predicates(inner)
        case Steps(left, right) | Either(left, right):
            yield from predicates(left)
            yield from predicates(right)
        case Repeat(inner, sign):
            yield from predicates(inner)
            if sign != "+":
                yield ANYTHING
        case _:
            assert_never(path)


# What can match background alone

Background: TypeAlias = bool


def can_be_timeless(group: Group, background: Background) -> bool:
    return all(_can_be_timeless(element, background) for element in group.elements)


def _can_be_timeless(element: Element, background: Background) -> bool:
    match element:
        case Triples(patterns):
            return background or all(_zero_length(p.predicate, p.subject, p.object) for p in patterns)
        case Group():
            return can_be_timeless(element, background)
        case Chain(first, rest):
            found = can_be_timeless(first, background)
            for operator, group in rest:
                right = can_be_timeless(group, background)
                match operator:
                    case Operator.SEQ | Operator.EQUALS:
                        found = found and right
                    case Operator.OPTIONALSEQ:
                        found = right
                    case Operator.UNION:
                        found = found or right
                    case Operator.EQUALSOPTIONAL:
                        pass
                    case _:
                        assert_never(operator)
            return found
        case Optional() | Minus() | Filter() | Bind() | Values() | InGraph():
            return True
        case SubSelect(select):
            return can_be_timeless(select.where, background)
        case _:
            assert_never(element)


def _zero_length(path: Var | Path, subject: Slot, object: Slot) -> bool:
    """A path that can have the length zero matches a term that the query writes (EP-65); EXISTS may write any."""
    match path:
        case Var() | Iri():
            return False
        case Inverse(inner):
            return _zero_length(inner, subject, object)
        case Steps(left, right):
            return _zero_length(left, subject, object) and _zero_length(right, subject, object)
        case Either(left, right):
            return _zero_length(left, subject, object) or _zero_length(right, subject, object)
        case Repeat(_, sign):
            return sign != "+"
        case _:
            assert_never(path)
