"""What `explain` shows of a query over windows."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.patterns import BasicEvent, EventExpression, EventSeq, First, Last
from thence.algebra.report import At, Every, OnClose, OnContent, Report
from thence.algebra.rsep_ql import IdentityWindow, IntervalWindow, LandmarkWindow, NowWindow, TimeWindow, WindowFunction
from thence.algebra.show import show
from thence.program.description import Arrow, Box, Description, single_shard_text, streams_data
from thence.program.windows.program import WindowProgram
from thence.rdf.times import Domain, Span, format_time


def describe(program: WindowProgram) -> Description:
    """A compiled query: its windows, its event patterns, when it is evaluated, and how."""
    facts = dict(_facts(program))
    written = show(program.query)
    lines = [f"{name}: {text}" for name, text in facts.items()]
    boxes, arrows = _diagram(program)
    return Description(
        text=(*written.splitlines(), "", *lines),
        data={"algebra": written, "streams": streams_data(program.streams), "engine": "windows", **facts},
        boxes=tuple(boxes),
        arrows=tuple(arrows),
        notes=(f"evaluation: {facts['evaluation']}", f"output: {facts['output']}"),
        end="rows" if program.output.columns else "derived events",
    )


def _facts(program: WindowProgram) -> Iterator[tuple[str, str]]:
    yield "engine", "windows"
    yield "evaluation", report_text(program.report)
    yield "output", f"{program.emits.value} of each answer"
    if program.preset:
        yield "preset", program.preset
    for window in program.query.windows:
        yield f"window {window.name}", f"{window.stream}, {function_text(window.function)}"
    for event in program.query.events:
        late = next(each for each in program.events if each.name == event.name).triples is not None
        how = "evaluated at each evaluation" if late else "matched once, when an event comes"
        yield f"event {event.name}", f"on {event.window}, {how}"
    for number, each in enumerate(program.matches, 1):
        consumes = ", consumes the events of its answers" if each.consumes else ""
        yield f"match {number}", f"{expression_text(each.events)}{consumes}"
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


def _diagram(program: WindowProgram) -> tuple[list[Box], list[Arrow]]:
    query = program.query
    boxes, arrows = [], []
    used: list[int] = []
    for number, window in enumerate(query.windows, 1):
        label = f"{window.name}: {function_text(window.function)}"
        boxes.append(Box(number, label, layer=1))
        arrows.append(Arrow(None, (number,), (f"events of {window.stream}",)))
        used.append(number)
    where = len(boxes) + len(query.events) + 1
    for number, event in enumerate(query.events, len(boxes) + 1):
        place = [each.name for each in query.windows].index(event.window) + 1
        boxes.append(Box(number, f"EVENT {event.name}", layer=2))
        arrows.append(Arrow(place, (number,), ("each event alone",)))
        arrows.append(Arrow(number, (where,), ("MATCH",)))
    boxes.append(Box(where, "WHERE", layer=3))
    for read in program.windows:
        place = [each.name for each in query.windows].index(read.name) + 1
        arrows.append(Arrow(place, (where,), ("the merge of its graphs",)))
    arrows.append(Arrow(where, (), (program.emits.value,), emits=True))
    return boxes, arrows
