"""Windows of RSEP-QL: lengths, instants, and what is in brackets (RS-2, RS-6 to RS-10, RS-65)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark import Token

from thence.algebra.rsep_ql import IdentityWindow, IntervalWindow, LandmarkWindow, NowWindow, TimeWindow, WindowFunction
from thence.algebra.streams import OnClose, OnContent, OnNonEmpty, Report, span_text
from thence.errors import InputError, QueryError, closest
from thence.lang.draft import TimeDemand
from thence.lang.rsep_ql.checks import Bracket, Caution, PlacedReport, shortened
from thence.lang.sparql.group_reader import QueryReader
from thence.lang.syntax import offset
from thence.rdf.terms import XSD, XSD_STRING, Literal
from thence.rdf.times import Instant, Span, evaluation_time, format_time, parse_duration, parse_time

_DURATIONS = (XSD + "duration", XSD + "dayTimeDuration", XSD + "yearMonthDuration")
_REPORTS: dict[str, Report] = {
    "ON_WINDOW_CLOSE": OnClose(),
    "ON_CONTENT_CHANGE": OnContent(),
    "NON_EMPTY_CONTENT": OnNonEmpty(),
}
_OWN_REPORTS = {"PERIODIC": "REPORT EVERY 10s after FROM"}
_EXAMPLE = "[RANGE 10s SLIDE 5s]"


@dataclass(frozen=True, slots=True)
class PlacedLength:
    span: Span
    words: str
    at: int


@dataclass(frozen=True, slots=True)
class PlacedInstant:
    instant: Instant
    words: str
    at: int


@dataclass(frozen=True, slots=True)
class BracketPart:
    """A part of a window's brackets: its keyword, what follows it, and where it is."""

    keyword: str  # RANGE, SLIDE, TUMBLING, LND, FROM, TO, NOW, TO NOW, REPORT or TICK
    written: str  # which may be STEP, START or END
    at: int
    length: PlacedLength | None = None
    instant: PlacedInstant | None = None
    report: PlacedReport | None = None


class WindowReader(QueryReader):
    """The brackets of windows."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._demands: list[TimeDemand] = []
        self._begin()

    def _begin(self) -> None:
        """Before a query of the file: nothing is known of it."""
        self._cautions: list[Caution] = []

    # Lengths and instants

    def length(self, first: Token | Literal, unit: Token | None = None) -> PlacedLength:
        if isinstance(first, Literal):
            is_duration = first.datatype in _DURATIONS
            if first.language is not None or not (is_duration or first.datatype == XSD_STRING):
                raise self.error(f"{first} is not a length of time.", hint='"PT10M"^^xsd:duration')
            written, words = first.value, f'"{shortened(first.value)}"'
            if is_duration and not written.strip().startswith("P"):
                raise self.error(f"{first} is not a duration.", hint='"PT10M"^^xsd:duration')
        else:
            end = (first if unit is None else unit).end_pos
            written = self.text.read[offset(first) : end]
            words = shortened(" ".join(written.split()))
        at = self.here
        if written.startswith("-"):
            return PlacedLength(parse_negative(written, self._refused), f"-{words[1:].lstrip()}", at)
        return PlacedLength(self._parsed(parse_duration, written), words, at)

    def instant(self, time: Token | Literal) -> PlacedInstant:
        if isinstance(time, Literal):
            return PlacedInstant(self._parsed(parse_time, time), f'"{shortened(time.value)}"', self.here)
        value: object = str(time) if time.type == "TIME" else Literal(str(time), XSD + "integer")
        return PlacedInstant(self._parsed(parse_time, value), shortened(time), self.here)

    def _parsed(self, parse: Callable[[Any], Any], value: object) -> Any:
        try:
            return parse(value)
        except InputError as error:
            raise self._refused(error) from None

    def _refused(self, error: InputError, at: int | None = None) -> QueryError:
        reason, _, hint = str(error).partition(" Try: ")
        return self.error(reason if reason.endswith(".") else f"{reason}.", at=at, hint=hint)

    def positive(self, length: PlacedLength, keyword: str, written: str) -> Span:
        """A length that is > 0 (RS-65), with the kind of time that it demands."""
        if length.span.length <= 0:
            reason = f"{written} must be longer than 0, found {length.words}."
            raise self.error(reason, at=length.at, hint=f"{written} 10s")
        self._demands.append(TimeDemand(length.span.domain, f"{keyword} {span_text(length.span)}", length.at))
        return length.span

    def demanded(self, instant: PlacedInstant, keyword: str) -> Instant:
        """An instant, with the kind of time that it demands."""
        time, domain = instant.instant
        self._demands.append(TimeDemand(domain, f"{keyword} {format_time(time, domain)}", instant.at))
        return instant.instant

    def listed(self, instant: PlacedInstant) -> Instant:
        """A time of REPORT AT."""
        try:
            evaluation_time(instant.instant)
        except InputError as error:
            raise self._refused(error, instant.at) from None
        return self.demanded(instant, "AT")

    # Parts of brackets

    def range_part(self, length: PlacedLength) -> BracketPart:
        return BracketPart("RANGE", "RANGE", self.here, length)

    def slide_part(self, word: Token, length: PlacedLength) -> BracketPart:
        return BracketPart("SLIDE", word.upper(), self.here, length)

    def tumbling_part(self, _: Token) -> BracketPart:
        return BracketPart("TUMBLING", "TUMBLING", self.here)

    def landmark_part(self, instant: PlacedInstant) -> BracketPart:
        return BracketPart("LND", "LND", self.here, instant=instant)

    def first_part(self, *parts: Any) -> BracketPart:
        return BracketPart("FROM", "START" if len(parts) == 2 else "FROM", self.here, instant=parts[-1])

    def last_part(self, word: Token, instant: PlacedInstant) -> BracketPart:
        return BracketPart("TO", word.upper(), self.here, instant=instant)

    def now_part(self) -> BracketPart:
        return BracketPart("NOW", "NOW", self.here)

    def back_part(self, *parts: Any) -> BracketPart:
        """`NOW - x`, which is RANGE x; a sign without a space is the number's own."""
        at, length = self.here, parts[-1]
        if len(parts) == 1:
            if length.span.length >= 0:
                raise self.error(f"NOW and a length need a sign between them, found {length.words}.", hint="NOW - 10s")
            length = PlacedLength(Span(-length.span.length, length.span.domain), length.words[1:], length.at)
        return BracketPart("RANGE", "NOW -", at, length)

    def to_now_part(self) -> BracketPart:
        return BracketPart("TO NOW", "TO NOW", self.here)

    def counted_part(self, word: Token, number: Token | None = None) -> BracketPart:
        """RS-64."""
        written = f"{word.upper()} {shortened(number)}" if number is not None else word.upper()
        reason = f"Windows by count ({written}) are not supported: a window holds the events of a length of time."
        raise self.error(reason, hint=_EXAMPLE)

    def report_part(self, policy: Token) -> BracketPart:
        report = _REPORTS.get(policy.upper())
        if report is None:
            hint = _OWN_REPORTS.get(policy.upper()) or closest(policy, _REPORTS) or " or ".join(_REPORTS)
            raise self.error(f"The report policy {shortened(policy)} is not supported.", at=offset(policy), hint=hint)
        return BracketPart("REPORT", "REPORT", self.here, report=PlacedReport(report, self.here))

    def tick_part(self, kind: Token) -> BracketPart:
        if kind.upper() != "TIME_DRIVEN":
            reason = f"TICK {shortened(kind)} is not supported: a window moves with the events' time."
            raise self.error(reason, hint="TICK TIME_DRIVEN")
        return BracketPart("TICK", "TICK", self.here)

    # Brackets

    def window(self, *parts: BracketPart) -> Bracket:
        found: dict[str, BracketPart] = {}
        for part in parts:
            if part.keyword in found:
                raise self.error(
                    f"{part.keyword} is given twice in these brackets.", at=part.at, hint=f"one {part.keyword}"
                )
            found[part.keyword] = part
        report = found.pop("REPORT", None)
        found.pop("TICK", None)
        return Bracket(self._function(found), None if report is None else report.report)

    def _function(self, found: dict[str, BracketPart]) -> WindowFunction:
        match found:
            case {"RANGE": part, **rest}:
                rest.pop("TO NOW", None)
                slide, tumbling = rest.pop("SLIDE", None), rest.pop("TUMBLING", None)
                self._nothing_else(rest, "RANGE")
                return self._time_window(part, slide, tumbling)
            case {"LND": part, **rest}:
                self._nothing_else(rest, "LND")
                assert part.instant is not None
                return LandmarkWindow(self.demanded(part.instant, "LND"))
            case {"FROM": first, "TO": last, **rest}:
                self._nothing_else(rest, "FROM … TO")
                return self._interval(first, last)
            case {"NOW": _, **rest}:
                self._nothing_else(rest, "NOW")
                return NowWindow()
            case _ if not found:
                return IdentityWindow()
            case _:
                raise self._incomplete(next(iter(found.values())))

    def _nothing_else(self, rest: dict[str, BracketPart], keyword: str) -> None:
        for part in rest.values():
            if part.keyword in ("SLIDE", "TUMBLING"):
                reason, hint = f"{part.written} belongs to RANGE, but these brackets have {keyword}.", _EXAMPLE
            else:
                reason, hint = f"{keyword} and {part.written} are not allowed in the same brackets.", "one of them"
            raise self.error(reason, at=part.at, hint=hint)

    def _incomplete(self, part: BracketPart) -> QueryError:
        match part.keyword:
            case "SLIDE" | "TUMBLING":
                return self.error(f"{part.written} needs RANGE before it.", at=part.at, hint=_EXAMPLE)
            case "FROM":
                other = "END" if part.written == "START" else "TO"
                reason = f"{part.written} needs {other} in the same brackets."
                return self.error(reason, at=part.at, hint="LND for an open end")
            case "TO NOW":
                return self.error("TO NOW needs NOW - and a length before it.", at=part.at, hint="[NOW - 10s]")
            case _:
                other, hint = ("START", "[START 1 END 10]") if part.written == "END" else ("FROM", "[FROM 1 TO 10]")
                return self.error(f"{part.written} needs {other} in the same brackets.", at=part.at, hint=hint)

    def _time_window(self, part: BracketPart, slide: BracketPart | None, tumbling: BracketPart | None) -> TimeWindow:
        assert part.length is not None
        width = self.positive(part.length, "RANGE", part.written)
        if tumbling is not None:
            if slide is not None:
                hint = "SLIDE or TUMBLING"
                raise self.error(
                    "TUMBLING is SLIDE by the whole RANGE: only one of them is allowed.", at=tumbling.at, hint=hint
                )
            return TimeWindow(width, width)
        if slide is None:
            return TimeWindow(width)
        assert slide.length is not None
        step = self.positive(slide.length, "SLIDE", slide.written)
        if step.domain is width.domain and step.length > width.length:
            words = f"{slide.written} {slide.length.words} is longer than {part.written} {part.length.words}"
            reason = f"{words}: no window holds the events between."
            self.caution(reason, slide.at)
        return TimeWindow(width, step)

    def _interval(self, first: BracketPart, last: BracketPart) -> IntervalWindow:
        assert first.instant is not None and last.instant is not None
        begin, end = self.demanded(first.instant, "FROM"), self.demanded(last.instant, "TO")
        if begin.domain is end.domain and begin.time > end.time:
            early, late = last.instant.words, first.instant.words
            reason = f"{first.written} {late} is after {last.written} {early}."
            raise self.error(reason, at=first.at, hint=f"[{first.written} {early} {last.written} {late}]")
        return IntervalWindow(begin, end)

    def caution(self, reason: str, at: int, *, hint: str = "") -> None:
        """Keep a warning."""
        self._cautions.append(Caution(reason, at, hint))


def parse_negative(written: str, refused: Callable[[InputError], QueryError]) -> Span:
    """A length with a minus sign before it."""
    try:
        span = parse_duration(written[1:])
    except InputError as error:
        raise refused(error) from None
    return Span(-span.length, span.domain)
