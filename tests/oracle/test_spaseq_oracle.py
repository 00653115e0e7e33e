"""The paper's examples, as corrected: SPAseQ, Section 5, Figure 1 and Example 14."""

from __future__ import annotations

import pytest

from oracle.spaseq_cases import ask, found, graph, line, pattern, table
from oracle.spaseq_query import Column, Event, Gpm, GraphBlock, Query, Within
from oracle.spaseq_rows import Cell
from oracle.terms import Iri

POWER = Gpm("P", "S1", pattern("?h pow ?p", "?h loc ?l"))
WEATHER = Gpm("W", "S2", pattern("?w value ?v", "?w loc ?l"))


def power(time: int, house: str, source: str, place: str) -> Event:
    return Event("S1", time, graph(f"{house} pow {source}", f"{house} loc {place}"), f"p{time}")


def weather(time: int, station: str, value: str, place: str) -> Event:
    return Event("S2", time, graph(f"{station} value {value}", f"{station} loc {place}"), f"w{time}")


def printed(query: Query, events: list[Event]) -> list[tuple[int, str]]:
    """The rows as the paper prints them: the time, and ?h ?p ?l ?w ?v with `-` for what is unbound."""
    return sorted((end, " ".join(shown(cells, name) for name in "hplwv")) for end, cells in table(query, events))


def shown(cells: dict[str, Cell], name: str) -> str:
    cell = cells.get(name)
    return cell.name if isinstance(cell, Iri) else "-"


EXAMPLE_3 = [power(10, "H1", "Pw1", "L1"), power(15, "H2", "Pw2", "L2"), power(25, "H3", "Pw3", "L3")]

EXAMPLE_4 = [
    power(10, "H1", "Pw1", "L1"),
    power(25, "H2", "Pw2", "L2"),
    weather(10, "W1", "Vl1", "L1"),
    weather(20, "W2", "Vl2", "L1"),
]

EXAMPLE_6 = [
    power(10, "H1", "Pw1", "L1"),
    power(15, "H2", "Pw2", "L1"),
    weather(15, "W1", "Vl1", "L2"),
    weather(20, "W1", "Vl1", "L1"),
    weather(25, "W2", "Vl2", "L1"),
]


def test_example_3_a_gpm_in_the_boundaries_5_to_15() -> None:
    boundaries = Within(10, tumbling=True, start=5)
    rows = printed(ask("P", POWER, within=boundaries), EXAMPLE_3)
    # the event at 25 is in the window [15, 25], which follows; the example stops at 15
    assert [row for row in rows if row[0] <= 15] == [(10, "H1 Pw1 L1 - -"), (15, "H2 Pw2 L2 - -")]


def test_example_4_conjunction() -> None:
    assert printed(ask("P & W", POWER, WEATHER), EXAMPLE_4) == [(10, "H1 Pw1 L1 W1 Vl1")]


def test_example_5_disjunction_gives_four_rows() -> None:
    assert printed(ask("P | W", POWER, WEATHER), EXAMPLE_4) == [
        (10, "- - L1 W1 Vl1"),
        (10, "H1 Pw1 L1 - -"),
        (20, "- - L1 W2 Vl2"),
        (25, "H2 Pw2 L2 - -"),
    ]


def test_example_6_skip_till_any() -> None:
    assert printed(ask("P : W", POWER, WEATHER), EXAMPLE_6) == [
        (20, "H1 Pw1 L1 W1 Vl1"),
        (20, "H2 Pw2 L1 W1 Vl1"),
        (25, "H1 Pw1 L1 W2 Vl2"),
        (25, "H2 Pw2 L1 W2 Vl2"),
    ]


def test_example_7_skip_till_next() -> None:
    assert printed(ask("P ; W", POWER, WEATHER), EXAMPLE_6) == [(20, "H1 Pw1 L1 W1 Vl1"), (20, "H2 Pw2 L1 W1 Vl1")]


def test_example_8_strict_contiguity() -> None:
    assert printed(ask("P , W", POWER, WEATHER), EXAMPLE_6) == [(20, "H2 Pw2 L1 W1 Vl1")]


EXAMPLE_9 = [
    power(10, "H1", "Pw1", "L1"),
    power(25, "H2", "Pw2", "L2"),
    weather(15, "W1", "Vl1", "L1"),
    weather(20, "W2", "Vl2", "L1"),
]


def test_example_9_kleene_shows_the_last_iteration() -> None:
    query = ask("P ; W+", POWER, WEATHER)
    assert found(query, EXAMPLE_9) == ["p10 w15", "p10 w15 w20"]
    assert printed(query, EXAMPLE_9) == [(15, "H1 Pw1 L1 W1 Vl1"), (20, "H1 Pw1 L1 W2 Vl2")]


def test_example_10_graph_joins_the_background() -> None:
    block = GraphBlock("db", pattern("?h owner ?n", "?h address ?a"))
    enriched = Gpm("P", "S1", POWER.triples, graphs=(block,))
    known = graph("H1 owner john", "H1 address paris", "H2 owner smith", "H2 address lyon")
    rows = table(ask("P", enriched), [event for event in EXAMPLE_9 if event.time <= 20], {"db": known})
    assert rows == [(10, {"h": Iri("H1"), "p": Iri("Pw1"), "l": Iri("L1"), "n": Iri("john"), "a": Iri("paris")})]


EXAMPLE_11 = [
    power(10, "H1", "Pw1", "L1"),
    power(25, "H2", "Pw2", "L2"),
    weather(15, "W1", "Vl1", "L1"),
    weather(40, "W2", "Vl2", "L2"),
]

FIRST = (15, {"h": Iri("H1"), "p": Iri("Pw1"), "v": Iri("Vl1")})
SECOND = (40, {"h": Iri("H2"), "p": Iri("Pw2"), "v": Iri("Vl2")})


@pytest.mark.parametrize(("issued", "rows"), [(20, [SECOND]), (10, [FIRST, SECOND])])
def test_example_11_a_query_issued_at_a_time(issued: int, rows: list[tuple[int, dict[str, Cell]]]) -> None:
    query = ask(
        "P ; W",
        POWER,
        WEATHER,
        within=Within(50, tumbling=True, start=issued),
        select=(Column("h"), Column("p"), Column("v")),
    )
    assert table(query, EXAMPLE_11) == rows


FIGURE_1 = line("a1 b1 c1 a2 a3 x b2 c2")


@pytest.mark.parametrize(
    ("sequence", "matches"),
    [
        ("A , B , C", ["a1 b1 c1"]),
        ("A ; B ; C", ["a1 b1 c1", "a2 b2 c2", "a3 b2 c2"]),
        ("A : B : C", ["a1 b1 c1", "a1 b1 c2", "a1 b2 c2", "a2 b2 c2", "a3 b2 c2"]),
    ],
)
def test_figure_1(sequence: str, matches: list[str]) -> None:
    assert found(ask(sequence), FIGURE_1) == matches


def test_example_14_kleene_in_a_sequence_is_contiguous() -> None:
    assert found(ask("A , B+ , C"), line("a1 b2 c3 b4 c5")) == ["a1 b2 c3"]
