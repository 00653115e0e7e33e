"""The description of a query over windows for `explain`."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.rsep_ql import EventPattern, IdentityWindow, NamedWindow
from thence.algebra.show import show
from thence.algebra.show_rsep_ql import report_text, window_text
from thence.algebra.streams import OnClose, OnContent, OnNonEmpty, Report
from thence.engines.windows.program import WindowProgram
from thence.explain.description import Arrow, Description, Node, key_text

_REPORTS: dict[type[Report], str] = {
    OnContent: "whenever an event ends",
    OnClose: "whenever a window slides",
    OnNonEmpty: "whenever a window slides and one holds an event",
}


def describe(program: WindowProgram) -> Description:
    """A compiled query: its windows, its event patterns, when it is evaluated, and how."""
    query = program.query
    windows = [_window(number, each) for number, each in enumerate(query.windows, 1)]
    events = [_event(program, number, each) for number, each in enumerate(query.events, len(windows) + 1)]
    consumes = ", consumes the events of its answers"
    matches = [
        Node(f"match {number}", (show(each.events) + consumes * each.consumes,))
        for number, each in enumerate(program.matches, 1)
    ]
    where = Node("WHERE", number=len(windows) + len(events) + 1, layer=3)
    clauses = dict(_clauses(program))
    parts = (*windows, *events, *matches)
    return Description(
        algebra=show(query),
        json={**clauses, **{part.title: part.words[0] for part in parts}},
        sections={"Windows and events": parts},
        clauses=tuple(f"{name}: {text}" for name, text in clauses.items()),
        boxes=(*windows, *events, where),
        arrows=tuple(_arrows(program, where.number)),
        end="rows" if program.output.columns else "derived events",
    )


def _window(number: int, window: NamedWindow) -> Node:
    is_all = isinstance(window.function, IdentityWindow)
    function = "all events, for ever" if is_all else window_text(window.function)
    words = (f"{window.stream}, {function}",)
    return Node(f"window {window.name}", words, number=number, label=f"{window.name}: {function}", layer=1)


def _event(program: WindowProgram, number: int, event: EventPattern) -> Node:
    late = next(each for each in program.events if each.name == event.name).triples is not None
    how = "evaluated at each evaluation" if late else "matched once, when an event comes"
    words = (f"on {event.window}, {how}",)
    return Node(f"event {event.name}", words, number=number, label=f"EVENT {event.name}", layer=2)


def _clauses(program: WindowProgram) -> Iterator[tuple[str, str]]:
    yield "engine", "windows"
    yield "evaluation", _REPORTS.get(type(program.report)) or report_text(program.report)
    yield "output", f"{program.emits.value} of each answer"
    if program.preset:
        yield "preset", program.preset
    yield from _maintained(program)
    yield "key", key_text(program.shard_key)


def _maintained(program: WindowProgram) -> Iterator[tuple[str, str]]:
    """The parts kept from one evaluation to the next, and why the rest is not."""
    kept = program.maintenance
    how = "over columns" if program.vectorised else "one solution at a time"
    because = f": {'; '.join(kept.reasons)}" if kept.reasons else ""
    unless = ", unless graphs that it reads change" if any(each.reads_graphs for each in kept.patterns) else ""
    if kept.is_answer or kept.groups is not None:
        yield "WHERE", f"maintained{unless}"
    else:
        for number, each in enumerate(kept.patterns, 1):
            yield f"maintained {number}", " ".join(show(each.pattern).split())
        rest = "the rest is " if kept.patterns else ""
        yield "WHERE", f"{rest}recomputed {how} when a window has changed{because}"
    if kept.groups is not None:
        yield "groups", "added to and subtracted from" + ("" if kept.groups.by_group else f"; recomputed{because}")


def _arrows(program: WindowProgram, where: int) -> Iterator[Arrow]:
    """From the input over windows and events to WHERE, and out."""
    windows = {window.name: number for number, window in enumerate(program.query.windows, 1)}
    for window in program.query.windows:
        yield Arrow(None, (windows[window.name],), label=f"events of {window.stream}")
    for number, event in enumerate(program.query.events, len(windows) + 1):
        yield Arrow(windows[event.window], (number,), label="each event alone")
        yield Arrow(number, (where,), label="MATCH")
    for read in program.windows:
        yield Arrow(windows[read.name], (where,), label="the merge of its graphs")
    yield Arrow(where, (), label=program.emits.value, emits=True)
