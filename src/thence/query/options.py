"""Options of `match` and `engine`, as callers write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from thence.algebra.report import At, Every, OnClose, OnContent, Report
from thence.algebra.streams import Stream
from thence.errors import InputError
from thence.io.background_data import load_background
from thence.local.inputs import stream_name
from thence.match.background import NO_BACKGROUND, Background
from thence.program.dataflow import Dataflow
from thence.program.operator import Feature
from thence.program.tables import AllTriples, Attributes, EntailedTriples
from thence.rdf.iris import is_absolute
from thence.rdf.times import Domain, Span, evaluation_time, parse_duration, parse_time

if TYPE_CHECKING:
    from thence.query.languages import Language

Duration: TypeAlias = int | str | timedelta | Span
"""A length of time: `"10 MINUTES"`, `"10s"`, `"PT10M"`, a `timedelta`, or a number of ticks."""

NO_TIME = Span(0, Domain.TICKS)


def duration(value: Duration | None, *, option: str) -> Span:
    """A length of time; None is no time.

    >>> duration("10s", option="lateness") == duration(timedelta(seconds=10), option="lateness")
    True
    """
    match value:
        case None:
            span = NO_TIME
        case Span():
            span = value
        case bool():
            raise InputError(f"{option} can't be {value}. Try: {option}='10s', or a number of ticks")
        case int():
            span = Span(value, Domain.TICKS)
        case timedelta():
            span = Span(value // timedelta(microseconds=1), Domain.DATETIME)
        case str():
            span = parse_duration(value)
        case _:
            raise InputError(f"{option} can't be {value!r:.80}. Try: {option}='10s', or a number of ticks")
    if span.length < 0:
        raise InputError(f"{option} can't be negative")
    return span


def idle_streams(idle: object, streams: Sequence[Stream]) -> tuple[frozenset[str], Span | None]:
    """`idle`: the streams that hold nobody back, or the time after which none does."""
    if idle is None:
        return frozenset(), None
    if isinstance(idle, int | timedelta | Span):
        return frozenset(), duration(idle, option="idle")
    names = {stream.name for stream in streams} | {stream.iri.value for stream in streams}
    if isinstance(idle, str) and idle not in names and re.match(r"[0-9]|PT?[0-9]", idle):
        return frozenset(), duration(idle, option="idle")
    if not isinstance(idle, Iterable):
        raise InputError(f"idle can't be {idle!r:.80}. Try: idle=['S2'], or idle='10 MINUTES'")
    found = frozenset(stream_name(name, streams) for name in ([idle] if isinstance(idle, str) else idle))
    if len(found) == len(streams):
        raise InputError("idle names every stream of the query; one at least must say how far time has come")
    return found, None


def background_of(given: Any, dataflow: Dataflow) -> Background:
    """The background data, loaded, in which every GRAPH that the query reads is found."""
    background = NO_BACKGROUND if given is None else given
    if not isinstance(background, Background):
        background = Background(load_background(background))
    for stage in dataflow.stages:
        for table in stage.program.tables:
            if not isinstance(table.pattern, Attributes | AllTriples | EntailedTriples):
                background.check(table.pattern)
        for pattern in stage.program.background_patterns:
            background.check(pattern)
    return background


def reject_unsupported(given: Mapping[Feature, bool], language: Language, dataflow: Dataflow) -> None:
    """InputError for an option that is given, but that the language, or no stage of this query, supports."""
    for feature, is_given in given.items():
        if is_given and feature not in dataflow.features:
            whom = "this query" if feature in language.options else language.title
            raise InputError(f"{feature.value}= is not supported for {whom}. Try: remove it")


def absolute_namespace(given: str | None) -> str | None:
    """`namespace`: that of names without a prefix."""
    if given is not None and not is_absolute(given):
        raise InputError(f"The namespace {given!r:.80} is no absolute IRI. Try: http://example.org/")
    return given


REASONING = ("rdfs",)


def check_choice(option: str, given: object, choices: Sequence[str]) -> None:
    """InputError for a value that an option does not have."""
    if given is not None and given not in choices:
        cures = " or ".join(f'{option}="{each}"' for each in choices)
        raise InputError(f"{option} can't be {given!r:.80}. Try: {cures}")


def report_policy(given: object) -> Report | None:
    """`report`: "content", "close", a length of time, or a list of times.

    >>> report_policy("close"), report_policy("10s").period.length
    (OnClose(), 10000000)
    """
    match given:
        case None | OnContent() | OnClose() | Every() | At():
            return given
        case "content":
            return OnContent()
        case "close":
            return OnClose()
        case str() | int() | timedelta() | Span():
            if isinstance(given, str) and not re.match(r"\s*(?:[0-9]|P)", given):
                raise _no_report(given)
            period = duration(given, option="report")
            if not period.length:
                raise InputError("report can't be a length of 0. Try: report='10s', or a number of ticks")
            return Every(period)
        case Iterable():
            found = {evaluation_time(parse_time(each)) for each in given}
            times = tuple(sorted(found, key=lambda each: (each.domain.value, each.time)))
            if not times:
                raise _no_report(given)
            if len({each.domain for each in times}) > 1:
                raise InputError("report needs times of one kind. Try: report=[10, 20], or report=['2024-05-06T07:00']")
            return At(times)
        case _:
            raise _no_report(given)


def _no_report(given: object) -> InputError:
    return InputError(f"report can't be {given!r:.80}. Try: report='content', 'close', '10s', or a list of times")


def report_span(report: Report | None) -> dict[str, Span]:
    """A length of the kind of time that `report` is in, if it says."""
    match report:
        case Every():
            return {"report": report.period}
        case At():
            return {"report": Span(1, report.times[0].domain)}
        case _:
            return {}


def most_rounds(given: int | None) -> int:
    """`max_rounds`: how many rounds of rules there may be at one time."""
    return 1000 if given is None else _at_least_one("max_rounds", given)


def most_steps(given: int | None) -> int:
    """`max_steps`: how many steps there may be at one time, or driven by time without an event (TEF-27)."""
    return 10_000 if given is None else _at_least_one("max_steps", given)


def _at_least_one(option: str, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError(f"{option} can't be {given!r:.80}. Try: {option}=10_000")
    return given


def most_runs(given: int | None) -> int:
    """`max_runs`: how many partial matches there may be at once."""
    if given is None:
        return 2**31 - 2
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError(f"max_runs can't be {given!r:.80}. Try: max_runs=1_000_000")
    return min(given, 2**31 - 2)
