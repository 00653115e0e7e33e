"""The W3C's query evaluation tests through EP-SPARQL: what is plain SPARQL has SPARQL's answers (EP-41).

The default graph is one event, or one event for each triple, all at one time; the named graphs are background. Rows
are compared as a multiset, and where there is ORDER BY once more in order. What EP-41 does not promise is listed by
name, and each list has a test that asks for its reason, so that it can't grow stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import cache

import pyoxigraph as ox
import pytest

import thence
from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Ask,
    Bgp,
    Construct,
    Describe,
    Graph,
    Join,
    OneOrMore,
    Select,
    SparqlQuery,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.traversal import nodes
from thence.errors import InputError, QueryError
from thence.lang.sparql.parser import parse_query
from thence.match import reference_evaluator
from thence.match.sparql_queries import SelectResult
from thence.rdf.terms import IRI, BlankNode, Triple
from thence.runtime.results import Match
from w3c.manifest import Entry, needs_data
from w3c.results import differences, read_graph, read_result
from w3c.suite import CONTEXT, dataset_of, suite

pytestmark = pytest.mark.numba

SERVICE = "sparql11/service"
"""Rejected, as by our SPARQL (EP-16)."""

ENTAILMENT = "sparql11/entailment"
"""Answers under entailment regimes, which plain SPARQL does not give: see test_rdfs_entailment."""

# What is rejected (EP-16): the word that the error names

REJECTED = {
    **{
        f"sparql10/dataset/dawg-dataset-{number}": "FROM"
        for number in ("01", "02", "03", "04", "05", "06", "07", "08", "09b", "10b", "11", "12b")
    },
    "sparql11/functions/uuid01": "UUID",
    "sparql11/functions/struuid01": "STRUUID",
}

# A GRAPH that no background has is an error, and not without solutions (EP-40)

UNKNOWN_GRAPH = frozenset({"sparql10/graph/graph-not-exist"})

# An empty ungrouped aggregate gives no row (EP-61)

EMPTY_AGGREGATE = frozenset(
    f"sparql11/aggregates/agg-{name}" for name in ("avg-03", "empty-group-max-2", "empty-group-count-2")
)

# Rows without a stream triple are not emitted (EP-38, EP-41): how many there are, and why

NAMED_GRAPH = "GRAPH reads background, which is timeless (EP-35)"
NO_PATTERN = "the empty group is timeless (EP-35)"
ZERO_LENGTH = "a zero-length pair of a term that is written in the query is timeless (EP-65)"

WITHOUT_STREAM_TRIPLE = {
    "sparql10/graph/dawg-graph-03": (2, NAMED_GRAPH),
    "sparql10/graph/dawg-graph-06": (1, NAMED_GRAPH),
    "sparql10/graph/dawg-graph-07": (1, NAMED_GRAPH),
    "sparql10/graph/dawg-graph-11": (6, NAMED_GRAPH),
    "sparql10/graph/graph-empty": (2, NAMED_GRAPH),
    "sparql10/graph/graph-exist": (1, NAMED_GRAPH),
    "sparql10/graph/graph-optional": (1, NAMED_GRAPH),
    "sparql10/graph/graph-variable-join": (1, NAMED_GRAPH),
    "sparql10/expr-builtin/case-insensitive-booleans": (1, NO_PATTERN),
    "sparql11/aggregates/agg-empty-group-count-graph": (2, NAMED_GRAPH),
    "sparql11/bindings/graph": (3, NAMED_GRAPH),
    "sparql11/exists/exists03": (1, NAMED_GRAPH),
    "sparql11/functions/bnode02": (1, NO_PATTERN),
    "sparql11/functions/coalesce-empty": (1, NO_PATTERN),
    "sparql11/functions/concat-empty": (1, NO_PATTERN),
    "sparql11/functions/if02": (1, NO_PATTERN),
    "sparql11/functions/iri01": (1, NO_PATTERN),
    "sparql11/functions/iri02": (1, NO_PATTERN),
    "sparql11/functions/replace-case-insensitive": (1, NO_PATTERN),
    "sparql11/negation/graph-minus": (1, NAMED_GRAPH),
    "sparql11/property-path/pp02": (1, ZERO_LENGTH),
    "sparql11/property-path/pp07": (1, NAMED_GRAPH),
    "sparql11/property-path/pp28a": (1, ZERO_LENGTH),
    "sparql11/property-path/pp34": (3, NAMED_GRAPH),
    "sparql11/property-path/pp35": (3, NAMED_GRAPH),
    "sparql11/property-path/pp37": (1, ZERO_LENGTH),
    "sparql11/property-path/zero_or_more_set_end": (1, ZERO_LENGTH),
    "sparql11/property-path/zero_or_more_set_start": (1, ZERO_LENGTH),
    "sparql11/property-path/zero_or_one_set_end": (1, ZERO_LENGTH),
    "sparql11/property-path/zero_or_one_set_start": (1, ZERO_LENGTH),
    "sparql11/subquery/subquery01": (2, NAMED_GRAPH),
    "sparql11/subquery/subquery02": (1, NAMED_GRAPH),
    "sparql11/subquery/subquery03": (2, NAMED_GRAPH),
    "sparql11/subquery/subquery04": (2, NAMED_GRAPH),
    "sparql11/subquery/subquery05": (2, NAMED_GRAPH),
    "sparql11/subquery/subquery07": (2, NAMED_GRAPH),
}

# A test as a stream, a background and a query


class Layout(Enum):
    """How the default graph becomes events."""

    ONE_EVENT = "one event"
    MANY_EVENTS = "an event a triple"


def parsed(entry: Entry) -> thence.Query:
    return thence.parse(f"BASE <{entry.action.iri}>\n{entry.action.text()}", language="ep-sparql")


def default_graph(entry: Entry) -> list[Triple]:
    return [triple for file in entry.data for triple in read_graph(file)]


def events(entry: Entry, layout: Layout) -> list[thence.Event]:
    triples = default_graph(entry)
    graphs = [triples] if layout is Layout.ONE_EVENT else [[triple] for triple in triples]
    return [thence.Event(1, graph, id=f"e{number}") for number, graph in enumerate(graphs)]


def background(entry: Entry) -> dict[str, ox.Store]:
    found = {}
    for file in entry.named:
        store = found[file.iri] = ox.Store()
        store.load(path=file.path, format=ox.RdfFormat.from_extension(file.path.suffix[1:]), base_iri=file.iri)
    return found


def answered(query: thence.Query, entry: Entry, stream: list[thence.Event]) -> list[Match]:
    matches = query.match(stream, background=background(entry) or None)
    return [match for match in matches if isinstance(match, Match)]


def problem(entry: Entry, query: thence.Query, matches: list[Match], *, ordered: bool = False) -> str | None:
    """How the rows differ from the test's; None if they don't."""
    names = tuple(Variable(name) for name in query.columns)
    rows = tuple({Variable(name): term for name, term in match.bindings.items()} for match in matches)
    file = query.algebra
    assert entry.result is not None and isinstance(file, RuleFile)
    (select,) = file.selects
    expected = read_result(entry.result)
    return differences(expected, SelectResult(names, rows), ordered=ordered, reduced=select.reduced)


def expected_rows(entry: Entry) -> tuple[object, ...]:
    assert entry.result is not None
    expected = read_result(entry.result).result
    assert isinstance(expected, SelectResult)
    return expected.rows


def shown(matches: Iterable[Match]) -> Counter[frozenset[tuple[str, object]]]:
    return Counter(frozenset(match.bindings.items()) for match in matches)


# Which tests are compared


def selects() -> Iterator[tuple[Entry, Select]]:
    """The tests of SELECT, each with its query as SPARQL reads it."""
    return ((entry, query) for entry, query in read_suite() if isinstance(query, Select))


@cache
def read_suite() -> tuple[tuple[Entry, SparqlQuery], ...]:
    found = (entry for entry in suite() if entry.folder not in (SERVICE, ENTAILMENT))
    return tuple((entry, parse_query(entry.action.text(), base=entry.action.iri)) for entry in found)


def compared() -> Iterator[tuple[Entry, Select]]:
    """The tests whose answer must be SPARQL's."""
    excepted = {*REJECTED, *UNKNOWN_GRAPH, *EMPTY_AGGREGATE, *WITHOUT_STREAM_TRIPLE}
    return ((entry, query) for entry, query in selects() if entry.id not in excepted)


def named(ids: Iterable[str]) -> list[object]:
    wanted = frozenset(ids)
    found = [(entry, query) for entry, query in read_suite() if entry.id in wanted]
    return [pytest.param(entry, query, id=entry.id) for entry, query in found]


def layouts() -> Iterator[object]:
    for entry, query in compared():
        yield pytest.param(entry, Layout.ONE_EVENT, id=f"{entry.id}, one event")
        if can_be_split(entry, query):
            yield pytest.param(entry, Layout.MANY_EVENTS, id=f"{entry.id}, an event a triple")


def can_be_split(entry: Entry, query: Select) -> bool:
    """Whether the triples may stand in several events: paths match within one (EP-63), and so do blank nodes."""
    has_path = any(isinstance(node, ZeroOrMore | OneOrMore | ZeroOrOne) for node in nodes(query))
    triples = default_graph(entry)
    has_blank = any(isinstance(term, BlankNode) for triple in triples for term in triple)
    return len(triples) > 1 and not has_path and not has_blank


@needs_data
@pytest.mark.parametrize(("entry", "layout"), list(layouts()))
def test_plain_sparql_has_its_answers(entry: Entry, layout: Layout) -> None:
    """EP-41."""
    query = parsed(entry)
    matches = answered(query, entry, events(entry, layout))
    assert problem(entry, query, matches) is None, problem(entry, query, matches)


def ordered() -> Iterator[object]:
    for entry, query in compared():
        if query.modifiers.order:
            yield pytest.param(entry, id=entry.id)


@needs_data
@pytest.mark.parametrize("entry", list(ordered()))
def test_rows_of_one_time_are_in_the_order_of_order_by(entry: Entry) -> None:
    """EP-62, EP-41."""
    query = parsed(entry)
    matches = answered(query, entry, events(entry, Layout.ONE_EVENT))
    assert problem(entry, query, matches, ordered=True) is None


@needs_data
@pytest.mark.parametrize(("entry", "query"), named(REJECTED))
def test_what_has_no_meaning_over_streams_is_rejected_by_name(entry: Entry, query: Select) -> None:
    """EP-16."""
    with pytest.raises(QueryError, match=rf"\b{REJECTED[entry.id]} is not supported"):
        parsed(entry)


@needs_data
def test_ask_describe_and_service_are_rejected_by_name() -> None:
    """EP-16."""
    for entry in suite():
        if entry.folder == SERVICE:
            with pytest.raises(QueryError, match="SERVICE is not supported"):
                parsed(entry)
    for entry, query in read_suite():
        if isinstance(query, Ask | Describe):
            with pytest.raises(QueryError, match="ASK" if isinstance(query, Ask) else "DESCRIBE"):
                parsed(entry)


@needs_data
@pytest.mark.parametrize(("entry", "query"), named(UNKNOWN_GRAPH))
def test_a_graph_that_no_background_has_is_an_error(entry: Entry, query: Select) -> None:
    """EP-40."""
    with pytest.raises(InputError, match="no background data has it"):
        answered(parsed(entry), entry, events(entry, Layout.ONE_EVENT))


@needs_data
@pytest.mark.parametrize(("entry", "query"), named(EMPTY_AGGREGATE))
def test_an_empty_ungrouped_aggregate_has_no_row(entry: Entry, query: Select) -> None:
    """EP-61: WHERE has no solution, so that SPARQL's one row is of the empty group."""
    assert not list(reference_evaluator.solutions(query.where, dataset_of(entry, query), CONTEXT))
    assert len(expected_rows(entry)) == 1 and query.modifiers.group is None
    assert answered(parsed(entry), entry, events(entry, Layout.ONE_EVENT)) == []


MARKER = (IRI("urn:marker:s"), IRI("urn:marker:p"), IRI("urn:marker:o"))
"""Joined to WHERE, it gives every row a stream triple."""


@needs_data
@pytest.mark.parametrize(("entry", "query"), named(WITHOUT_STREAM_TRIPLE))
def test_the_rows_that_are_missing_are_those_without_a_stream_triple(entry: Entry, query: Select) -> None:
    """EP-38, EP-41: with the marker all of SPARQL's rows are found; those that are missing without it have no event
    but the marker's."""
    plain = parsed(entry)
    stream = events(entry, Layout.ONE_EVENT)
    marked = answered(with_marker(plain), entry, [*stream, thence.Event(1, [MARKER], id="marker")])
    marked = [match for match in marked if MARKER[0] not in match.bindings.values()]
    assert problem(entry, plain, marked) is None, problem(entry, plain, marked)
    missing = [match for match in marked if [event.id for event in match.events] == ["marker"]]
    found = answered(plain, entry, stream)
    assert shown(found) == shown(marked) - shown(missing)
    count, reason = WITHOUT_STREAM_TRIPLE[entry.id]
    assert len(missing) == count and reason == why_timeless(query)


def why_timeless(query: Select) -> str:
    if query.where == Bgp(()):
        return NO_PATTERN
    return NAMED_GRAPH if any(isinstance(node, Graph) for node in nodes(query)) else ZERO_LENGTH


def with_marker(query: thence.Query) -> thence.Query:
    """The query over WHERE joined with the marker."""
    file = query.algebra
    assert isinstance(file, RuleFile)
    (select,) = file.selects
    where = Join(Bgp((TriplePattern(*MARKER),)), select.where)
    return replace(query, algebra=replace(file, statements=(replace(select, where=where),)))


@needs_data
def test_every_exception_is_a_test_and_all_others_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter(entry.folder for entry, _ in compared())
    split = Counter(entry.folder for entry, query in compared() if can_be_split(entry, query))
    constructs = sum(isinstance(query, Construct) for _, query in read_suite())
    with capsys.disabled():
        print("\nW3C query evaluation tests of SELECT, through EP-SPARQL at one time:")
        for folder, count in sorted(counts.items()):
            print(f"  {folder:34} {count:4}, {split[folder]:4} also as an event a triple")
        print(f"  {'together':34} {counts.total():4}, {split.total():4} also as an event a triple")
        print(f"  rejected (EP-16): {len(REJECTED)}; an unknown graph (EP-40): {len(UNKNOWN_GRAPH)}")
        print(f"  empty ungrouped aggregates (EP-61): {len(EMPTY_AGGREGATE)}")
        print(f"  rows without a stream triple are missing (EP-38): {len(WITHOUT_STREAM_TRIPLE)}")
        print(f"  left out: {constructs} of CONSTRUCT, which feeds the stream (EP-46); {ENTAILMENT}")
    exceptions = [*REJECTED, *UNKNOWN_GRAPH, *EMPTY_AGGREGATE, *WITHOUT_STREAM_TRIPLE]
    assert counts.total() >= 399
    assert split.total() >= 309
    assert Counter(exceptions).total() == len(set(exceptions))
    assert {entry.id for entry, _ in selects()} >= {*exceptions}
