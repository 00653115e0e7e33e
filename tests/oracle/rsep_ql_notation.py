"""Small RSEP-QL cases, written small: `match("E1 SEQ RECENT E2")`, `stream("2: a p b\\n4-6 T: b q 1")`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from oracle.ep_sparql_notation import patterns, shown, triples
from oracle.rsep_ql import GivenEvent, GivenReport, constructed, rows
from oracle.rsep_ql_query import (
    Column,
    Construct,
    Element,
    Event,
    EventDefinition,
    EventPattern,
    First,
    Group,
    Identity,
    Interval,
    InWindow,
    Landmark,
    Last,
    Match,
    NamedWindow,
    Output,
    Policy,
    Query,
    Range,
    Report,
    Select,
    Seq,
    Triples,
    WindowFunction,
)


def group(*elements: Element | str) -> Group:
    return Group(tuple(Triples(patterns(each)) if isinstance(each, str) else each for each in elements))


def window_function(words: str) -> WindowFunction:
    """
    >>> window_function("RANGE 5 SLIDE 2"), window_function("FROM 1 TO 5"), window_function("")
    (Range(width=5, slide=2), Interval(first=1, last=5), Identity(brackets=True))
    """
    match words.split():
        case ["RANGE", width]:
            return Range(int(width))
        case ["RANGE", width, "SLIDE", slide]:
            return Range(int(width), int(slide))
        case ["LND", start]:
            return Landmark(int(start))
        case ["FROM", first, "TO", last]:
            return Interval(int(first), int(last))
        case []:
            return Identity()
        case _:
            raise ValueError(words)


def window(name: str, words: str = "", stream: str = "S") -> NamedWindow:
    return NamedWindow(name, stream, window_function(words))


def event(name: str, on: str, *elements: Element | str) -> EventDefinition:
    return EventDefinition(name, on, group(*elements))


def match(words: str) -> Match:
    """
    >>> match("FIRST A SEQ (B SEQ NAIVE C)").pattern == Seq(
    ...     First(Event("A")), Seq(Event("B"), Event("C"), Policy.NAIVE))
    True
    """
    tokens = words.replace("(", " ( ").replace(")", " ) ").split()
    pattern = _sequence(tokens)
    assert not tokens
    return Match(pattern)


def _sequence(tokens: list[str]) -> EventPattern:
    found = _operand(tokens)
    while tokens and tokens[0] == "SEQ":
        del tokens[0]
        policy = Policy(tokens.pop(0)) if tokens[0] in {each.value for each in Policy} else None
        found = Seq(found, _operand(tokens), policy)
    return found


def _operand(tokens: list[str]) -> EventPattern:
    token = tokens.pop(0)
    if token == "FIRST":
        return First(_operand(tokens))
    if token == "LAST":
        return Last(_operand(tokens))
    if token == "(":
        found = _sequence(tokens)
        assert tokens.pop(0) == ")"
        return found
    return Event(token)


def over(name: str, *elements: Element | str) -> InWindow:
    """WINDOW :name { … }."""
    return InWindow(name, group(*elements))


def select(names: str, *elements: Element | str, distinct: bool = False) -> Select:
    """SELECT of some names, or of `*`."""
    columns = None if names == "*" else tuple(Column(name) for name in names.split())
    return Select(columns, group(*elements), distinct)


def construct(template: str, *elements: Element | str) -> Construct:
    return Construct(patterns(template), group(*elements))


def query(
    form: Select | Construct,
    *declared: NamedWindow | EventDefinition,
    report: Report | None = None,
    output: Output | None = None,
    graphs: str = "",
    named: str = "",
) -> Query:
    return Query(
        form,
        tuple(each for each in declared if isinstance(each, NamedWindow)),
        tuple(each for each in declared if isinstance(each, EventDefinition)),
        tuple(graphs.split()),
        tuple(named.split()),
        report,
        output,
    )


def stream(text: str) -> list[GivenEvent]:
    """An event a line, as `3: a p b . b q 1`, `3~5: a p b` or `3 T: a p b`; their ids are e1, e2, …, their stream S.

    >>> stream("3~5 T: a p b")[0][:4]
    ('T', 'e1', 3, 5)
    """
    found: list[GivenEvent] = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        head, _, graph = line.partition(":")
        times, _, name = head.strip().partition(" ")
        start, _, end = times.partition("~")
        found.append((name or "S", f"e{number}", int(start), int(end or start), triples(graph.strip())))
    return found


def answers(
    of: Query,
    events: Iterable[GivenEvent] | str,
    background: str = "",
    *,
    named: Mapping[str, str | Mapping[int, str]] | None = None,
    report: GivenReport | None = None,
    preset: str | None = None,
    advance: Iterable[int] = (),
) -> list[str]:
    """The rows in words, `3: x=a y=1 | e1 e2`, or a CONSTRUCT's events, `3: a p b . b q c`; by time, then sorted, if
    there is no ORDER BY."""
    given = stream(events) if isinstance(events, str) else events
    unnamed = triples(background) if background else ()
    graphs = {
        iri: triples(graph)
        if isinstance(graph, str)
        else [(time, triples(each) if each else ()) for time, each in graph.items()]
        for iri, graph in (named or {}).items()
    }
    if isinstance(of.form, Construct):
        made = constructed(of, given, unnamed, named=graphs, report=report, preset=preset, advance=advance)
        return [f"{t}: " + " . ".join(sorted(" ".join(map(shown, each)) for each in graph)) for t, graph in made]
    found = rows(of, given, unnamed, named=graphs, report=report, preset=preset, advance=advance)
    lines = []
    for t, bindings, ids in found:
        values = [f"{name}={shown(term)}" for name, term in bindings]
        lines.append((t, " ".join([f"{t}:", *values, *(["|", *ids] if ids else [])])))
    if not of.form.order_by:
        lines.sort()
    return [line for _, line in lines]
