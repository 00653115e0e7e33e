"""`Options`: what callers of `match`, `engine`, `dataframe`, `explain` and the command chose, checked once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Generic, TypeAlias, TypeVar

from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty, Report, Stream
from thence.columns.time_reading import TimeReading
from thence.errors import InputError
from thence.interface.dataflow import Dataflow
from thence.interface.operator import NO_LIMIT, Environment, Feature
from thence.interface.tables import AllTriples, Attributes, EntailedTriples
from thence.io.background_data import load_background
from thence.io.table_layout import TableLayout
from thence.local.inputs import stream_name
from thence.match.background import NO_BACKGROUND, Background
from thence.query.languages import NO_ORDER, POLICIES, CompileOptions, Language, OrderNames
from thence.query.tables import table_layouts
from thence.rdf.terms import IRI, is_absolute
from thence.rdf.times import MAX_TIME, Domain, Span, evaluation_time, parse_duration, parse_time
from thence.runtime.watermark import TimeDomain, Watermark

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
        raise InputError("idle names every stream of the query; at least one must advance the watermark")
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


def absolute_namespace(given: str | None) -> str | None:
    """`namespace`: that of names without a prefix."""
    if given is not None and not is_absolute(given):
        raise InputError(f"The namespace {given!r:.80} is not an absolute IRI. Try: http://example.org/")
    return given


def check_choice(option: str, given: object, choices: Sequence[str | None]) -> None:
    """InputError for a value that an option does not have."""
    if given not in choices:
        cures = " or ".join(f'{option}="{each}"' for each in choices if each is not None)
        raise InputError(f"{option} can't be {given!r:.80}. Try: {cures}")


def report_policy(given: object) -> Report | None:
    """`report`: "content", "close", "non_empty_content", a length of time, or a list of times.

    >>> report_policy("close"), report_policy("10s").period.length
    (OnClose(), 10000000)
    """
    match given:
        case None | OnContent() | OnClose() | OnNonEmpty() | Every() | At():
            return given
        case "content":
            return OnContent()
        case "close":
            return OnClose()
        case "non_empty_content":
            return OnNonEmpty()
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
    return InputError(
        f"report can't be {given!r:.80}. Try: report='content', 'close', 'non_empty_content', '10s', or a list of times"
    )


def report_span(report: Report | None) -> dict[str, Span]:
    """A length of `report`'s kind of time (ticks or dates); empty if `report` does not fix it."""
    match report:
        case Every():
            return {"report": report.period}
        case At():
            return {"report": Span(1, report.times[0].domain)}
        case _:
            return {}


def order_names(given: object) -> OrderNames:
    """`order`: a name, several names, or such for each stream; under None those of every stream.

    >>> order_names({"trades": ["seq", "line"]}).by_stream, order_names("seq").by_stream
    ((('trades', ('seq', 'line')),), ((None, ('seq',)),))
    """
    if given is None:
        return NO_ORDER
    if isinstance(given, OrderNames):
        return given
    if isinstance(given, Mapping):
        return OrderNames(tuple((str(stream), _names(names, given)) for stream, names in given.items()))
    return OrderNames(((None, _names(given, given)),))


def _names(names: object, given: object) -> tuple[str, ...]:
    listed = (names,) if isinstance(names, str | IRI) else names
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping | bytes):
        raise _no_order(given)
    found = tuple(each.value if isinstance(each, IRI) else each for each in listed)
    if not found or not all(isinstance(each, str) and each for each in found):
        raise _no_order(given)
    return found


def _no_order(given: object) -> InputError:
    return InputError(
        f'order can\'t be {given!r:.80}. Try: order="seq", order=("seq", "line"), or order={{"trades": ("seq",)}}'
    )


def check_count(option: str, given: object, *, example: str, most: int | None = None) -> int:
    """A whole number from 1 to `most`. InputError for anything else."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1 or (most is not None and given > most):
        raise InputError(f"{option} can't be {given!r:.80}. Try: {option}={example}")
    return given


Given = TypeVar("Given")
Kept = TypeVar("Kept")
Choice = TypeVar("Choice", str, str | None)


class Checked(Generic[Given, Kept]):
    """A field of `Options`: callers give a `Given`; `check`, called with the field's name, makes the `Kept` of it."""

    def __init__(self, check: Callable[[str, Given], Kept], default: Given) -> None:
        self.check, self.default = check, default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, options: object | None, owner: type) -> Kept:
        if options is None:  # the dataclass asks for the default, which is checked like any other value
            return self.default  # type: ignore[return-value]
        kept: Kept = options.__dict__[self.name]
        return kept

    def __set__(self, options: object, given: Given) -> None:
        options.__dict__[self.name] = self.check(self.name, given)


def _choice(*choices: Choice) -> Callable[[str, Choice], Choice]:
    def check(option: str, given: Choice) -> Choice:
        check_choice(option, given, choices)
        return given

    return check


def _limit(default: int, example: str) -> Callable[[str, int | None], int]:
    """A bound on what a query may need, at least 1."""

    def check(option: str, given: int | None) -> int:
        return default if given is None else min(check_count(option, given, example=example), NO_LIMIT)

    return check


def _shards(option: str, given: int | None) -> int | None:
    return None if given is None else check_count(option, given, example="4", most=4096)


_DEFAULTS = Environment()


@dataclass(frozen=True, eq=False)
class Options:
    """The options of a caller. The constructor checks and normalises every value that can be judged without the query;
    the methods, which get the query, do the others. A new option is a field here, a keyword of the methods of `Query`
    that take it, an option of the command if it has it, and read where it acts.

    >>> Options(lateness="10s", max_steps=None).max_steps
    10000
    """

    background: Any = None
    reasoning: Checked[str | None, str | None] = Checked(_choice(None, "rdfs"), None)
    policy: str | None = None
    report: Checked[Any, Report | None] = Checked(lambda _, given: report_policy(given), None)
    lateness: Checked[Duration | None, Span] = Checked(lambda option, given: duration(given, option=option), None)
    idle: Any = None
    max_runs: Checked[int | None, int] = Checked(_limit(_DEFAULTS.max_runs, "1_000_000"), None)
    max_rounds: Checked[int | None, int] = Checked(_limit(_DEFAULTS.max_rounds, "10_000"), None)
    max_steps: Checked[int | None, int] = Checked(_limit(_DEFAULTS.max_steps, "10_000"), None)
    problems: bool = False
    timed_out: Checked[bool, bool] = Checked(lambda _, given: bool(given), False)
    order: Checked[Any, OrderNames] = Checked(lambda _, given: order_names(given), None)
    optimise: bool = True
    # what the columns of tables are
    columns: Any = None
    types: Any = None
    time_unit: str | None = None
    time_zone: str | None = None
    time_format: str | None = None
    history: bool = False  # of `engine` alone
    # of `dataframe` alone
    shards: Checked[int | None, int | None] = Checked(_shards, None)
    terms: Checked[str, str] = Checked(_choice("text", "struct"), "text")
    counts: Any = "thence"

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> Options:
        """The options among the `locals()` of a method that has them as keywords."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls) if field.name in arguments})

    @property
    def compile_options(self) -> CompileOptions:
        return CompileOptions(self.optimise, self.timed_out, self.reasoning, self.policy, self.report, self.order)

    @property
    def gives_problems(self) -> bool:
        """Whether problems come among the matches."""
        return self.problems or self.timed_out

    def check_supported(self, language: Language, dataflow: Dataflow) -> None:
        """InputError for an option that is given, but that the language, or no stage of this query, supports."""
        check_choice("policy", self.policy, (None, *(language.policies or POLICIES)))
        for feature in Feature:
            given = getattr(self, feature.value)
            if given is None or given is False or given == NO_ORDER:
                continue
            stages = [stage.program.features for stage in dataflow.stages]
            every = feature is Feature.ORDER  # else some stage would take events of one time in another order
            if not (all if every else any)(feature in features for features in stages):
                whom = "this query" if feature in language.options else language.title
                raise InputError(f"{feature.value}= is not supported for {whom}. Try: remove it")

    def timing(self, streams: Sequence[Stream], kind: tuple[Domain, str] | None) -> tuple[Watermark, TimeDomain]:
        """The watermark before any event, and the kind of time, as far as it is known. `kind` is what the query's text
        demands, and the words that do."""
        names, after = idle_streams(self.idle, streams)
        idle = {} if after is None else {"idle": after}
        domain = TimeDomain.of(kind, {"lateness": self.lateness, **idle, **report_span(self.report)})
        longest = None if after is None else after.length
        called = tuple(stream.name for stream in streams)
        return Watermark(called, min(self.lateness.length, MAX_TIME), names, longest), domain

    def layouts(self, dataflow: Dataflow) -> dict[str, TableLayout]:
        """What the columns of each stream's tables are."""
        times = TimeReading(self.time_unit, self.time_format, self.time_zone)
        return table_layouts(dataflow, self.columns, self.types, times)

    def environment(self, dataflow: Dataflow, *, running: bool = False) -> Environment:
        """The options that the steps of a query use, with the background data loaded."""
        return Environment(
            background_of(self.background, dataflow),
            max_runs=self.max_runs,
            max_rounds=self.max_rounds,
            max_steps=self.max_steps,
            running=running,
            keeps_history=self.history,
            keeps_expired=self.timed_out,
        )
