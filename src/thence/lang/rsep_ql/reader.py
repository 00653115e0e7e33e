"""From a parse tree to a draft of an RSEP-QL query: what the grammar can't refuse with a reason is refused here."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

from lark import Token, Tree

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Construct, Pattern, Projection, Select, Values
from thence.algebra.report import At, Every, OnClose, OnContent
from thence.algebra.rsep_ql import IdentityWindow, StreamOperator
from thence.lang.mistakes import Diagnosis
from thence.lang.rsep_ql.draft import (
    Bracket,
    Draft,
    PlacedName,
    PlacedOperator,
    PlacedReport,
    Register,
    StreamClause,
    WindowClause,
)
from thence.lang.rsep_ql.event_reader import EventReader
from thence.lang.rsep_ql.window_reader import PlacedInstant, PlacedLength
from thence.lang.sparql.group_reader import FilterElement
from thence.lang.sparql.projection_checks import PlacedColumn
from thence.lang.sparql.query_reader import SelectClause, SelectDraft
from thence.lang.syntax import offset
from thence.rdf.iris import resolve
from thence.rdf.terms import IRI

TIMESTAMP = Diagnosis(
    "C-SPARQL's timestamp() is not supported: triples have no time of their own.",
    "EVENT ON :w { … } AS E1, and MATCH { E1 SEQ NAIVE E2 }",
)
_RANDOM = dict.fromkeys(("UUID", "STRUUID"), "a blank node in a template") | {"RAND": "a value of an event"}
_ESCAPED = re.compile(r"\\(.)")


class WindowQueryReader(EventReader):
    """RSEP-QL over SPARQL."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)
        self._filters_at: dict[int, tuple[Expression, int]] = {}
        self._operators: list[PlacedOperator] = []
        self._reports: list[PlacedReport] = []
        self._form_at = 0

    def read(self, tree: Tree[Token]) -> Draft:
        """The clauses before the columns, since an EXISTS in SELECT may have a MATCH, which names EVENTs."""
        for query in tree.children:
            if isinstance(query, Tree) and query.data == "select_query":
                columns, *clauses, where, modifiers = query.children
                query.children = [*clauses, columns, where, modifiers]
        draft: Draft = super().read(tree)
        for places in self._named.values():
            places.sort()
        return draft

    def window_query(self, *parts: Any) -> Draft:
        register = next((part for part in parts if isinstance(part, Register)), None)
        query, values = parts[-2:]
        form = self._form(query, values)
        return Draft(
            text=self.text,
            demands=self._demands,
            named=self._named,
            filters_at=self._filters_at,
            form=form,
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

    def _form(self, query: SelectDraft | Construct, values: Values | None) -> Select | Construct:
        if isinstance(query, SelectDraft):
            return self._select(query, values)
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

    def register(self, kind: Token, label: Token) -> Register:
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
        reason = "SPARQL has brackets around an aggregate and its name; it is read as if they were there."
        self.caution(reason, self.here, hint=hint if len(hint) <= 60 else f"(… AS {variable})")
        return PlacedColumn(Projection(variable, aggregate), self.here)

    def select_query(self, *parts: Any) -> SelectDraft:
        *clauses, columns, group, modifiers = parts
        self._form_at = columns.at
        return super().select_query(columns, *clauses, group, modifiers)

    def sub_select(self, clause: SelectClause, *rest: Any) -> Select:
        inside = next((each for each in self._operators if each.at > self.here), None)
        if inside is not None and inside.operator is not None:
            reason = f"{inside.operator.value} can't stand in a sub-select: it is about what the whole query emits."
            raise self.error(reason, at=inside.at, hint=f"SELECT {inside.operator.value} at the beginning")
        return super().sub_select(clause, *rest)

    def construct_query(self, *parts: Any) -> Construct:
        self._form_at = self.here
        return super().construct_query(*(part for part in parts if not isinstance(part, PlacedOperator)))

    def construct_where_query(self, *parts: Any) -> Construct:
        self._form_at = self.here
        return super().construct_where_query(*(part for part in parts if not isinstance(part, PlacedOperator)))

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

    def every(self, length: PlacedLength) -> PlacedReport:
        return self._report(PlacedReport(Every(self.positive(length, "EVERY", "EVERY")), self.here))

    def at(self, *instants: PlacedInstant) -> PlacedReport:
        return self._report(PlacedReport(At(tuple(map(self.listed, instants))), self.here))

    def _report(self, found: PlacedReport) -> PlacedReport:
        if self._reports:
            first = self.text.place(self._reports[0].at)
            reason = f"REPORT stands twice, first at {first.line}:{first.column}."
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
