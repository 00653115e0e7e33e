"""Cases with the option `order`: several events of one time, most of them with values that order them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from hypothesis import strategies as st

from oracle import sase_cases, tef_sparql_cases
from oracle.event_order import ordinals
from oracle.sase_composed_cases import Text, texts
from oracle.sase_query import Event
from oracle.terms import Iri, Triple, decimal, integer
from oracle.terms import Literal as OracleLiteral
from strategies import spaseq
from strategies.choices import Choices, seeded

NAMES = ("seq", "line")

Values: TypeAlias = tuple[int | float | str | None, ...]

_SOME: tuple[tuple[int | float | str | None, ...], ...] = (
    (0, 1, 2, 3, 4, 5),
    (2, 1, None, 3, 1.5, 1.0),
    ("b", "a", "ab", None),
    (1, "a", 2, None),
)


def values_for(choices: Choices, count: int) -> list[Values]:
    """The values of each event: of one name, or of two."""
    names, known = choices.number(1, 2), choices.pick(_SOME)
    return [tuple(choices.pick(known) for _ in range(names)) for _ in range(count)]


def squeezed(time: int, by: int) -> int:
    return time // by


def names_of(values: list[Values]) -> tuple[str, ...]:
    return NAMES[: len(values[0])] if values else NAMES[:1]


@st.composite
def sase_cases_in_order(
    draw: st.DrawFn, cases: st.SearchStrategy[sase_cases.Case]
) -> tuple[sase_cases.Case, tuple[str, ...]]:
    """A case, and the columns that order its events; fewer times than it had."""
    case = draw(cases)
    choices = draw(seeded(lambda choices: choices))
    by, values = choices.pick((1, 2, 3, 7)), values_for(choices, len(case.events))
    names = names_of(values)
    events = [_in_order(event, by, names, each) for event, each in zip(case.events, values, strict=True)]
    return replace(case, events=tuple(events)), names


def _in_order(event: Event, by: int, names: tuple[str, ...], values: Values) -> Event:
    attributes = ((n, v) for n, v in zip(names, values, strict=True) if v is not None)
    return replace(
        event, time=squeezed(event.time, by), attributes=(*event.attributes, *attributes), order=ordinals(values)
    )


@st.composite
def sase_texts_in_order(draw: st.DrawFn) -> tuple[Text, tuple[str, ...]]:
    """Queries that feed each other; the events that they make have no values."""
    text = draw(texts())
    choices = draw(seeded(lambda choices: choices))
    by, values = choices.pick((1, 2, 3)), values_for(choices, sum(map(len, text.given.values())))
    names, drawn = names_of(values), iter(values)
    given = {
        stream: tuple(_in_order(event, by, names, next(drawn)) for event in events)
        for stream, events in text.given.items()
    }
    return replace(text, given=given), names


@st.composite
def spaseq_cases_in_order(draw: st.DrawFn) -> tuple[spaseq.Case, tuple[str, ...]]:
    case = draw(spaseq.cases())
    choices = draw(seeded(lambda choices: choices))
    by, values = choices.pick((1, 2, 3, 7)), values_for(choices, len(case.events))
    names = names_of(values)
    events = [
        replace(
            event,
            time=squeezed(event.time, by),
            graph=event.graph | frozenset(_triples(event.id, names, each)),
            order=ordinals(each),
        )
        for event, each in zip(case.events, values, strict=True)
    ]
    return replace(case, events=tuple(events)), names


@st.composite
def tef_sparql_cases_in_order(draw: st.DrawFn) -> tuple[tef_sparql_cases.Case, tuple[str, ...]]:
    case = draw(tef_sparql_cases.cases())
    choices = draw(seeded(lambda choices: choices))
    by, values = choices.pick((2, 4, 9)), values_for(choices, len(case.events))
    names = names_of(values)
    events = [
        event._replace(
            start=squeezed(event.start, by),
            end=squeezed(event.end, by),
            triples=(*event.triples, *_triples(event.id, names, each)),
            order=ordinals(each),
        )
        for event, each in zip(case.events, values, strict=True)
    ]
    return replace(case, events=tuple(events)), names


def _triples(name: str, names: tuple[str, ...], values: Values) -> list[Triple]:
    return [(Iri(name), Iri(n), _term(v)) for n, v in zip(names, values, strict=True) if v is not None]


def _term(value: int | float | str) -> OracleLiteral:
    if isinstance(value, str):
        return OracleLiteral(value, "string")
    return integer(value) if isinstance(value, int) else decimal(str(value))
