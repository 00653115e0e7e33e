"""From a parse tree to a draft of an RSEP-QL query: clauses, WINDOW, STREAM blocks, and MATCH over EVENTs (RS-24 to
RS-30, RS-67)."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

from lark import Token, Tree

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Ask,
    BasicEvent,
    Construct,
    EventExpression,
    EventSeq,
    First,
    Graph,
    Join,
    Last,
    MatchPattern,
    Modifiers,
    Pattern,
    Projection,
    Select,
    SeqPolicy,
    Values,
    WindowPattern,
)
from thence.algebra.rsep_ql import EventPattern, IdentityWindow, StreamOperator, block_window, select_of_ask
from thence.algebra.streams import At, Every, OnClose, OnContent, OnNonEmpty
from thence.algebra.traversal import DEPTH
from thence.algebra.variables import in_scope
from thence.errors import closest, listed
from thence.lang.mistakes import Diagnosis
from thence.lang.rsep_ql.checks import (
    Bracket,
    Draft,
    EventClause,
    EventTime,
    PlacedName,
    PlacedOperator,
    PlacedReport,
    Register,
    StreamBlock,
    StreamClause,
    WindowClause,
    WindowUse,
    shortened,
    written,
)
from thence.lang.rsep_ql.window_reader import PlacedInstant, PlacedLength, WindowReader
from thence.lang.sparql.checks import PlacedColumn
from thence.lang.sparql.group_reader import FilterElement, GroupDraft, SelectClause, SelectDraft
from thence.lang.syntax import LONG_MATCH, offset
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI, resolve

RESERVED = frozenset({"FIRST", "LAST", "SEQ", "CHRONOLOGICAL", "RECENT", "NAIVE"})


class EventReader(WindowReader):
    """Windows and events in patterns. The clauses before WHERE are read before what is in it."""

    def _begin(self) -> None:
        super()._begin()
        self._home.clear()  # a blank node's label belongs to its query
        self._windows: list[WindowClause] = []
        self._stream_clauses: list[StreamClause] = []
        self._blocks: list[StreamBlock] = []
        self._blocks_at: list[tuple[int, str]] = []  # where WINDOW, STREAM and MATCH are
        self._events: dict[str, EventClause] = {}
        self._uses: list[WindowUse] = []
        self._names: list[tuple[str, int]] = []  # of EVENTs, in the current MATCH
        self._matched: set[str] = set()
        self._matches = 0

    @property
    def namespace(self) -> str:
        """The namespace of bare names of streams, and of relative IRIs without BASE."""
        return self.prefixes.get("") or self.base or DEFAULT_NAMESPACE

    # EVENT

    def event_start(self, variable: Variable) -> EventTime:
        return EventTime(variable, "START", self.here)

    def event_end(self, variable: Variable) -> EventTime:
        return EventTime(variable, "END", self.here)

    def event_clause(self, window: PlacedName, group: GroupDraft, token: Token, *times: EventTime) -> EventClause:
        at, name = self.here, str(token)
        inside = next(((place, word) for place, word in self._blocks_at if place > at), None)
        if inside is not None:
            reason = f"{inside[1]} is not allowed in EVENT, which reads one event at a time."
            raise self.error(reason, at=inside[0], hint=f"{inside[1]} in WHERE")
        if name.upper() in RESERVED:
            raise self.error(f"{name} is a keyword of MATCH and can't name an EVENT.", at=offset(token), hint="E1")
        if name in self._events:
            first = self.text.place(self._events[name].name_at)
            reason = f'The EVENT "{shortened(name)}" is defined twice, first at {first.line}:{first.column}.'
            raise self.error(reason, at=offset(token), hint="a new name")
        known = set(in_scope(group.whole))
        for each in times:
            if each.variable in known:
                reason = f"{each.keyword} binds {each.variable}, which this EVENT binds already."
                raise self.error(reason, at=each.at, hint=f"{each.keyword} with a variable of its own")
            known.add(each.variable)
        bound = {each.keyword.lower(): each.variable for each in times}
        pattern = EventPattern(name, self._used(window, "EVENT ON"), group.whole, **bound)
        self._events[name] = EventClause(pattern, at, offset(token))
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
        """The window's name, which is not a variable (RS-67)."""
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
            reason = f"FROM STREAM gives {self.written(stream)} two windows, so this STREAM block must choose one."
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
                raise self.error("SEQ belongs between two events.", at=at, hint="E1 SEQ E2")
            if name not in self._events:
                near = closest(name, self._events) or (listed(self._events) if self._events else "")
                hint = near or f"EVENT ON :w {{ … }} AS {shortened(name)}, before WHERE"
                raise self.error(f'There is no EVENT "{shortened(name)}".', at=at, hint=hint)
        self._matched.update(name for name, _ in names)
        bound = (variable for name, _ in names for variable in self._events[name].event.variables)
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


# From a parse tree to a draft of an RSEP-QL query: what the grammar can't refuse with a reason is refused here.

TIMESTAMP = Diagnosis(
    "C-SPARQL's timestamp() is not supported: triples have no time of their own.",
    "EVENT ON :w { … } AS E1 END ?t, and MATCH { E1 SEQ NAIVE E2 }",
)
_RANDOM = dict.fromkeys(("UUID", "STRUUID"), "a blank node in a template") | {"RAND": "a value of an event"}
_ESCAPED = re.compile(r"\\(.)")


class WindowQueryReader(EventReader):
    """RSEP-QL over SPARQL."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)
        self._filters_at: dict[int, tuple[Expression, int]] = {}

    def _begin(self) -> None:
        super()._begin()
        self._operators: list[PlacedOperator] = []
        self._reports: list[PlacedReport] = []
        self._form_at = 0

    def read(self, tree: Tree[Token]) -> list[Draft]:
        """The clauses before the columns, since an EXISTS in SELECT may have a MATCH, which names EVENTs."""
        for query in tree.find_data("select_query"):
            columns, *clauses, where, modifiers = query.children
            query.children = [*clauses, columns, where, modifiers]
        drafts: list[Draft] = super().read(tree)
        for places in self._named.values():
            places.sort()
        return drafts

    def window_file(self, *drafts: Draft) -> list[Draft]:
        return list(drafts)

    def window_query(self, *parts: Any) -> Draft:
        register = next((part for part in parts if isinstance(part, Register)), None)
        query, values = parts[-2:]
        form = self._form(query, values)
        draft = Draft(
            text=self.text,
            demands=self._demands,
            named=self._named,
            filters_at=self._filters_at,
            form=form,
            is_ask=isinstance(query, Ask),
            form_at=self._form_at,
            register=register,
            operator=self._operators[0] if self._operators else None,
            windows=self._windows,
            stream_clauses=self._stream_clauses,
            blocks=self._blocks,
            events=tuple(self._events.values()),
            reports=self._reports,
            uses=self._uses,
            matched=frozenset(self._matched),
            cautions=self._cautions,
            namespace=self.namespace,
            prefixes=self.prefixes,
        )
        self._begin()
        return draft

    def _form(self, query: SelectDraft | Construct | Ask, values: Values | None) -> Select | Construct:
        if isinstance(query, SelectDraft):
            return self._select(query, values)
        if isinstance(query, Ask):
            return select_of_ask(query if values is None else replace(query, where=Join(query.where, values)))
        return replace(query, modifiers=replace(query.modifiers, values=values))

    # Terms

    def var(self, token: Token) -> Variable:
        variable = super().var(token)
        self._named[variable].append(offset(token))
        return variable

    def _resolve(self, token: Token) -> str:
        """A relative IRI without BASE is of the default namespace."""
        return super()._resolve(token) if self.base is not None else resolve(token[1:-1], self.namespace)

    # REGISTER, and what of an answer is emitted

    def register(self, kind: Token, label: Token, *_: PlacedReport) -> Register:
        word, name = kind.upper(), str(label)
        operator = StreamOperator(word) if word in StreamOperator.__members__ else None
        plain = name[1:-1] if name.startswith("<") else _ESCAPED.sub(r"\1", name.removeprefix(":"))
        return Register(PlacedOperator(operator, offset(kind)), plain)

    def stream_operator(self, token: Token) -> PlacedOperator:
        found = PlacedOperator(StreamOperator(token.upper()), offset(token))
        self._operators.append(found)
        return found

    # SELECT and CONSTRUCT

    def select_clause(self, *parts: Any) -> SelectClause:
        return super().select_clause(*(part for part in parts if not isinstance(part, PlacedOperator)))

    def bare_aggregate(self, aggregate: Expression, variable: Variable) -> PlacedColumn:
        hint = f"({self.text.read[self.here : self._named[variable][-1]]}{variable})"
        reason = "SPARQL requires brackets around an aggregate and its name; this is read as if it had them."
        self.caution(reason, self.here, hint=hint if len(hint) <= 60 else f"(… AS {variable})")
        return PlacedColumn(Projection(variable, aggregate), self.here)

    def select_query(self, *parts: Any) -> SelectDraft:
        *clauses, columns, group, modifiers = parts
        self._form_at = columns.at
        return super().select_query(columns, *clauses, group, modifiers)

    def sub_select(self, clause: SelectClause, *rest: Any) -> Select:
        inside = next((each for each in self._operators if each.at > self.here), None)
        if inside is not None and inside.operator is not None:
            reason = f"{inside.operator.value} is not allowed in a sub-select: it applies to the whole query."
            raise self.error(reason, at=inside.at, hint=f"SELECT {inside.operator.value} at the beginning")
        return super().sub_select(clause, *rest)

    def construct_query(self, *parts: Any) -> Construct:
        self._form_at = self.here
        return super().construct_query(*(part for part in parts if not isinstance(part, PlacedOperator)))

    def construct_where_query(self, *parts: Any) -> Construct:
        self._form_at = self.here
        return super().construct_where_query(*(part for part in parts if not isinstance(part, PlacedOperator)))

    def ask_query(self, *parts: Any) -> Ask:
        self._form_at = self.here
        found = super().ask_query(*(part for part in parts if not isinstance(part, PlacedOperator)))
        if found.modifiers != Modifiers():
            reason = "ASK tests whether WHERE has an answer, so nothing may follow WHERE."
            raise self.error(reason, hint="ASK WHERE { { SELECT … } }")
        return found

    # Windows

    def named_window(self, stream: IRI, *rest: Any) -> WindowClause:
        bracket = rest[0] if len(rest) == 2 else Bracket(IdentityWindow())
        return self._window(rest[-1], stream, bracket, "AS")

    def window_on_stream(self, name: PlacedName, *rest: Any) -> WindowClause:
        bracket = next((part for part in rest if isinstance(part, Bracket)), Bracket(IdentityWindow()))
        stream = next(part for part in rest if isinstance(part, IRI))
        return self._window(name, stream, bracket, "FROM NAMED WINDOW")

    def _window(self, name: PlacedName, stream: IRI, bracket: Bracket, keyword: str) -> WindowClause:
        self._windows.append(WindowClause(self.constant(name, keyword), stream, bracket, name.at))
        return self._windows[-1]

    def stream_window(self, stream: IRI, bracket: Bracket) -> StreamClause:
        self._stream_clauses.append(StreamClause(stream, bracket, self.here))
        return self._stream_clauses[-1]

    # REPORT

    def on_content(self) -> PlacedReport:
        return self._report(PlacedReport(OnContent(), self.here))

    def on_close(self) -> PlacedReport:
        return self._report(PlacedReport(OnClose(), self.here))

    def on_non_empty(self) -> PlacedReport:
        return self._report(PlacedReport(OnNonEmpty(), self.here))

    def every(self, length: PlacedLength) -> PlacedReport:
        return self._report(PlacedReport(Every(self.positive(length, "EVERY", "EVERY")), self.here))

    def at(self, *instants: PlacedInstant) -> PlacedReport:
        return self._report(PlacedReport(At(tuple(map(self.listed, instants))), self.here))

    def _report(self, found: PlacedReport) -> PlacedReport:
        if self._reports:
            first = self._reports[0].at
            place = self.text.place(first)
            if self.text.read[first : first + 8].upper() == "COMPUTED":
                reason = f"COMPUTED EVERY at {place.line}:{place.column} is a REPORT already."
                raise self.error(reason, at=found.at, hint="one of them")
            reason = f"REPORT is given twice, first at {place.line}:{place.column}."
            raise self.error(reason, at=found.at, hint="one REPORT")
        self._reports.append(found)
        return found

    # Expressions

    def filter(self, condition: Expression) -> FilterElement:
        found = super().filter(condition)
        self._filters_at[id(found.expression)] = found.expression, self.here
        return found

    def call(self, function: Token, *arguments: Any) -> Expression:
        name = function.upper()
        if name in _RANDOM:
            raise self.error(f"{name} is not supported: the same events must give the same rows.", hint=_RANDOM[name])
        return super().call(function, *arguments)

    def function_call(self, function: IRI, arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        if re.search(r"(?:^|[#/:])timestamp$", function.value, re.IGNORECASE):  # RS-64
            raise self.error(TIMESTAMP.reason, hint=TIMESTAMP.hint)
        return super().function_call(function, arguments)

    # What is refused by name

    def service_graph_pattern(self, *_: Any) -> Pattern:
        reason = "SERVICE is not supported: a query reads only the data that it is given."
        raise self.error(reason, hint="GRAPH, with that data as background")
