"""Patterns of RSEP-QL: WINDOW, STREAM blocks, and MATCH over the query's EVENTs (RS-24 to RS-30, RS-67)."""

from __future__ import annotations

from typing import Any

from lark import Token

from thence.algebra.chains import DEPTH
from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    BasicEvent,
    EventExpression,
    EventSeq,
    First,
    Graph,
    Last,
    MatchPattern,
    Pattern,
    SeqPolicy,
    WindowPattern,
)
from thence.algebra.rsep_ql import block_window
from thence.algebra.variables import in_scope
from thence.hints import closest, listed
from thence.lang.long_chains import LONG_MATCH
from thence.lang.rsep_ql.draft import (
    EventClause,
    PlacedName,
    StreamBlock,
    StreamClause,
    WindowClause,
    WindowUse,
    shortened,
    written,
)
from thence.lang.rsep_ql.window_reader import WindowReader
from thence.lang.sparql.group_reader import GroupDraft
from thence.lang.syntax import offset
from thence.rdf.terms import IRI
from thence.rdf.typed_events import DEFAULT_NAMESPACE

RESERVED = frozenset({"FIRST", "LAST", "SEQ", "CHRONOLOGICAL", "RECENT", "NAIVE"})


class EventReader(WindowReader):
    """Windows and events in patterns. The clauses before WHERE are read before what is in it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._windows: list[WindowClause] = []
        self._stream_clauses: list[StreamClause] = []
        self._blocks: list[StreamBlock] = []
        self._blocks_at: list[tuple[int, str]] = []  # where WINDOW, STREAM and MATCH stand
        self._events: dict[str, EventClause] = {}
        self._uses: list[WindowUse] = []
        self._names: list[tuple[str, int]] = []  # of EVENTs, in the MATCH in hand
        self._matched: set[str] = set()
        self._matches = 0

    @property
    def namespace(self) -> str:
        """What bare names of streams are of, and what relative IRIs without BASE are resolved against."""
        return self.prefixes.get("") or self.base or DEFAULT_NAMESPACE

    # EVENT

    def event_clause(self, window: PlacedName, group: GroupDraft, token: Token) -> EventClause:
        at, name = self.here, str(token)
        inside = next(((place, word) for place, word in self._blocks_at if place > at), None)
        if inside is not None:
            reason = f"{inside[1]} can't stand in EVENT, which looks at one event at a time."
            raise self.error(reason, at=inside[0], hint=f"{inside[1]} in WHERE")
        if name.upper() in RESERVED:
            raise self.error(f"{name} is a keyword of MATCH, and can't name an EVENT.", at=offset(token), hint="E1")
        if name in self._events:
            first = self.text.place(self._events[name].name_at)
            reason = f'The EVENT "{shortened(name)}" is defined twice, first at {first.line}:{first.column}.'
            raise self.error(reason, at=offset(token), hint="a new name")
        self._events[name] = EventClause(name, self._used(window, "EVENT ON"), group.whole, at, offset(token))
        return self._events[name]

    # Windows

    def window_name(self, name: Variable | IRI) -> PlacedName:
        return PlacedName(name, self.here)

    def window_graph_pattern(self, window: PlacedName, group: GroupDraft) -> Pattern:
        self._blocks_at.append((self.here, "WINDOW"))
        return WindowPattern(self._used(window, "WINDOW"), group.whole)

    def stream_graph_pattern(self, stream: IRI, *rest: Any) -> Pattern:
        at = self.here
        self._blocks_at.append((at, "STREAM"))
        clause = None if len(rest) == 2 else self._clause_of(stream)
        name = block_window(len(self._blocks))
        self._blocks.append(StreamBlock(name, stream, rest[0] if clause is None else clause.bracket, clause, at))
        group: GroupDraft = rest[-1]
        return WindowPattern(name, group.whole)

    def graph_graph_pattern(self, name: Variable | IRI, group: GroupDraft) -> Pattern:
        if isinstance(name, IRI):
            self._uses.append(WindowUse(name, self.here, "GRAPH"))
        return Graph(name, group.whole)

    def bare_stream(self, token: Token) -> IRI:
        return IRI(self.namespace + token)

    def _used(self, window: PlacedName, keyword: str) -> IRI:
        name = self.constant(window, keyword)
        self._uses.append(WindowUse(name, window.at, keyword))
        return name

    def constant(self, window: PlacedName, keyword: str) -> IRI:
        """The window's name, which is no variable (RS-67)."""
        if isinstance(window.name, IRI):
            return window.name
        known = [self.written(each.name) for each in self._windows]
        reason = f"{keyword} names one window, and {window.name} is a variable."
        raise self.error(reason, at=window.at, hint=f"{keyword} {known[0] if known else ':w'}")

    def _clause_of(self, stream: IRI) -> StreamClause:
        """The FROM STREAM that has the brackets of a block without any (CQELS 2)."""
        clauses = self._stream_clauses
        found = [each for each in clauses if each.stream == stream]
        if len(found) > 1:
            reason = f"FROM STREAM gives {self.written(stream)} two windows, and this STREAM block none."
            raise self.error(reason, hint=f"STREAM {self.written(stream)} [RANGE 10s] {{ … }}")
        if not found:
            near = closest(stream.value, [each.stream.value for each in clauses])
            name = self.written(stream)
            reason = f"STREAM {name} needs a window, and no FROM STREAM gives it one."
            raise self.error(reason, hint=f"STREAM {self.written(IRI(near))}" if near else f"STREAM {name} [RANGE 10s]")
        return found[0]

    # MATCH

    def match_graph_pattern(self, events: EventExpression) -> Pattern:
        self._blocks_at.append((self.here, "MATCH"))
        names, self._names = self._names, []
        for name, at in names:
            if name.upper() == "SEQ":
                raise self.error("SEQ stands between two events.", at=at, hint="E1 SEQ E2")
            if name not in self._events:
                near = closest(name, self._events) or (listed(self._events) if self._events else "")
                hint = near or f"EVENT ON :w {{ … }} AS {shortened(name)}, before WHERE"
                raise self.error(f'There is no EVENT "{shortened(name)}".', at=at, hint=hint)
        self._matched.update(name for name, _ in names)
        bound = (variable for name, _ in names for variable in in_scope(self._events[name].pattern))
        self._matches += 1
        return MatchPattern(events, self._matches - 1, tuple(dict.fromkeys(bound)))

    def event_sequence(self, first: EventExpression, *rest: Any) -> EventExpression:
        """SEQ is left-associative (RS-30)."""
        if sum(isinstance(part, Token) and part.type == "SEQ" for part in rest) >= DEPTH:
            raise self.error(LONG_MATCH)
        found, policy = first, None
        for part in rest:
            if not isinstance(part, Token):
                found, policy = EventSeq(found, part, policy), None
            elif part.type == "POLICY":
                policy = SeqPolicy(part.upper())
        return found

    def selected(self, selector: Token, events: EventExpression) -> EventExpression:
        return First(events) if selector.upper() == "FIRST" else Last(events)

    def event_name(self, token: Token) -> EventExpression:
        self._names.append((str(token), offset(token)))
        return BasicEvent(str(token))

    def written(self, iri: IRI) -> str:
        return written(iri, self.prefixes)
