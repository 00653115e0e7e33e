"""From a parse tree to a draft of an EP-SPARQL file: what the grammar can't refuse with a reason is refused here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from lark import Token

from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME
from thence.algebra.expressions import Call, Compare, Expression, In, Variable
from thence.algebra.patterns import Construct, Pattern, Projection, Select, Values
from thence.algebra.show_sparql import sparql_text
from thence.algebra.variables import in_scope
from thence.errors import QueryError, closest
from thence.lang.draft import TimeDemand
from thence.lang.ep_sparql.chain_reader import ChainReader
from thence.lang.ep_sparql.checks import Draft, DraftColumn, DraftStatement, comparisons
from thence.lang.ep_sparql.mistakes import KEYWORDS, STREAM_OPERATORS, TIME_FUNCTIONS, WITHIN, windowless
from thence.lang.mistakes import SPELLED_OUT, similar
from thence.lang.sparql.checks import PlacedColumn
from thence.lang.sparql.group_reader import FilterElement, SelectClause, SelectDraft
from thence.lang.sparql.time_demands import TimeKind, time_demands
from thence.lang.syntax import offset
from thence.lang.text import name
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI

FUNCTIONS = (
    "BOUND", "IF", "COALESCE", "COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT", "BNODE", "CONCAT",
    "SUBSTR", "REPLACE", "REGEX", "NOW", "STR", "LANG", "DATATYPE", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND",
    "STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE",
    "TZ", "MD5", "SHA1", "SHA256", "SHA384", "SHA512", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC",
    "LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "STRLANG", "STRDT", "SAMETERM",
)  # fmt: skip

_RANDOM = dict.fromkeys(("UUID", "STRUUID"), "a blank node in a template") | {"RAND": "a value of an event"}


_KINDS = {START_TIME: TimeKind.TIME, END_TIME: TimeKind.TIME, DURATION: TimeKind.LAPSE}


def _times(expression: Expression) -> TimeKind | None:
    return _KINDS.get(expression.function) if isinstance(expression, Call) else None


class RuleReader(ChainReader):
    """EP-SPARQL over SPARQL."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)
        self._filters_at: dict[int, tuple[Expression, int]] = {}
        self._bare_at: dict[int, str] = {}  # where bare names are
        self._demands: list[TimeDemand] = []
        self._cautions: list[str] = []

    def rule_file(self, *statements: DraftStatement | None) -> Draft:
        return Draft(
            text=self.text,
            statements=tuple(each for each in statements if each is not None),
            demands=tuple(self._demands),
            cautions=tuple(self._cautions),
            named=self._named,
            filters_at=self._filters_at,
        )

    def statement(self, query: SelectDraft | Construct, values: Values | None) -> DraftStatement:
        self._home.clear()  # a label belongs to its statement
        at = self.here
        if isinstance(query, SelectDraft):
            return DraftStatement(self._select(query, values), at)
        return DraftStatement(replace(query, modifiers=replace(query.modifiers, values=values)), at)

    # Terms

    def var(self, token: Token) -> Variable:
        variable = super().var(token)
        self._named[variable].append(offset(token))
        return variable

    @property
    def namespace(self) -> str:
        """The namespace of bare names at this place: the same as of names that begin with a colon (EP-15)."""
        return self.prefixes.get("") or self.base or DEFAULT_NAMESPACE

    def bare_name(self, token: Token) -> IRI:
        self._bare_at[offset(token)] = str(token)
        return IRI(self.namespace + token)

    # Expressions

    def filter(self, condition: Expression) -> FilterElement:
        found = super().filter(condition)
        self._filters_at[id(found.expression)] = found.expression, self.here
        return found

    def time_function(self, function: Token, arguments: tuple[Expression, ...]) -> Expression:
        found = Call(function.upper(), ())
        if arguments:
            name = sparql_text(found)
            reason = f"{name[:-2]} takes no argument: it reads the interval of its group."
            raise self.error(reason, hint=name)
        return found

    def call(self, function: Token, *arguments: Any) -> Expression:
        name = function.upper()
        if name in _RANDOM:
            raise self.error(f"{name} is not supported: the same events must give the same rows.", hint=_RANDOM[name])
        return Call(END_TIME, ()) if name == "NOW" else super().call(function, *arguments)  # EP-34

    def function_call(self, function: IRI, arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        if bare := self._bare_at.get(self.here, ""):
            if bare.upper() == "TIMESTAMP":  # C-SPARQL's
                reason = f'"{bare}" is no known function: a group has the interval of all that it matched.'
                raise self.error(reason, hint="getSTARTTIME() or getENDTIME()")
            known = [*TIME_FUNCTIONS, *FUNCTIONS]
            hint = closest(bare, known if len(bare) > 3 else ()) or f":{bare[:40]}(…) for one of your own"
            raise self.error(
                f'"{bare[:40]}" is not a known function.', hint=f"{hint}()" if hint in TIME_FUNCTIONS else hint
            )
        return super().function_call(function, arguments)

    def comparison(self, left: Expression, sign: Token, right: Expression) -> Expression:
        found = self._timed(super().comparison(left, sign, right))
        if isinstance(found, Compare) and not any(True for _ in comparisons(found)):
            for domain, part in time_demands(found, _times):
                self._demands.append(TimeDemand(domain, sparql_text(part), self.here))
        return found

    def membership(self, operand: Expression, *rest: Any) -> Expression:
        self._timed(In(operand, rest[-1]))
        return super().membership(operand, *rest)

    def _timed(self, expression: Expression) -> Expression:
        for found in comparisons(expression):
            if found.domain is None:
                raise self.error(found.mistake.reason, hint=found.mistake.hint)
            self._demands.append(TimeDemand(found.domain, found.words, self.here))
            if found.has_months:
                reason = f"{found.words} is never true: a month has no fixed length."
                self._cautions.append(str(self.error(reason, hint='days, as in "P30D"')))
        return expression

    # What is refused by name (EP-16)

    def dataset_clause(self, source: Any) -> Any:
        reason = "FROM is not supported for EP-SPARQL: a file reads the stream that it is run on."
        raise self.error(reason, hint="GRAPH for background data")

    def service_graph_pattern(self, *_: Any) -> Pattern:
        reason = "SERVICE is not supported: a query reads only the data that it is given."
        raise self.error(reason, hint="GRAPH, with that data as background")

    # SELECT

    def select_clause(self, *parts: Any) -> SelectClause:
        words = [name(part.type) for part in parts if isinstance(part, Token)]
        quantifier = next((word for word in words if word != "STAR"), "")
        columns = tuple(part for part in parts if isinstance(part, DraftColumn))
        drafts: Any = None if "STAR" in words else columns  # their names are known when WHERE has been read
        return SelectClause(drafts, quantifier, self.here)

    def column(self, left: Expression, right: Expression | None = None) -> DraftColumn:
        return DraftColumn(left, right, self.here)

    bracketed_column = column

    def _select(self, draft: SelectDraft, values: Values | None) -> Select:
        drafts: Any = draft.clause.columns
        if drafts is not None:
            bound = {*in_scope(draft.where), *(values.variables if values else ())}
            bound.update(key.variable for key in draft.modifiers.group or () if key.variable is not None)
            columns: list[PlacedColumn] = []
            for column in drafts:
                columns.append(PlacedColumn(self._projection(column, bound), column.at))
                bound.add(columns[-1].projection.variable)
            draft = replace(draft, clause=replace(draft.clause, columns=tuple(columns)))
        return super()._select(draft, values)

    def _projection(self, column: DraftColumn, bound: set[Variable]) -> Projection:
        """The defined variable is the one that WHERE does not bind (EP-14)."""
        match column.left, column.right:
            case Variable() as variable, None:
                return Projection(variable)
            case Variable() as left, Variable() as right:
                return Projection(left, right) if right in bound and left not in bound else Projection(right, left)
            case left, Variable() as right:
                return Projection(right, left)
            case Variable() as left, right if right is not None:
                return Projection(left, right)
            case _:
                raise self._nameless(column)

    def _nameless(self, column: DraftColumn) -> QueryError:
        if column.right is not None:
            return self.error("One side of AS must be a variable.", at=column.at, hint="… AS ?name")
        if bare := self._bare_at.get(column.at, ""):
            if bare.upper() == "WITHIN" or bare.upper() in STREAM_OPERATORS:
                found = WITHIN if bare.upper() == "WITHIN" else windowless(bare.upper())
                return self.error(found.reason, at=column.at, hint=found.hint)
            if meant := SPELLED_OUT.get(bare.upper(), "") or similar(bare, KEYWORDS):
                return self.error(f'"{bare[:40]}" is not known here.', at=column.at, hint=meant)
            return self.error(f'A column is a variable, found "{bare[:40]}".', at=column.at, hint=f"?{bare[:40]}")
        written = sparql_text(column.left)
        hint = f"({written if len(written) <= 40 else '…'} AS ?name)"
        return self.error("An expression in SELECT needs a name.", at=column.at, hint=hint)
