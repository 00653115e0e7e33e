"""A file of EP-SPARQL as read, and errors and warnings about an EP-SPARQL file, time functions compared with constants
included (EP-30 to EP-32)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME, Statement
from thence.algebra.expressions import Arithmetic, Call, Compare, Comparison, Expression, In, Operation
from thence.algebra.patterns import (
    Bgp,
    ChainOperator,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Select,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.show_sparql import sparql_text
from thence.algebra.variables import has_aggregate
from thence.errors import InputError
from thence.lang.draft import PlacedDraft
from thence.lang.mistakes import Diagnosis
from thence.lang.sparql.checks import below, given_variables, unbound_in_filters, unbound_in_form
from thence.rdf.dates import XSD_DAY_TIME_DURATION, XSD_DURATION, XSD_YEAR_MONTH_DURATION, Date, DateTime, Duration
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import Domain, parse_duration
from thence.rdf.values import XSD_DATE_TIME, value

# A file of EP-SPARQL as it was read, before it is known to mean something: its statements, and where things are.


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A column of SELECT: the two sides of AS, either of which may be the name (EP-14), or one side without AS."""

    left: Expression
    right: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A statement, and where it begins."""

    statement: Statement
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(PlacedDraft):
    statements: tuple[DraftStatement, ...]
    cautions: tuple[str, ...]  # warnings that were already clear when the text was read


# Comparisons of time functions and of differences of two times with constants: which kind of time each demands (EP-30),
# and which mean nothing.

_FUNCTIONS = (DURATION, START_TIME, END_TIME)
_DURATIONS = (XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION)
_LONGEST = 40
_TIME = '"2024-05-06T07:00:00Z"^^xsd:dateTime'


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """A time function, or a difference of two times, beside a constant, and the words for both."""

    measured: Call | Arithmetic
    constant: Literal | IRI
    words: str

    @property
    def domain(self) -> Domain | None:
        """The kind of time that can make it true; None if neither can."""
        match self._value:
            case bool():
                return None
            case Duration() if self._is_duration:
                return Domain.DATETIME
            case DateTime() if not self._is_duration:
                return Domain.DATETIME
            case int() | float() | Decimal():
                return Domain.TICKS
            case _:
                return None

    @property
    def has_months(self) -> bool:
        """Whether it is an expression error because months have no fixed length (EP-31)."""
        found = self._value
        return isinstance(found, Duration) and found.months != 0

    @property
    def _value(self) -> object:
        return value(self.constant) if isinstance(self.constant, Literal) else None

    @property
    def _is_duration(self) -> bool:
        return isinstance(self.measured, Arithmetic) or self.measured.function == DURATION

    @property
    def mistake(self) -> Diagnosis:
        """Why neither kind of time can make it true."""
        name, constant, found = sparql_text(self.measured), self.constant, self._value
        own = "a duration" if self._is_duration else "a time"
        written = _last_part(constant.value) if isinstance(constant, IRI) else constant.value
        shown = f'"{_shortened(written)}"'
        if found is None and isinstance(constant, Literal) and constant.datatype in (*_DURATIONS, XSD_DATE_TIME):
            kind = "a time" if constant.datatype == XSD_DATE_TIME else "a duration"
            return Diagnosis(f"{shown} is not {kind}.", _TIME if kind == "a time" else written_duration(written))
        kind = "a name" if isinstance(constant, IRI) else _kind(found)
        if self._is_duration:
            cure = written_duration(written)
        else:
            cure = f"{shown}^^xsd:dateTime" if value(Literal(written, XSD_DATE_TIME)) is not None else _TIME
        return Diagnosis(f"{name} is {own} and can't be compared with {shown}, which is {kind}.", cure)


def written_duration(text: str) -> str:
    """A length of time (`10s`, `P30D`) as a query writes it; an example if the text is not a length."""
    if isinstance(value(Literal(text, XSD_DURATION)), Duration):
        return f'"{text}"^^xsd:duration'
    try:
        span = parse_duration(text)
    except InputError:
        return '"PT10M"^^xsd:duration, or 10 where times are ticks'
    if span.domain is Domain.TICKS:
        return str(span.length)
    return f'"{Duration(0, Decimal(span.length) / 1_000_000)}"^^xsd:duration'


def _last_part(iri: str) -> str:
    return re.split("[/#:]", iri)[-1]


def comparisons(expression: Expression) -> Iterator[TimeComparison]:
    """The time functions, and differences of two times, that this expression compares with constants, itself and not
    deeper down."""
    match expression:
        case Compare(sign, left, right):
            yield from _pair(left, sign.value, right)
        case In(operand, choices):
            for choice in choices:
                yield from _pair(operand, Comparison.EQUAL.value, choice)


def _pair(left: Expression, sign: str, right: Expression) -> Iterator[TimeComparison]:
    match left, right:
        case Call() | Arithmetic(), Literal() | IRI() if _is_measured(left):
            yield TimeComparison(left, right, f"{sparql_text(left)} {sign} {_words(right)}")
        case Literal() | IRI(), Call() | Arithmetic() if _is_measured(right):
            yield TimeComparison(right, left, f"{_words(left)} {sign} {sparql_text(right)}")


def _is_measured(expression: Call | Arithmetic) -> bool:
    match expression:
        case Call(name):
            return name in _FUNCTIONS
        case Arithmetic(Operation.SUBTRACT, Call(end), Call(start)):
            return {end, start} <= {START_TIME, END_TIME}
        case _:
            return False


def _words(constant: Literal | IRI) -> str:
    """A constant without its type: a number is written without quotes."""
    text = sparql_text(constant)
    return f'"{_shortened(constant.value)}"' if text.startswith('"') else _shortened(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _kind(found: object) -> str:
    match found:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case Duration():
            return "a duration"
        case DateTime():
            return "a time"
        case Date():
            return "a date"
        case _:
            return "neither a number nor a time"


# Errors of an EP-SPARQL file, and warnings about likely mistakes.


def warnings(draft: Draft) -> Iterator[str]:
    """Likely mistakes in a legal query, each as a sentence with its place."""
    yield from draft.cautions
    for each in draft.statements:
        statement = each.statement
        if isinstance(statement, Select) and not reads_stream(statement.where):
            reason = "This SELECT emits no row: no solution of its pattern has a time of the stream."
            yield str(draft.error(reason, each.at, hint="a mandatory pattern outside GRAPH"))
        yield from unbound_in_form(draft, statement, each.at)
        yield from unbound_in_filters(draft, statement.where, given_variables(statement))
        yield from _running(draft, each)


def reads_stream(pattern: Pattern) -> bool:
    """Whether a solution can have a time (EP-38): some part that is always there is matched by the stream."""
    match pattern:
        case Bgp():
            return bool(pattern.triples)
        case Join() | Union():
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case LeftJoin() | Minus():
            return reads_stream(pattern.left)  # timeless solutions join only timeless optional parts (EP-24)
        case TemporalJoin(ChainOperator.SEQ):
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case TemporalJoin(ChainOperator.EQUALS):
            return reads_stream(pattern.left) and reads_stream(pattern.right)  # EP-36
        case TemporalJoin(ChainOperator.OPTIONALSEQ):
            return reads_stream(pattern.right)  # EP-25
        case TemporalJoin():
            return reads_stream(pattern.left)
        case Filter() | Extend():
            return reads_stream(pattern.pattern)
        case SubSelect():
            return reads_stream(pattern.select.where)
        case Graph() | Values():
            return False
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _running(draft: Draft, each: DraftStatement) -> Iterator[str]:
    """Aggregates in sub-selects, which give every running version of their value (EP-60)."""
    waiting = [each.statement.where]
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, SubSelect) and _aggregates(pattern.select):
            reason = "An aggregate in a sub-select gives a row for each of its running values, and joins with all."
            yield str(draft.error(reason, each.at))
            return
        waiting += below(pattern)


def _aggregates(select: Select) -> bool:
    expressions = [column.expression for column in select.columns or () if column.expression is not None]
    grouped = select.modifiers.group is not None
    return grouped or any(map(has_aggregate, (*expressions, *select.modifiers.having)))
