"""Small cases, written small: `line("a1 b1=c1 x")` is three instants, `ask("A, B")` a query over what stands there.

The event `a1` has one subject, `:a1`, of the type `:A`, and the properties that it is given; the GPM `A` finds it as
`?a`, and its properties as the variables that it names.
"""

from __future__ import annotations

from collections.abc import Iterable

from oracle.expressions import Expression
from oracle.notation import read
from oracle.spaseq import Background, evaluate
from oracle.spaseq_legal import check
from oracle.spaseq_query import Column, Event, Gpm, GraphBlock, Query, Within, uses
from oracle.spaseq_rows import Cell, rows
from oracle.terms import Graph, Iri, Term, Triple, TriplePattern, Var, integer

TYPE = Iri("type")

Given = int | str | Term


def term(value: Given) -> Term:
    """A number stays one, a word is an IRI."""
    match value:
        case int():
            return integer(value)
        case str():
            return Iri(value)
        case _:
            return value


def event(
    name: str, time: int, *, stream: str = "S1", lasts: int = 0, **properties: Given | tuple[Given, ...]
) -> Event:
    """An event of one subject. A tuple gives a property several values."""
    subject = Iri(name)
    graph: set[Triple] = {(subject, TYPE, Iri(name[0].upper()))}
    for key, value in properties.items():
        graph |= {(subject, Iri(key), term(each)) for each in (value if isinstance(value, tuple) else (value,))}
    return Event(stream, time, frozenset(graph), name, lasts)


def line(text: str, *, stream: str = "S1") -> list[Event]:
    """Events at the times 1, 2, 3, …; `=` joins those of one time.

    >>> [(event.id, event.time) for event in line("a1 b1=c1 x")]
    [('a1', 1), ('b1', 2), ('c1', 2), ('x', 3)]
    """
    return [
        event(name, time, stream=stream)
        for time, names in enumerate(text.split(), start=1)
        for name in names.split("=")
    ]


def gpm(
    name: str,
    *filters: Expression,
    on: str = "S1",
    graphs: tuple[GraphBlock, ...] = (),
    subject: str | None = None,
    **properties: str | Given,
) -> Gpm:
    """`?a a :A`, and a triple for each property: of the variable that `?x` names, or of a constant."""
    own = Var(subject or name.lower())
    triples: list[TriplePattern] = [(own, TYPE, Iri(name))]
    triples += [(own, Iri(key), slot(value)) for key, value in properties.items()]
    return Gpm(name, on, tuple(triples), filters, graphs)


def slot(value: Given) -> Var | Term:
    return Var(value[1:]) if isinstance(value, str) and value.startswith("?") else term(value)


def pattern(*triples: str) -> tuple[TriplePattern, ...]:
    """Triple patterns in words: `?x` is a variable, a number a number, all else an IRI.

    >>> pattern("?h pow 5")
    ((Var(name='h'), Iri(name='pow'), Literal(lexical='5', datatype='integer')),)
    """
    return tuple((slot(s), slot(p), slot(o)) for s, p, o in _words(triples))


def _words(triples: tuple[str, ...]) -> list[list[Given]]:
    return [[int(word) if word.isdigit() else word for word in triple.split()] for triple in triples]


def graph(*triples: str) -> Graph:
    """Triples in words, as those of `pattern`."""
    return frozenset((term(s), term(p), term(o)) for s, p, o in _words(triples))


def ask(
    sequence: str,
    *gpms: Gpm,
    within: int | Within | None = None,
    streams: tuple[str, ...] = (),
    partition: tuple[str, ...] = (),
    select: tuple[Column, ...] | None = None,
    distinct: bool = False,
) -> Query:
    """A query, checked. A name in the sequence that no GPM is given for is the plainest: `gpm(name)`."""
    parts, selections = read(sequence)
    given = {each.name: each for each in gpms}
    used = dict.fromkeys(name for part in parts for name in uses(part.group))
    defined = (*gpms, *(gpm(name) for name in used if name not in given))
    named = tuple(dict.fromkeys([*streams, *(each.stream for each in defined)]))
    window = Within(within) if isinstance(within, int) else within
    query = Query(named, defined, parts, selections, window, partition, select, distinct)
    check(query)
    return query


def found(query: Query, events: Iterable[Event], background: Background | None = None) -> list[str]:
    """The events of each row, in the order of the pattern; rows in the order of their words."""
    return sorted(" ".join(match.events) for match in evaluate(query, events, background))


def table(
    query: Query, events: Iterable[Event], background: Background | None = None
) -> list[tuple[int, dict[str, Cell]]]:
    """The end of each row, and what it binds, in the order of the rows."""
    return [
        (row.end, {name: cell for name, cell in row.cells if cell is not None})
        for row in rows(query, evaluate(query, events, background))
    ]


def certain(query: Query, events: Iterable[Event]) -> list[tuple[str, int]]:
    """The events of each row, and when it is certain."""
    return sorted((" ".join(match.events), match.certain) for match in evaluate(query, events))
