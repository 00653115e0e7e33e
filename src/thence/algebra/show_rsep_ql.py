"""RSEP-QL queries as text, in the paper's form; a window without a name as FROM STREAM or as a STREAM block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import assert_never

from thence.algebra.patterns import Pattern
from thence.algebra.rsep_ql import (
    EventPattern,
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NamedWindow,
    NowWindow,
    TimeWindow,
    WindowFunction,
    WindowQuery,
    block_number,
    is_written,
)
from thence.algebra.show_sparql import base_of, window_head
from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty, Report, span_text
from thence.algebra.text_items import BracedGroup, TextItem
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, time_literal

Group = Callable[[Pattern], list[TextItem]]


def prologue_lines(query: WindowQuery) -> list[list[TextItem]]:
    """The namespace, unless it is the default, and REGISTER, if the query has a name."""
    lines: list[list[TextItem]] = []
    if query.namespace != DEFAULT_NAMESPACE or base_of((query.form, query.events)) is not None:
        lines.append([f"PREFIX : {IRI(query.namespace)}"])
    if query.label:
        kind = "QUERY" if query.output is None else query.output.value
        lines.append([f"REGISTER {kind} {IRI(query.label)} AS"])
    return lines


def operator_text(query: WindowQuery) -> str:
    """The stream operator after SELECT or CONSTRUCT, unless REGISTER names it."""
    return "" if query.label or query.output is None else f"{query.output.value} "


def clause_lines(query: WindowQuery) -> list[list[TextItem]]:
    """The lines between the graphs and WHERE."""
    iris = _iris(query)
    inline = {window.name for window in _blocks(query)}
    windows = [_window(window, iris) for window in query.windows if window.name not in inline]
    report = [] if query.report is None else [f"REPORT {report_text(query.report)}"]
    lines: list[list[TextItem]] = [[text] for text in (*windows, *report)]
    return lines + [_event(event) for event in query.events]


def with_streams(query: WindowQuery, group: Group) -> Group:
    """The group, with STREAM blocks in place of WINDOW where the text gives the window no name."""
    iris = _iris(query)
    heads = {each.name: f"STREAM {iris[each.stream]} {window_text(each.function)} " for each in _blocks(query)}

    def written(item: TextItem) -> TextItem:
        if isinstance(item, partial) and item.func is window_head:
            return heads.get(item.args[0].name, item)
        return item

    return lambda pattern: [written(item) for item in group(pattern)]


def window_text(function: WindowFunction) -> str:
    """A window's brackets.

    >>> from thence.rdf.times import Span
    >>> window_text(TimeWindow(Span(90_000_000, Domain.DATETIME), Span(60_000_000, Domain.DATETIME)))
    '[RANGE 90 SECONDS SLIDE 1 MINUTES]'
    """
    match function:
        case TimeWindow(width, slide):
            return f"[RANGE {span_text(width)}{'' if slide is None else f' SLIDE {span_text(slide)}'}]"
        case LandmarkWindow(first):
            return f"[LND {instant_text(first)}]"
        case IntervalWindow(first, last):
            return f"[FROM {instant_text(first)} TO {instant_text(last)}]"
        case NowWindow():
            return "[NOW]"
        case IdentityWindow():
            return "[]"
        case _:
            assert_never(function)


def report_text(report: Report) -> str:
    """The text after REPORT.

    >>> report_text(At((Instant(1, Domain.TICKS), Instant(5, Domain.TICKS))))
    'AT 1, 5'
    """
    match report:
        case OnContent():
            return "ON CONTENT"
        case OnClose():
            return "ON CLOSE"
        case OnNonEmpty():
            return "ON NON_EMPTY_CONTENT"
        case Every(period):
            return f"EVERY {span_text(period)}"
        case At(times):
            return f"AT {', '.join(map(instant_text, times))}"
        case _:
            assert_never(report)


def instant_text(instant: Instant) -> str:
    time, domain = instant
    return str(time) if domain is Domain.TICKS else str(time_literal(time, domain))


def _iris(query: WindowQuery) -> Mapping[str, IRI]:
    return {stream.name: stream.iri for stream in query.streams}


def _blocks(query: WindowQuery) -> list[NamedWindow]:
    """The windows of STREAM blocks."""
    return [each for each in query.windows if block_number(each.name) is not None]


def _window(window: NamedWindow, iris: Mapping[str, IRI]) -> str:
    stream, bracket = iris[window.stream], window_text(window.function)
    if not is_written(window.name):
        return f"FROM STREAM {stream} {bracket}"
    return f"FROM NAMED {stream} WIN {bracket} AS {window.name}"


def _event(event: EventPattern) -> list[TextItem]:
    times = [f" {word} {name}" for word, name in (("START", event.start), ("END", event.end)) if name is not None]
    return [f"EVENT ON {event.window} ", BracedGroup(event.pattern), f" AS {event.name}{''.join(times)}"]
