"""Presets (Table 1 of the paper; RS-57 to RS-61): what they fill in, where a query leaves it open."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thence.algebra.patterns import BasicEvent, EventExpression, EventSeq, First, Last, SeqPolicy
from thence.algebra.report import OnClose, OnContent, Report
from thence.algebra.rsep_ql import StreamOperator, TimeWindow, WindowQuery
from thence.errors import QueryError


@dataclass(frozen=True, slots=True)
class Preset:
    """Windows of the EP-SPARQL presets hold every event up to t (RS-58), as windows without brackets do anyway."""

    policy: SeqPolicy | None
    report: Report
    output: StreamOperator


PRESETS = {
    "ep-sparql-unrestricted": Preset(None, OnContent(), StreamOperator.ISTREAM),
    "ep-sparql-chronological": Preset(SeqPolicy.CHRONOLOGICAL, OnContent(), StreamOperator.RSTREAM),
    "ep-sparql-recent": Preset(SeqPolicy.RECENT, OnContent(), StreamOperator.RSTREAM),
    "c-sparql": Preset(SeqPolicy.NAIVE, OnClose(), StreamOperator.RSTREAM),
}


def slides(query: WindowQuery) -> list[int]:
    """The lengths of all SLIDEs."""
    functions = [window.function for window in query.windows]
    return [each.slide.length for each in functions if isinstance(each, TimeWindow) and each.slide is not None]


def reported(query: WindowQuery, option: Report | None, preset: Preset | None) -> Report:
    """The report policy: the clause, else the option, else the preset, else the default (RS-17)."""
    if preset is PRESETS["c-sparql"] and not slides(query):
        raise QueryError(
            "The preset c-sparql evaluates whenever a window slides, but no window has SLIDE.",
            hint="[RANGE 10 SLIDE 5]",
        )
    found = query.report or option or (preset.report if preset is not None else None)
    if found is None:
        closes = not query.is_cqels and query.windows and len(slides(query)) == len(query.windows)
        found = OnClose() if closes else OnContent()
    if isinstance(found, OnClose) and not slides(query):
        raise QueryError(
            "ON CLOSE evaluates whenever a window slides, but no window has SLIDE.", hint="[RANGE 10 SLIDE 5]"
        )
    return found


def emitted(query: WindowQuery, preset: Preset | None) -> StreamOperator:
    """What of each answer is emitted (RS-50)."""
    if query.output is not None:
        return query.output
    if preset is not None:
        return preset.output
    return StreamOperator.ISTREAM if query.is_cqels else StreamOperator.RSTREAM


def with_policy(events: EventExpression, policy: SeqPolicy | None) -> EventExpression:
    """An event pattern whose bare SEQs have a policy (RS-60)."""
    match events:
        case BasicEvent():
            return events
        case First() | Last():
            return replace(events, events=with_policy(events.events, policy))
        case EventSeq():
            left, right = with_policy(events.left, policy), with_policy(events.right, policy)
            return EventSeq(left, right, events.policy or policy)
