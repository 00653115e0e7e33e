"""What is true of every EP-SPARQL file, on made-up cases; and that these cases are worth something."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pyoxigraph
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.ep_sparql import TooManyRounds
from oracle.ep_sparql_cases import CORE, Case, Options, answer, cases, emitted, is_emitting, policy_cases
from oracle.ep_sparql_legal import groups_in
from oracle.ep_sparql_query import (
    NAMESPACES,
    And,
    Bind,
    Chain,
    Coalesce,
    Column,
    Compare,
    Element,
    Filter,
    Group,
    Minus,
    Operator,
    Optional,
    Repeat,
    Select,
    SubSelect,
    TimeFunction,
    Triples,
    exists_in,
    in_scope,
    shown,
)
from oracle.ep_sparql_statements import NUMBERS, THINGS
from oracle.ep_sparql_text import text, turtle
from oracle.terms import Iri, Literal, Term, Var, integer
from strategies import examples

Answers = Counter[tuple[object, ...]]


def answers(case: Case) -> Answers:
    try:
        return Counter(emitted(case) if is_emitting(case.file) else answer(case))
    except TooManyRounds:
        assume(False)
        raise


def before(answers: Answers, time: int) -> Answers:
    return Counter({row: count for row, count in answers.items() if isinstance(row[2], int) and row[2] < time})


def test_ep_45_the_rows_of_the_past_are_the_rows_that_end_in_it() -> None:
    """Also that cases are worth something: enough have answers, and those use every operator."""
    total, counts = 0, Counter[str]()

    @examples(3)
    @given(cases(), st.integers(1, 5))
    def look(case: Case, time: int) -> None:
        nonlocal total
        whole = answers(case)
        past = replace(case, events=tuple(event for event in case.events if event[2] < time))
        assert answers(past) == before(whole, time)
        total += 1
        if whole:
            written = text(case.file)
            counts.update(["answers", *(word for word in WORDS if word in written)])

    look()
    wanted = dict.fromkeys(WORDS, 0.005) | {"answers": 0.3, "CONSTRUCT": 0.05}
    assert {word: counts[word] / total for word, share in wanted.items() if counts[word] < share * total} == {}


WORDS = (
    *(
        "} SEQ",
        "} EQUALS ",
        "OPTIONALSEQ",
        "EQUALSOPTIONAL",
        "UNION",
        "OPTIONAL {",
        "MINUS",
        "EXISTS",
        "BIND",
        "VALUES",
    ),
    *("getDURATION", "getSTARTTIME", "getENDTIME", "NOW", "FILTER", "DISTINCT", "ORDER BY", "LIMIT", "OFFSET"),
    *("COUNT", "SUM", "GROUP BY", "{ SELECT", "CONSTRUCT", "BOUND", "COALESCE", "IF"),
)


@given(policy_cases(), st.integers(1, 5))
def test_ep_45_holds_under_a_policy(case: Case, time: int) -> None:
    past = replace(case, events=tuple(event for event in case.events if event[2] < time))
    assert answers(past) == before(answers(case), time)


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_at_the_source_decides_only_which_events_are_listed(case: Case, random: Random) -> None:
    assume(not is_emitting(case.file))
    shuffled = list(case.events)
    random.shuffle(shuffled)
    other = replace(case, events=tuple(shuffled))
    assert without_events(answers(case)) == without_events(answers(other))


def without_events(answers: Answers) -> Answers:
    found: Answers = Counter()
    for row, count in answers.items():
        found[row[:-1]] += count
    return found


@given(policy_cases())
def test_ep_66_a_policy_selects_some_of_the_rows(case: Case) -> None:
    everything = without_events(answers(replace(case, policy="unrestricted")))
    assert without_events(answers(case)) <= everything


# Operators by other operators

FIRST, LAST = integer(-99), integer(99)
"""A start or an end of what is timeless: before all, after all."""


def timed(group: Group, *, name: str) -> Group:
    """The group with its start and its end as variables; −∞ and +∞ as EP-35 has them."""
    start, end = Coalesce((TimeFunction.START, LAST)), Coalesce((TimeFunction.END, FIRST))
    return Group((*group.elements, Bind(start, name + "start"), Bind(end, name + "end")))


def leftmost(case: Case) -> tuple[Group, Group]:
    """The first two operands of some chain."""
    assert isinstance(case.file[0], Select)
    chains = [element for element in case.file[0].where.elements if isinstance(element, Chain)]
    assume(chains)
    return chains[0].first, chains[0].rest[0][1]


def of_whole(case: Case, *elements: Element) -> Answers:
    names = [name for name in in_scope(Group(elements)) if name not in ("astart", "aend", "bstart", "bend")]
    assume(names)
    return answers(replace(case, file=(Select(tuple(map(Column, names)), Group(elements)),)))


@given(cases(CORE))
def test_ep_18_seq_is_a_join_whose_left_side_ends_before_the_right_one_starts(case: Case) -> None:
    a, b = leftmost(case)
    joined = of_whole(case, timed(a, name="a"), timed(b, name="b"), Filter(Compare("<", Var("aend"), Var("bstart"))))
    assert of_whole(case, Chain(a, ((Operator.SEQ, b),))) == joined


@given(cases(CORE))
def test_ep_19_equals_is_a_join_of_equal_intervals(case: Case) -> None:
    a, b = leftmost(case)
    starts, ends = (Compare("=", Var("a" + end), Var("b" + end)) for end in ("start", "end"))
    joined = of_whole(case, timed(a, name="a"), timed(b, name="b"), Filter(And(starts, ends)))
    assert of_whole(case, Chain(a, ((Operator.EQUALS, b),))) == joined


# Downward compatibility

PLAIN = Options(
    rules=False,
    modifiers=False,
    reasoning=False,
    graph=False,
    background=False,
    time_functions=False,
    doubles=False,  # Oxigraph adds and writes them otherwise
    operators=(Operator.UNION,),
)


@examples(3)
@given(cases(PLAIN))
def test_ep_41_a_plain_query_over_triples_of_one_time_has_the_answers_of_sparql(case: Case) -> None:
    query = case.file[0]
    assert isinstance(query, Select)
    whole = Group((SubSelect(query),))
    assume(has_stream_triple(whole) and left_sides_have_stream_triples(whole))
    assume("Either(" not in repr(query))  # Oxigraph gives a pair that both sides of `|` join once, SPARQL twice
    assume("<=" not in repr(query) and ">=" not in repr(query))  # for Oxigraph, an IRI is `<=` itself
    assume("operator='/'" not in repr(query))  # for Oxigraph, 0 / 1.5 is an error
    # Oxigraph does not substitute in the FILTER of such an EXISTS
    assume(not re.search(r"EXISTS \{.*OPTIONAL.*FILTER", text((query,))))
    # Oxigraph has no zero-length path at a term that is nowhere in the data; so every term is there
    everywhere = {(thing, Iri("u"), number) for thing, number in zip(THINGS, NUMBERS, strict=True)}
    triples = everywhere | {triple for _, _, _, event in case.events for triple in event}
    one = replace(case, file=(query,), events=(("e", 3, 3, tuple(sorted(triples, key=repr))),))
    found: Counter[tuple[object, ...]] = Counter()
    for _, start, end, bindings, _ in answer(one):
        assert (start, end) == (3, 3)
        found[tuple((name, value(term)) for name, term in bindings)] += 1
    assert found == sparql(query, turtle(triples))


def has_stream_triple(group: Group) -> bool:
    """Has every solution of the group one?"""
    return any(map(_has_stream_triple, group.elements))


def _has_stream_triple(element: Element) -> bool:
    match element:
        case Triples(patterns):
            return not all(isinstance(pattern.predicate, Repeat) for pattern in patterns)
        case Group():
            return has_stream_triple(element)
        case Chain(first, rest):
            return all(has_stream_triple(arm) for arm in (first, *(right for _, right in rest)))
        case SubSelect(select):
            return has_stream_triple(select.where)
        case _:
            return False


def left_sides_have_stream_triples(group: Group) -> bool:
    """What EP-41 requires of OPTIONAL, MINUS and EXISTS; and aggregates of something (EP-61)."""
    for number, element in enumerate(group.elements):
        left = Group(group.elements[:number])
        match element:
            case Optional() | Minus() if not has_stream_triple(left):
                return False
            case Bind(expression) if exists_in(expression) and not has_stream_triple(left):
                return False
            case Filter(expression) if exists_in(expression) and not has_stream_triple(group):
                return False
            case SubSelect(select) if select.aggregated and not select.group_by:
                return False
        if not all(map(left_sides_have_stream_triples, groups_in(element))):
            return False
    return True


def sparql(query: Select, data: str) -> Counter[tuple[object, ...]]:
    """What another implementation of SPARQL answers."""
    store = pyoxigraph.Store()
    store.load(data.encode(), pyoxigraph.RdfFormat.TURTLE)
    found = store.query(text((query,)))
    assert isinstance(found, pyoxigraph.QuerySolutions)
    names = sorted(shown(query))
    return Counter(tuple((name, other_value(row[name])) for name in names if row[name] is not None) for row in found)


def value(term: Term) -> object:
    match term:
        case Literal(lexical, "decimal"):
            return round(Fraction(lexical), 9)
        case Literal(lexical, datatype):
            return (lexical, datatype)
        case Iri(name):
            return name
        case _:
            return "blank"


def other_value(term: object) -> object:
    match term:
        case pyoxigraph.NamedNode():
            return term.value.removeprefix(NAMESPACES[""])
        case pyoxigraph.Literal():
            datatype = term.datatype.value.partition("#")[2]
            return round(Fraction(term.value), 9) if datatype == "decimal" else (term.value, datatype)
        case _:
            return "blank"
