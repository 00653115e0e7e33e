"""What `explain` shows of a query over windows."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.patterns import BasicEvent, EventExpression, EventSeq, First, Last
from thence.algebra.rsep_ql import (
    EventPattern,
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NamedWindow,
    NowWindow,
    TimeWindow,
    WindowFunction,
)
from thence.algebra.show import show
from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty, Report
from thence.engines.windows.program import WindowProgram
from thence.explain.description import Arrow, Description, Node, single_shard_text
from thence.rdf.times import Domain, Span, format_time


def describe(program: WindowProgram) -> Description:
    """A compiled query: its windows, its event patterns, when it is evaluated, and how."""
    query = program.query
    windows = [_window(number, each) for number, each in enumerate(query.windows, 1)]
    events = [_event(program, number, each) for number, each in enumerate(query.events, len(windows) + 1)]
    consumes = ", consumes the events of its answers"
    matches = [
        Node(f"match {number}", (expression_text(each.events) + consumes * each.consumes,))
        for number, each in enumerate(program.matches, 1)
    ]
    where = Node("WHERE", number=len(windows) + len(events) + 1, layer=3)
    clauses = dict(_clauses(program))
    parts = (*windows, *events, *matches)
    return Description(
        algebra=show(query),
        facts={**clauses, **{part.title: part.words[0] for part in parts}},
        sections={"Windows and events": parts},
        clauses=tuple(f"{name}: {text}" for name, text in clauses.items()),
        boxes=(*windows, *events, where),
        arrows=tuple(_arrows(program, where.number)),
        end="rows" if program.output.columns else "derived events",
    )


def _window(number: int, window: NamedWindow) -> Node:
    function = function_text(window.function)
    words = (f"{window.stream}, {function}",)
    return Node(f"window {window.name}", words, number=number, label=f"{window.name}: {function}", layer=1)


def _event(program: WindowProgram, number: int, event: EventPattern) -> Node:
    late = next(each for each in program.events if each.name == event.name).triples is not None
    how = "evaluated at each evaluation" if late else "matched once, when an event comes"
    words = (f"on {event.window}, {how}",)
    return Node(f"event {event.name}", words, number=number, label=f"EVENT {event.name}", layer=2)


def _clauses(program: WindowProgram) -> Iterator[tuple[str, str]]:
    yield "engine", "windows"
    yield "evaluation", report_text(program.report)
    yield "output", f"{program.emits.value} of each answer"
    if program.preset:
        yield "preset", program.preset
    yield from _maintained(program)
    key = program.shard_key
    yield "key", ", ".join(f"?{name}" for name in key.names) if key.names else single_shard_text(key)


def _maintained(program: WindowProgram) -> Iterator[tuple[str, str]]:
    """What is kept from one evaluation to the next, and why not the rest."""
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


def report_text(report: Report) -> str:
    match report:
        case OnContent():
            return "whenever an event ends"
        case OnClose():
            return "whenever a window slides"
        case OnNonEmpty():
            return "whenever a window slides and one holds an event"
        case Every():
            return f"every {span_text(report.period)}"
        case At():
            return "at " + ", ".join(format_time(*each) for each in report.times)


def function_text(function: WindowFunction) -> str:
    match function:
        case TimeWindow():
            slide = "" if function.slide is None else f", every {span_text(function.slide)}"
            return f"the last {span_text(function.width)}{slide}"
        case LandmarkWindow():
            return f"from {format_time(*function.first)} on, for ever"
        case IntervalWindow():
            return f"from {format_time(*function.first)} to {format_time(*function.last)}"
        case NowWindow():
            return "the events that end at the evaluation's time"
        case IdentityWindow():
            return "all events, for ever"


def span_text(span: Span) -> str:
    """A length of time as text: ticks, or seconds."""
    if span.domain is Domain.TICKS:
        return f"{span.length} ticks"
    seconds = f"{span.length / 1_000_000:f}".rstrip("0").rstrip(".")
    return f"{seconds} s"


def expression_text(events: EventExpression) -> str:
    match events:
        case BasicEvent():
            return events.name
        case First():
            return f"FIRST {_operand(events.events)}"
        case Last():
            return f"LAST {_operand(events.events)}"
        case EventSeq():
            policy = "" if events.policy is None else f" {events.policy.value}"
            return f"{expression_text(events.left)} SEQ{policy} {_operand(events.right)}"


def _operand(events: EventExpression) -> str:
    text = expression_text(events)
    return f"({text})" if isinstance(events, EventSeq) else text


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
