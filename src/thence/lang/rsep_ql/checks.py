"""An RSEP-QL query as read, with its places, and the errors and warnings about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from thence.algebra.expressions import Arithmetic, Compare, Comparison, Operation, Variable
from thence.algebra.patterns import Bgp, Construct, Graph, MatchPattern, Pattern, Select, WindowPattern
from thence.algebra.rsep_ql import EventPattern, StreamOperator, TimeWindow, WindowFunction
from thence.algebra.show_sparql import sparql_text
from thence.algebra.streams import OnClose, OnNonEmpty, Report
from thence.algebra.variables import parts
from thence.errors import InputError, closest, listed
from thence.lang.draft import PlacedDraft
from thence.lang.sparql.checks import below, given_variables, unbound_in_filters, unbound_in_form
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import Domain, parse_duration
from thence.rdf.values import value

# An RSEP-QL query as it was read, before it is known to mean something: its clauses, and where each is.

_LONGEST = 80  # characters of a name that a message shows


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A window's name, or the variable that is in its place."""

    name: IRI | Variable
    at: int


@dataclass(frozen=True, slots=True)
class PlacedReport:
    """When the query is evaluated: by REPORT, or in a window's brackets."""

    report: Report
    at: int


@dataclass(frozen=True, slots=True)
class PlacedOperator:
    """RSTREAM, ISTREAM or DSTREAM; None is what STREAM and QUERY say."""

    operator: StreamOperator | None
    at: int


@dataclass(frozen=True, slots=True)
class Register:
    """`REGISTER … name AS`."""

    operator: PlacedOperator
    label: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """A window's brackets."""

    function: WindowFunction
    report: PlacedReport | None = None


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A window that the text names: `FROM NAMED :S WIN […] AS :w`, `FROM NAMED WINDOW :w ON :S […]`."""

    name: IRI
    stream: IRI
    bracket: Bracket
    at: int  # of its name


@dataclass(frozen=True, slots=True)
class StreamClause:
    """`FROM STREAM s […]`: a window that bare triples read (C-SPARQL, SPARQLstream), or that STREAM blocks name
    (CQELS 2)."""

    stream: IRI
    bracket: Bracket
    at: int


@dataclass(frozen=True, slots=True)
class StreamBlock:
    """`STREAM s […] { … }`, whose window has a name that no text can write."""

    name: IRI
    stream: IRI
    bracket: Bracket
    clause: StreamClause | None  # the FROM STREAM that it has its brackets from
    at: int


@dataclass(frozen=True, slots=True)
class EventClause:
    """`EVENT ON :w { … } AS E1`, and where the clause and its name are."""

    event: EventPattern
    at: int
    name_at: int


@dataclass(frozen=True, slots=True)
class EventTime:
    """`START ?s` or `END ?e` of an EVENT."""

    variable: Variable
    keyword: str
    at: int


@dataclass(frozen=True, slots=True)
class WindowUse:
    """A name in a pattern: `WINDOW :w`, `EVENT ON :w` or `GRAPH :g`."""

    name: IRI
    at: int
    keyword: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, and the place that it is about."""

    reason: str
    at: int
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(PlacedDraft):
    form: Select | Construct
    is_ask: bool
    form_at: int
    register: Register | None
    operator: PlacedOperator | None  # after SELECT or CONSTRUCT
    windows: Sequence[WindowClause]
    stream_clauses: Sequence[StreamClause]
    blocks: Sequence[StreamBlock]
    events: Sequence[EventClause]
    reports: Sequence[PlacedReport]  # by REPORT, then in brackets
    uses: Sequence[WindowUse]
    matched: frozenset[str]  # the EVENTs that some MATCH names
    cautions: Sequence[Caution]  # that were already clear when the text was read
    namespace: str
    prefixes: dict[str, str]

    @property
    def unread_clauses(self) -> list[StreamClause]:
        """The FROM STREAMs that no STREAM block names."""
        taken = {block.clause for block in self.blocks}
        return [each for each in self.stream_clauses if each not in taken]

    def written(self, iri: IRI) -> str:
        return written(iri, self.prefixes)


def written(iri: IRI, prefixes: dict[str, str]) -> str:
    """An IRI as the text would write it, or as much of it as a message can hold."""
    for prefix, namespace in prefixes.items():
        local = iri.value.removeprefix(namespace)
        if local != iri.value and local.replace("_", "").isalnum():
            return shortened(f"{prefix}:{local}")
    return str(iri) if len(iri.value) <= _LONGEST else f"<{iri.value[:_LONGEST]}…>"


def shortened(text: str) -> str:
    """As much of a text as a message can hold."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# Errors of an RSEP-QL query, and warnings about likely mistakes.


def check_names(draft: Draft) -> None:
    """Every window has one name, and no other is used (RS-67); something is a window."""
    if not (draft.windows or draft.stream_clauses or draft.blocks):
        reason = "The query has no window, so it reads no stream."
        raise draft.error(reason, draft.form_at, hint="FROM NAMED :S WIN [RANGE 10s SLIDE 5s] AS :w")
    places: dict[IRI, int] = {}
    for window in draft.windows:
        name = draft.written(window.name)
        if window.name in places:
            reason = f"The window {name} is defined twice, first at {draft.line(places[window.name])}."
            raise draft.error(reason, window.at, hint="a new name")
        if window.name in draft.form.dataset.named:
            reason = f"FROM NAMED gives the name {name} to a graph and to a window."
            raise draft.error(reason, window.at, hint="a new name")
        places[window.name] = window.at
    for use in draft.uses:
        if use.keyword != "GRAPH" and use.name not in places:
            raise draft.error(f"There is no window {draft.written(use.name)}.", use.at, hint=_meant(draft, use.name))


def _meant(draft: Draft, name: IRI) -> str:
    known = {each.name.value: draft.written(each.name) for each in draft.windows}
    if near := closest(name.value, known):
        return known[near]
    return listed(known.values()) if known else f"FROM NAMED :S WIN [RANGE 10s] AS {draft.written(name)}"


def all_windows(draft: Draft) -> list[WindowClause | StreamClause | StreamBlock]:
    """The windows in the order of the text; not those of FROM STREAM that STREAM blocks take."""
    clauses: list[WindowClause | StreamClause] = [*draft.windows, *draft.unread_clauses]
    declared = sorted(clauses, key=lambda each: each.at)
    return [*declared, *draft.blocks]


def report(draft: Draft) -> Report | None:
    """When the query is evaluated: what REPORT says, or all brackets. ON CLOSE needs a window with SLIDE (RS-66)."""
    brackets = [each.bracket.report for each in all_windows(draft)]
    found = [*draft.reports, *(each for each in brackets if each is not None)]
    if not found:
        return None
    for other in found[1:]:
        if other.report != found[0].report:
            reason = f"This REPORT differs from the one at {draft.line(found[0].at)}."
            raise draft.error(reason, other.at, hint="the same in all brackets, or one REPORT after FROM")
    functions = [each.bracket.function for each in all_windows(draft)]
    has_slide = any(isinstance(each, TimeWindow) and each.slide is not None for each in functions)
    if isinstance(found[0].report, OnClose | OnNonEmpty) and not has_slide:
        word = "CLOSE" if isinstance(found[0].report, OnClose) else "NON_EMPTY_CONTENT"
        reason = f"REPORT ON {word} needs a window with SLIDE: no other window closes."
        raise draft.error(reason, found[0].at, hint="[RANGE 10s SLIDE 5s], or REPORT ON CONTENT")
    return found[0].report


def output(draft: Draft) -> StreamOperator | None:
    """The stream operator that REGISTER names, or that follows SELECT or CONSTRUCT. REGISTER STREAM and QUERY are
    RStream."""
    if draft.register is None:
        return None if draft.operator is None else draft.operator.operator
    registered = draft.register.operator.operator
    if draft.operator is None:
        return registered or StreamOperator.RSTREAM
    if registered is not None and registered is not draft.operator.operator:
        assert draft.operator.operator is not None
        reason = f"REGISTER {registered.value} and {draft.operator.operator.value} contradict each other."
        raise draft.error(reason, draft.operator.at, hint="one of them")
    return draft.operator.operator


def warnings(draft: Draft) -> Iterator[str]:
    """Likely mistakes in a legal query, each as a sentence with its place."""
    for caution in sorted(draft.cautions, key=lambda each: each.at):
        yield str(draft.error(caution.reason, caution.at, hint=caution.hint))
    yield from _unused(draft)
    windows = {each.name for each in draft.windows}.difference(draft.form.dataset.named)
    for use in draft.uses:
        if use.keyword == "GRAPH" and use.name in windows:
            name = draft.written(use.name)
            yield str(
                draft.error(f"{name} is a window, which GRAPH can't read.", use.at, hint=f"WINDOW {name} {{ … }}")
            )
    yield from _incomparable(draft)
    yield from unbound_in_form(draft, draft.form, draft.form_at)
    given = given_variables(draft.form, *(each.event for each in draft.events))
    for pattern in (*(each.event.pattern for each in draft.events), draft.form.where):
        yield from unbound_in_filters(draft, pattern, given)


def _incomparable(draft: Draft) -> Iterator[str]:
    """Differences of times of EVENTs beside what no such difference is less, equal or greater than."""
    times = {name for each in draft.events for name in (each.event.start, each.event.end)}
    for condition, at in draft.filters_at.values():
        for part in parts(condition):
            match part:
                case Compare(
                    sign,
                    Arithmetic(Operation.SUBTRACT, Variable() as later, Variable() as earlier) as difference,
                    Literal(text, datatype) as constant,
                ) if sign is not Comparison.NOT_EQUAL and {later, earlier} <= times:
                    if isinstance(value(constant), str | Duration) and datatype != XSD_DAY_TIME_DURATION:
                        kind = "a text" if isinstance(value(constant), str) else "an xsd:duration"
                        reason = (
                            f'{sparql_text(difference)} can\'t be compared with "{shortened(text)}", which is {kind}.'
                        )
                        yield str(draft.error(reason, at, hint=_written_duration(text)))


def _written_duration(text: str) -> str:
    """A length of time, given as a text, as a query writes it; an example if it is not a length."""
    try:
        span = parse_duration(text)
    except InputError:
        return '"PT10M"^^xsd:dayTimeDuration, or 10 where times are ticks'
    if span.domain is Domain.TICKS:
        return str(span.length)
    return f'"{Duration(0, Decimal(span.length) / 1_000_000)}"^^xsd:dayTimeDuration'


def _unused(draft: Draft) -> Iterator[str]:
    used = {use.name for use in draft.uses if use.keyword != "GRAPH"}
    unused = [each for each in draft.windows if each.name not in used]
    for window in unused:
        name = draft.written(window.name)
        if len(draft.windows) == 1 and not draft.stream_clauses and reads_default(draft.form.where):
            reason = f"No WINDOW block reads {name}: triples outside are the default graph's, as in SPARQL."
            yield str(draft.error(reason, window.at, hint=f"WHERE {{ WINDOW {name} {{ … }} }}"))
        else:
            yield str(draft.error(f"The window {name} is never read.", window.at, hint=f"WINDOW {name} {{ … }}"))
    if draft.blocks:
        for clause in draft.unread_clauses:
            name = draft.written(clause.stream)
            reason = f"No STREAM block reads the window of FROM STREAM {name}."
            yield str(draft.error(reason, clause.at, hint=f"STREAM {name} {{ … }}"))
    for event in draft.events:
        if event.event.name not in draft.matched:
            name = shortened(event.event.name)
            yield str(draft.error(f'No MATCH names the EVENT "{name}".', event.name_at, hint=f"MATCH {{ {name} }}"))


def reads_default(pattern: Pattern) -> bool:
    """Whether some triples are matched with the default graph."""
    waiting = [pattern]
    while waiting:
        match waiting.pop():
            case Bgp(triples) if triples:
                return True
            case Graph() | WindowPattern() | MatchPattern():
                continue
            case other:
                waiting += below(other)
    return False
