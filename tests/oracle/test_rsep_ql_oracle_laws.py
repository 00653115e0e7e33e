"""What is true of every RSEP-QL query, on made-up cases; and that these cases are worth something."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any, TypeAlias

import pyoxigraph
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle import ep_sparql, ep_sparql_query, rsep_ql
from oracle.graphs import compatible
from oracle.rsep_ql import Dataset, canonical, settle, stream_events
from oracle.rsep_ql_cases import (
    MATCHES,
    WINDOWS,
    Case,
    Options,
    answer,
    cases,
    consumes,
    emitted,
    is_construct,
    random_cases,
    settles_events,
)
from oracle.rsep_ql_events import EventEvaluation, EventMapping, contents
from oracle.rsep_ql_query import (
    NAMESPACES,
    At,
    Event,
    EventDefinition,
    First,
    Group,
    Identity,
    InGraph,
    Interval,
    InWindow,
    Key,
    Landmark,
    Last,
    Match,
    NamedWindow,
    Now,
    OnContent,
    Output,
    Pattern,
    Policy,
    Query,
    Range,
    Select,
    Seq,
    Triples,
    WindowFunction,
    every,
    numbered,
    shown,
)
from oracle.rsep_ql_sparql import Bag
from oracle.rsep_ql_statements import NUMBERS, THINGS
from oracle.rsep_ql_text import text
from oracle.terms import Blank, Graph, Iri, Literal, Term, Triple, Var, integer
from strategies import examples

Answers: TypeAlias = Counter[tuple[object, ...]]


def varied(options: Options) -> st.SearchStrategy[Case]:
    """Cases that are more varied than those that Hypothesis makes up bit by bit."""
    return st.integers(0, 10**6).map(lambda seed: next(random_cases(seed, options)))


def everything(case: Case) -> list[tuple[int, Bag]]:
    return rsep_ql.answers(case.query, case.events, case.background, **case.inputs)


def with_output(case: Case, output: Output) -> Case:
    return replace(case, query=replace(case.query, output=output))


def bags(case: Case) -> list[tuple[int, Counter[object]]]:
    return [(t, Counter(row.mapping for row in bag)) for t, bag in everything(case)]


def rewritten(node: Any, rewrite: Any) -> Any:
    """The node with `rewrite` applied to all its parts, from the inside."""
    if isinstance(node, tuple):
        return tuple(rewritten(each, rewrite) for each in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {field.name: rewritten(getattr(node, field.name), rewrite) for field in fields(node)}
    return rewrite(replace(node, **changed))


# Cases


WORDS = (
    *(
        "WINDOW",
        "MATCH",
        "FIRST",
        "LAST",
        "SEQ E",
        "SEQ CHRONOLOGICAL",
        "SEQ RECENT",
        "SEQ NAIVE",
        "GRAPH :",
        "GRAPH ?",
    ),
    *("[RANGE", "SLIDE", "[LND", "[FROM", "WIN []", "WIN AS", ":T WIN", "REPORT ON CONTENT", "REPORT ON CLOSE"),
    *("REPORT EVERY", "REPORT AT", "RSTREAM", "ISTREAM", "DSTREAM", "CONSTRUCT", "FROM <", "FROM NAMED <"),
    *("OPTIONAL", "UNION", "MINUS", "EXISTS", "BIND", "VALUES", "FILTER", "NOW", "DISTINCT", "ORDER BY", "LIMIT"),
    *(
        "OFFSET",
        "COUNT",
        "SUM",
        "AVG",
        "MIN(",
        "MAX(",
        "NOT EXISTS",
        "GROUP BY",
        "HAVING",
        "{ SELECT",
        "BOUND",
        "COALESCE",
        "IF",
        "_:l",
    ),
)


def test_cases_are_worth_something() -> None:
    """Enough have answers, at several evaluations, and those use every word of the language."""
    total, counts = 600, Counter[str]()
    for case in islice(random_cases(1), total):
        found: list[Any] = list(emitted(case) if is_construct(case) else answer(case))
        if found:
            written = text(case.query)
            counts.update(["answers", *(word for word in WORDS if word in written)])
            counts.update(["several"] * (len({row[0] for row in found}) > 1))
            counts.update(["consumption"] * consumes(case) + ["preset"] * (case.preset is not None))
            counts.update(["report"] * (case.report is not None))
            counts.update(["blank"] * any("Blank" in repr(row) for row in found))
            versions = [graph for graph in (case.named or {}).values() if graph and len(graph[0]) == 2]
            counts.update(["versions"] * bool(versions))
    wanted = dict.fromkeys(WORDS, 0.002) | {"answers": 0.4, "several": 0.2, "consumption": 0.08, "preset": 0.05}
    wanted |= {"report": 0.05, "blank": 0.02, "versions": 0.02}
    assert {word: counts[word] / total for word, share in wanted.items() if counts[word] < share * total} == {}


@given(cases(), st.randoms(use_true_random=False))
def test_c_13_the_order_at_the_source_decides_nothing(case: Case, random: Random) -> None:
    assume(not is_construct(case))
    shuffled = list(case.events)
    random.shuffle(shuffled)
    other = answer(replace(case, events=tuple(shuffled)))
    until = 3 if settles_events(case) else 2
    assert Counter(row[:until] for row in answer(case)) == Counter(row[:until] for row in other)


@given(varied(Options()), st.integers(-2, 9))
def test_rs_14_an_evaluation_sees_the_events_up_to_its_time(case: Case, time: int) -> None:
    case = replace(case, query=replace(case.query, report=OnContent()))
    past = replace(case, events=tuple(event for event in case.events if event[3] <= time))
    assert everything(past) == [(t, bag) for t, bag in everything(case) if t <= time]


# Output


@examples(2)
@given(varied(Options()))
def test_rs_51_an_answer_is_the_previous_one_with_istream_and_without_dstream(case: Case) -> None:
    previous: Counter[object] = Counter()
    kinds = (bags(with_output(case, output)) for output in (Output.RSTREAM, Output.ISTREAM, Output.DSTREAM))
    for (t, now), (other, gained), (third, lost) in zip(*kinds, strict=True):
        assert t == other == third
        assert previous + gained - lost == now
        assert not gained & lost
        previous = now


def test_rs_53_construct_emits_at_most_one_event_per_evaluation() -> None:
    for case in islice(filter(is_construct, random_cases(4)), 60):
        made = emitted(case)
        assert [t for t, _ in made] == sorted({t for t, _ in made})
        assert {t for t, _ in made} <= {t for t, bag in everything(case) if bag}
        assert all(triples == canonical(triples) for _, triples in made)


@given(st.lists(st.tuples(*[st.sampled_from([Blank("a"), Blank("b"), Blank("c"), Iri("d")])] * 2), max_size=5))
def test_canonical_graphs_are_equal_under_renaming(pairs: list[tuple[Term, Term]]) -> None:
    """Also that the two differ where the graphs do."""
    graph: Graph = frozenset((s, Iri("p"), o) for s, o in pairs)
    renaming = dict(zip("abc", "cab", strict=True))
    other: Graph = rewritten(
        tuple(graph), lambda node: Blank(renaming[node.label]) if isinstance(node, Blank) else node
    )
    assert canonical(graph) == canonical(other)
    assert len(canonical(graph)) == len(graph)


# Windows


@given(varied(Options(presets=False)))
def test_rs_9_all_windows_that_hold_everything_are_equal(case: Case) -> None:
    def over(function: WindowFunction) -> list[tuple[int, Counter[object]]]:
        windows = tuple(replace(window, function=function) for window in case.query.windows)
        return bags(replace(case, query=replace(case.query, windows=windows, report=At((0, 4, 7)))))

    whole = over(Identity())
    for function in (Landmark(-9), Interval(-9, 99), Range(99), Identity(brackets=False), Range(99, 1)):
        assert over(function) == whole


@given(varied(WINDOWS))
def test_rs_23_given_times_show_what_every_instant_answers(case: Case) -> None:
    """Without consumption an evaluation depends on nothing but its time."""
    case = with_output(case, Output.RSTREAM)
    found = everything(case)
    assume(found)
    times = At(tuple(t for t, _ in found))
    assert everything(replace(case, query=replace(case.query, report=times))) == found


# SPARQL over the merge: equation (3)

OF_SPARQL = replace(WINDOWS, modifiers=False, blanks=False, constructs=False, asks=False, reports=False, doubles=0)
"""Oxigraph adds and writes doubles otherwise."""


@examples(5)
@given(varied(OF_SPARQL), st.integers(-2, 9))
def test_rs_24_window_is_sparql_over_the_merge(case: Case, t: int) -> None:
    """The windows as named graphs, to another implementation of SPARQL; NOW() as a number."""
    query = case.query.form
    assert isinstance(query, Select)
    assume(not any(isinstance(each.graph, Var) for each in every(InGraph, query)))  # it would range over windows
    assume("Either(" not in repr(query))  # Oxigraph gives a pair that both sides of `|` join once, SPARQL twice
    # for Oxigraph, an IRI is `<=` itself, and not `<`; for SPARQL, both are errors
    assume("<=" not in repr(query) and ">=" not in repr(query))
    assume(not ("COALESCE" in text(case.query) and re.search("operator='[<>]'", repr(query))))
    assume("operator='/'" not in repr(query))  # for Oxigraph, 0 / 1.5 is an error
    # Oxigraph does not know ?k of GROUP BY (?x AS ?k)
    assume(not any(key.name and isinstance(key.expression, Var) for key in every(Key, query)))
    # Oxigraph substitutes in an EXISTS what only groups further out bind, and not in a FILTER after OPTIONAL
    several = len(query.where.elements) > 1 or re.search("OPTIONAL|UNION|MINUS|GRAPH|{ SELECT", text(case.query))
    assume(not (several and "EXISTS" in text(case.query)))

    def plain(node: Any) -> Any:
        match node:
            case InWindow(name, group):
                return InGraph(Iri(name), group)
            case Now():
                return integer(t)
            case _:
                return node

    plain_query: Select = rewritten(query, plain)
    # Oxigraph has no zero-length path at a term that is nowhere in the data; so every term is everywhere
    terms = tuple((thing, Iri("u"), number) for thing, number in zip(THINGS, NUMBERS, strict=True))
    events = tuple((stream, f"{stream} terms", -2, -2, terms) for stream in sorted(case.query.streams))
    named = {iri: add(graph, terms) for iri, graph in (case.named or {}).items()}
    case = replace(
        case,
        query=replace(case.query, output=None, report=At((t,)), windows=tuple(map(holding, case.query.windows))),
        events=(*case.events, *events),
        background=(*case.background, *terms),
        named=named,
    )
    found = Counter(tuple((name, value(term)) for name, term in bindings) for _, bindings, _ in answer(case))
    assert found == sparql(plain_query, graphs(case, t))


def add(graph: Any, terms: tuple[Triple, ...]) -> Any:
    if graph and len(graph[0]) == 2:
        return [(-99, terms), *((time, (*triples, *terms)) for time, triples in graph)]
    return (*graph, *terms)


def holding(window: NamedWindow) -> NamedWindow:
    """The window with a lower bound that holds the terms of all evaluations."""
    match window.function:
        case Range(_, slide):
            return replace(window, function=Range(99, None if slide is None else 1))
        case Landmark() | Interval():
            return replace(window, function=Landmark(-2))
        case Identity():
            return window


def graphs(case: Case, t: int) -> dict[str, Graph]:
    """All graphs of the dataset at t; the default graph is ""."""
    settled = settle(case.query)
    events = stream_events(settled, case.events)
    named = {iri: rsep_ql.versions(graph) for iri, graph in (case.named or {}).items()}
    snapshot = Dataset(settled, frozenset(case.background), named).at(t)
    held = {
        name: frozenset().union(*(each.graph for each in found)) for name, found in contents(settled, events, t).items()
    }
    return {"": snapshot.default, **snapshot.named, **held}


def sparql(query: Select, dataset: dict[str, Graph]) -> Answers:
    """What another implementation of SPARQL answers."""
    store = pyoxigraph.Store()
    for iri, graph in dataset.items():
        name = pyoxigraph.NamedNode(NAMESPACES[""] + iri) if iri else pyoxigraph.DefaultGraph()
        for s, p, o in graph:
            store.add(pyoxigraph.Quad(node(s), node(p), node(o), name))
    found = store.query(text(Query(query, ())))
    assert isinstance(found, pyoxigraph.QuerySolutions)
    names = sorted(shown(query))
    return Counter(tuple((name, other_value(row[name])) for name in names if row[name] is not None) for row in found)


def node(term: Term) -> Any:
    match term:
        case Iri(name):
            return pyoxigraph.NamedNode(NAMESPACES[""] + name)
        case Literal(lexical):
            return pyoxigraph.Literal(
                lexical, datatype=pyoxigraph.NamedNode("http://www.w3.org/2001/XMLSchema#integer")
            )
        case Blank(label, event):
            return pyoxigraph.BlankNode(f"{label}{event}")


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


# Event patterns


def event_mappings(case: Case, pattern: Any, t: int) -> list[EventMapping]:
    """⟨⟨E⟩⟩ at t, before anything is consumed."""
    settled = settle(case.query)
    named = {iri: rsep_ql.versions(graph) for iri, graph in (case.named or {}).items()}
    snapshot = Dataset(settled, frozenset(case.background), named).at(t)
    windows = contents(settled, stream_events(settled, case.events), t)
    found = EventEvaluation(settled, snapshot, windows).pattern(pattern)
    assert len(set(found)) == len(found)
    return found


def an_event_pattern(case: Case) -> Any:
    found = next(every(Match, case.query), None)
    assume(found is not None)
    assert found is not None
    return found.pattern


@examples(3)
@given(varied(Options()), st.integers(0, 9))
def test_rs_29_unrestricted_seq_is_a_join_whose_left_side_ends_before_the_right_one_starts(case: Case, t: int) -> None:
    assume(case.query.events)
    names = [event.name for event in case.query.events]
    left, right = Event(names[0]), Event(names[-1])
    joined = {
        (a.mapping | b.mapping, a.start, b.end, a.events + b.events)
        for a, b in product(event_mappings(case, left, t), event_mappings(case, right, t))
        if compatible(a.mapping, b.mapping) and a.end < b.start
    }
    found = event_mappings(case, Seq(left, right), t)
    assert {(each.mapping, each.start, each.end, each.events) for each in found} == joined


@given(varied(Options()), st.integers(0, 9))
def test_rs_29_unrestricted_seq_is_associative(case: Case, t: int) -> None:
    assume(case.query.events)
    a, *rest = (Event(event.name) for event in case.query.events)
    b, c = (rest * 2)[:2] if rest else (a, a)
    whole = set(event_mappings(case, Seq(Seq(a, b), c), t))
    assert whole == set(event_mappings(case, Seq(a, Seq(b, c)), t))


@examples(3)
@given(varied(replace(MATCHES, policies=(None, Policy.CHRONOLOGICAL, Policy.RECENT))), st.integers(0, 9))
def test_rs_40_first_last_and_policies_select_some_of_the_answers(case: Case, t: int) -> None:
    pattern = an_event_pattern(case)

    def unrestricted(node: Any) -> Any:
        match node:
            case Seq(left, right):
                return Seq(left, right)
            case First(inner) | Last(inner):
                return inner
            case _:
                return node

    every_one = set(event_mappings(case, rewritten(pattern, unrestricted), t))
    chosen = set(event_mappings(case, pattern, t))
    assert chosen <= every_one
    flat = all(isinstance(seq.right, Event) for seq in every(Seq, pattern))  # inside E2 they know no partners (RS-36)
    if flat and not list(every(First, pattern)) and not list(every(Last, pattern)):
        assert bool(chosen) == bool(every_one)


@given(varied(MATCHES), st.integers(0, 9))
def test_rs_37_first_and_last_of_first_are_first(case: Case, t: int) -> None:
    pattern = an_event_pattern(case)
    assert event_mappings(case, Last(First(pattern)), t) == event_mappings(case, First(pattern), t)
    assert bool(event_mappings(case, First(pattern), t)) == bool(event_mappings(case, pattern, t))


@examples(3)
@given(varied(replace(MATCHES, presets=False)))
def test_rs_46_a_match_that_consumes_uses_no_event_at_two_evaluations(case: Case) -> None:
    pattern = an_event_pattern(case)
    assume(any(seq.policy and seq.policy.value != "NAIVE" for seq in every(Seq, pattern)))
    query = replace(case.query, form=Select(None, Group((Match(pattern),))), output=None)
    seen: dict[str, int] = {}
    for t, _, ids in answer(replace(case, query=query)):
        assert {seen.setdefault(id, t) for id in ids} == {t}


def test_numbered_matches_stand_in_the_order_of_the_text() -> None:
    for case in islice(random_cases(2, MATCHES), 50):
        numbers = [match.number for match in every(Match, numbered(case.query))]
        assert numbers == list(range(1, len(numbers) + 1))
        patterns = [match.pattern for match in every(Match, numbered(case.query))]
        assert patterns == [match.pattern for match in every(Match, case.query)]


# EP-SPARQL by a preset


@st.composite
def flat_chains(draw: st.DrawFn) -> tuple[list[Pattern], list[tuple[str, int, int, tuple[Triple, ...]]]]:
    """RS-62: a flat chain over EVENTs of one triple each, point events without equal triples at one time."""
    names = st.sampled_from("xyz")
    chain = [
        Pattern(Var(draw(names)), Iri(draw(st.sampled_from("pq"))), Var(draw(names)))
        for _ in range(draw(st.integers(2, 3)))
    ]
    events: list[tuple[str, int, int, tuple[Triple, ...]]] = []
    seen = set()
    for number in range(draw(st.integers(2, 9))):
        time = draw(st.integers(0, 6))
        made = []
        for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
            pattern = draw(st.sampled_from(chain))
            things = {name: draw(st.sampled_from(THINGS[:2])) for name in "xyz"}
            assert isinstance(pattern.subject, Var) and isinstance(pattern.object, Var)
            triple = (things[pattern.subject.name], pattern.predicate, things[pattern.object.name])
            assert isinstance(triple[1], Iri)
            if (triple, time) not in seen:
                seen.add((triple, time))
                made.append((triple[0], triple[1], triple[2]))
        if made:
            events.append((f"e{number}", time, time, tuple(made)))
    return chain, events


@examples(3)
@given(flat_chains(), st.sampled_from(["unrestricted", "chronological", "recent"]))
def test_rs_62_ep_sparql_under_a_policy_emits_what_the_preset_emits(
    made: tuple[list[Pattern], list[tuple[str, int, int, tuple[Triple, ...]]]], policy: str
) -> None:
    chain, events = made
    groups = [ep_sparql_query.Group((Triples((pattern,)),)) for pattern in chain]
    rest = tuple((ep_sparql_query.Operator.SEQ, group) for group in groups[1:])
    where = ep_sparql_query.Group((ep_sparql_query.Chain(groups[0], rest),))
    expected = ep_sparql.rows((ep_sparql_query.Select(None, where),), events, policy=policy)
    definitions = tuple(
        EventDefinition(f"E{number}", "w", Group((Triples((pattern,)),))) for number, pattern in enumerate(chain)
    )
    sequence: Any = Event("E0")
    for definition in definitions[1:]:
        sequence = Seq(sequence, Event(definition.name))
    query = Query(
        Select(None, Group((Match(sequence),))), (NamedWindow("w", "S", Identity(brackets=False)),), definitions
    )
    found = rsep_ql.rows(query, [("S", *event) for event in events], preset=f"ep-sparql-{policy}")
    assert Counter((t, bindings) for t, bindings, _ in found) == Counter((row[2], row[3]) for row in expected)
