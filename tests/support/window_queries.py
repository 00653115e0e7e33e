"""Random RSEP-QL queries, such as the parser can produce, but for the numbers of MATCHes and STREAM blocks: those are
the order of the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from support.algebras import ARITIES, Maker
from thence.algebra.expressions import Call, Expression, Variable
from thence.algebra.patterns import (
    Ask,
    BasicEvent,
    Construct,
    DatasetClause,
    EventExpression,
    EventSeq,
    First,
    Last,
    MatchPattern,
    Pattern,
    Select,
    SeqPolicy,
    WindowPattern,
)
from thence.algebra.rsep_ql import (
    EventPattern,
    IdentityWindow,
    IntervalWindow,
    LandmarkWindow,
    NamedWindow,
    NowWindow,
    StreamOperator,
    TimeWindow,
    WindowFunction,
    WindowQuery,
    block_window,
    clause_window,
    select_of_ask,
)
from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty, Report
from thence.lang.draft import named_streams
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, Span

_CALLED = {name: arity for name, arity in ARITIES.items() if name != "RAND"}
_STREAMS = [IRI(iri) for iri in ("http://example.org/S", "urn:x#T", "urn:y#T", "http://example.org/a/b", "x:")]
_NAMES = [IRI(f"http://example.org/w{number}") for number in range(3)]


class WindowMaker(Maker):
    """Draws the parts of one query."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        self._domain = self._one(st.sampled_from(Domain))
        self._windows: list[tuple[IRI, IRI, WindowFunction]] = []  # name, stream, function
        self._events: dict[str, tuple[Variable, ...]] = {}
        self._blocks: list[tuple[IRI, IRI, WindowFunction]] = []
        self._in_event = True
        self._matches = 0

    def window_query(self, depth: int) -> WindowQuery:
        for number in range(self._one(st.integers(1, 3))):
            name = self._one(st.sampled_from([_NAMES[number], clause_window(number)]))
            self._windows.append((name, self._one(st.sampled_from(_STREAMS)), self._function()))
        written = [name for name, _, _ in self._windows if name in _NAMES]
        events = [self._event(f"E_{number}", written, depth) for number in range(3)] if written else []
        self._in_event = False
        is_ask = self._one(st.integers(0, 3)) == 3
        form: Select | Construct = self._ask_form(depth) if is_ask else self._form(depth)
        windows = [*self._windows, *self._blocks]
        namespace = self._one(st.sampled_from(["http://example.org/", "urn:n#"]))
        streams = named_streams((stream for _, stream, _ in windows), namespace)
        names = {stream.iri: stream.name for stream in streams}
        label = self._one(st.sampled_from(["", "q-1", "http://example.org/out"]))
        output = self._one(st.sampled_from([*StreamOperator, *([] if label else [None])]))
        merged = () if self._blocks else tuple(name for name, _, _ in self._windows if name not in _NAMES)
        return WindowQuery(
            form,
            streams,
            tuple(NamedWindow(name, names[stream], function) for name, stream, function in windows),
            tuple(events),
            self._maybe(lambda: self._report([function for _, _, function in windows])),
            output,
            label,
            merged,
            is_cqels=bool(self._blocks),
            is_ask=is_ask,
            namespace=namespace,
        )

    def _form(self, depth: int) -> Select | Construct:
        return self._either([lambda: self._select_form(depth), lambda: self._construct_form(depth)])

    def _ask_form(self, depth: int) -> Select:
        return select_of_ask(Ask(self.pattern(depth), dataset=self._graphs()))

    def _select_form(self, depth: int) -> Select:
        return self.select(depth, self._graphs())

    def _construct_form(self, depth: int) -> Construct:
        return Construct(self._template(), self.pattern(depth), self._modifiers(depth), self._graphs())

    def _graphs(self) -> DatasetClause:
        iris = st.sampled_from([IRI("http://example.org/g"), IRI("urn:g")])
        return DatasetClause(self._some(lambda: self._one(iris)), self._some(lambda: self._one(iris)))

    def _event(self, name: str, windows: list[IRI], depth: int) -> EventPattern:
        pattern = self.pattern(depth)
        start = self._maybe(lambda: Variable(f"start_of_{name}"))
        end = self._maybe(lambda: Variable(f"end_of_{name}"))
        event = EventPattern(name, self._one(st.sampled_from(windows)), pattern, start, end)
        self._events[name] = event.variables
        return event

    # Windows

    def _span(self) -> Span:
        return Span(self._one(st.integers(1, 10**7)), self._domain)

    def _instant(self) -> Instant:
        return Instant(self._one(st.integers(-(10**6), 10**15)), self._domain)

    def _function(self) -> WindowFunction:
        first, last = sorted((self._instant(), self._instant()), key=lambda each: each.time)
        return self._either(
            [
                lambda: TimeWindow(self._span(), self._maybe(self._span)),
                lambda: LandmarkWindow(first),
                lambda: IntervalWindow(first, last),
                NowWindow,
                IdentityWindow,
            ]
        )

    def _report(self, functions: list[WindowFunction]) -> Report:
        choices: list[Callable[[], Report]] = [
            OnContent,
            lambda: Every(self._span()),
            lambda: At(self._some(self._instant, 1)),
        ]
        if any(isinstance(each, TimeWindow) and each.slide is not None for each in functions):
            choices += [OnClose, OnNonEmpty]
        return self._either(choices)

    # Patterns

    def pattern(self, depth: int) -> Pattern:
        if depth == 0 or self._in_event or self._one(st.booleans()):
            return super().pattern(depth)
        written = [name for name, _, _ in self._windows if name in _NAMES]
        choices: list[Callable[[], Pattern]] = [lambda: self._block(depth)]
        if written:
            choices.append(lambda: WindowPattern(self._one(st.sampled_from(written)), self.pattern(depth - 1)))
        if self._events:
            choices.append(self._match)
        return self._either(choices)

    def _block(self, depth: int) -> Pattern:
        name = block_window(len(self._blocks))
        self._blocks.append((name, self._one(st.sampled_from(_STREAMS)), self._function()))
        return WindowPattern(name, self.pattern(depth - 1))

    def _match(self) -> Pattern:
        events = self._event_expression(3)
        self._matches += 1
        bound = (variable for name in names_in(events) for variable in self._events[name])
        return MatchPattern(events, self._matches - 1, tuple(dict.fromkeys(bound)))

    def _event_expression(self, depth: int) -> EventExpression:
        leaf = lambda: BasicEvent(self._one(st.sampled_from(sorted(self._events))))  # noqa: E731
        if depth == 0:
            return leaf()
        below = lambda: self._event_expression(depth - 1)  # noqa: E731
        policies = st.sampled_from([None, *SeqPolicy])
        return self._either(
            [
                leaf,
                lambda: First(below()),
                lambda: Last(below()),
                lambda: EventSeq(below(), below(), self._one(policies)),
            ]
        )

    def _call(self, below: Callable[[], Expression]) -> Expression:
        function = self._one(st.sampled_from(sorted(_CALLED)))
        return Call(function, tuple(below() for _ in range(_CALLED[function])))


def names_in(events: EventExpression) -> list[str]:
    """The names of EVENTs in the order of the text."""
    match events:
        case BasicEvent(name):
            return [name]
        case First(inner) | Last(inner):
            return names_in(inner)
        case EventSeq(left, right):
            return names_in(left) + names_in(right)


@st.composite
def window_queries(draw: Any, depth: int = 2) -> WindowQuery:
    return WindowMaker(draw).window_query(depth)
