"""The types of SASE+ values, as far as the text and the schema tell, and what cannot be computed (SA-51, BAD-3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, get_args

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Expression,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.algebra.sase import (
    FUNCTIONS,
    AggregateName,
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    Computed,
    EventIndex,
    Key,
    Length,
    MatchAggregate,
    MatchAggregates,
    Reference,
    Return,
)
from thence.algebra.show_sase import condition_text, name_text
from thence.algebra.streams import Name
from thence.columns.value_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    EVENT_TIME,
    INTEGER,
    LAPSE,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    Atom,
    Type,
    Types,
    ValueKind,
    is_known,
)
from thence.rdf.dates import Duration
from thence.rdf.events import predicate_term
from thence.rdf.terms import Literal
from thence.rdf.times import Domain

OWN_TIMES = ("time", "end")
"""The attributes that mean when an event is (SA-51)."""

_NUMBERS = (ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DOUBLE)
_CALLED = {
    ValueKind.BOOLEAN: "true or false",
    ValueKind.STRING: "a text",
    ValueKind.TIMESTAMP: "a time",
    ValueKind.DATE: "a date",
    ValueKind.DURATION: "a duration",
    ValueKind.EVENT_TIME: "a time",
    ValueKind.LAPSE: "a duration",
    ValueKind.UNKNOWN: "a value",
}
_TRUTHS = ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX")
_OF_TEXTS = ("LCASE", "UCASE", "STRLEN", *_TRUTHS)
_WORDS = {called: word for word, (called, _) in FUNCTIONS.items()} | {"REGEX": "LIKE"}


class ImpossibleError(Exception):
    """Something is computed that values of these types cannot be asked."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class Demand(NamedTuple):
    """What goes with one kind of time only."""

    domain: Domain
    words: str


@dataclass(frozen=True, slots=True)
class ValueTypes:
    """The types of a block's expressions; `types` are those of its streams' attributes, None if these are not known.
    What goes with one kind of time only is noted in `demands`.

    >>> from thence.lang.sase.parser import parse
    >>> query = parse("PATTERN SEQ(A a, B b) WHERE b.time - a.time > 5 MINUTES RETURN b.time - a.time AS gap").blocks[0]
    >>> of = ValueTypes(query, {"x": INTEGER}, query.references)
    >>> print(of.value(query.form.items[0].given), of.attribute(Name("x")))
    duration integer
    """

    query: ComponentQuery
    types: Types | None
    references: Mapping[Variable, Reference]
    demands: list[Demand] = field(default_factory=list)

    def attribute(self, name: Name) -> Type:
        if name.iri is None and name.local in OWN_TIMES:
            return self._time()
        if self.types is None:
            return UNKNOWN
        if name.iri is None:
            return self.types.get(name.local, UNKNOWN)
        namespace = self.query.namespace
        found = (kind for each, kind in self.types.items() if predicate_term(each, namespace) == name.iri)
        return next(found, UNKNOWN)

    def _time(self) -> Atom:
        if self.query.domain is not None:
            return INTEGER if self.query.domain is Domain.TICKS else TIMESTAMP
        found = None if self.types is None else self.types.get("time")
        if isinstance(found, Atom) and found.kind is ValueKind.INTEGER:
            return INTEGER
        return TIMESTAMP if found == TIMESTAMP else EVENT_TIME

    def of_key(self, key: Computed) -> ValueTypes:
        """The types of what PARTITION BY computes of each event alone."""
        own = {Variable(name_text(name)): Attribute("", EventIndex.ALONE, name) for name in key.names}
        return ValueTypes(self.query, self.types, own, self.demands)

    def key(self, key: Key) -> Type:
        return self.attribute(key) if isinstance(key, Name) else self.of_key(key).value(key.expression)

    def condition(self, expression: Expression) -> None:
        """Check what is to be true or false."""
        kind = self.value(expression)
        if kind.kind in (ValueKind.TIMESTAMP, ValueKind.DATE, ValueKind.DURATION):
            raise ImpossibleError(f"{condition_text(expression)} is {_described(kind)}, not a condition.")

    def value(self, expression: Expression) -> Atom:
        """The type of an expression; ImpossibleError if it has no value, whatever the events are."""
        match expression:
            case Variable():
                found = self.reference(expression)
                return found if isinstance(found, Atom) else UNKNOWN
            case Literal():
                return _constant(expression.python)
            case Arithmetic(left=left, right=right):
                return self._calculated(expression, self.value(left), self.value(right))
            case Negate(operand=operand) | Plus(operand=operand):
                kind = self.value(operand)
                return kind if kind in (DURATION, LAPSE) else self._number(kind, expression, f"{_text(operand)} is")
            case Compare():
                self._compared(expression, self.value(expression.left), self.value(expression.right))
                return BOOLEAN
            case And(left=left, right=right) | Or(left=left, right=right):
                self.condition(left)
                self.condition(right)
                return BOOLEAN
            case Not(operand=operand):
                self.condition(operand)
                return BOOLEAN
            case Bound():
                return BOOLEAN
            case Call():
                return self._called(expression)
            case _:
                return UNKNOWN

    def reference(self, variable: Variable) -> Type:
        """The type of what a variable stands for."""
        match self.references[variable]:
            case Attribute(name=name):
                return self.attribute(name)
            case Length() | ClosureAggregate(summary=AggregateName.COUNT):
                return INTEGER
            case ClosureAggregate(summary=(AggregateName.SUM | AggregateName.AVG) as summary, name=Name() as name):
                return self.total(summary, name, variable.name.partition("(")[2].removesuffix(")"))
            case ClosureAggregate(name=name):
                assert name is not None
                return self.attribute(name)

    def total(self, summary: AggregateName, name: Name, text: str) -> Atom:
        """The type of a sum or an average."""
        kind = self.attribute(name)
        call = f"{summary.value}({text})"
        found = self._number(kind if isinstance(kind, Atom) else UNKNOWN, call, f"{call} adds numbers, and {text} is")
        if summary is AggregateName.AVG:
            return DOUBLE
        return Atom(found.kind, scale=found.scale) if found.kind in _NUMBERS else found

    def _number(self, kind: Atom, asks: Expression | str, reason: str) -> Atom:
        """A type that is a number's, or may be."""
        if kind in (EVENT_TIME, LAPSE):
            self._demand(Domain.TICKS, asks)
            return INTEGER
        if kind.kind in _NUMBERS or kind == UNKNOWN:
            return kind
        raise ImpossibleError(f"{reason} {_described(kind)}.", "a number")

    def _demand(self, domain: Domain, asks: Expression | str) -> None:
        self.demands.append(Demand(domain, asks if isinstance(asks, str) else condition_text(asks)))

    def _called(self, call: Call) -> Atom:
        kinds = [self.value(argument) for argument in call.arguments]
        word = _WORDS.get(call.function, call.function)
        if call.function not in _OF_TEXTS:
            (kind,), (operand,) = kinds, call.arguments
            return self._number(kind, call, f"{word}() takes a number, and {_text(operand)} is")
        for kind, argument in zip(kinds, call.arguments, strict=True):
            if kind not in (STRING, UNKNOWN):
                takes = "LIKE" if word == "LIKE" else f"{word}()"
                raise ImpossibleError(f"{takes} takes a text, and {_text(argument)} is {_described(kind)}.")
        if call.function in _TRUTHS:
            return BOOLEAN
        return INTEGER if call.function == "STRLEN" else STRING

    def _compared(self, compared: Compare, left: Atom, right: Atom) -> None:
        if UNKNOWN in (left, right) or left == right:
            return
        sides = {left, right}
        open_sides = sides & {EVENT_TIME, LAPSE}
        if sides in ({EVENT_TIME, TIMESTAMP}, {LAPSE, DURATION}):
            self._demand(Domain.DATETIME, compared)
        elif open_sides and all(kind in open_sides or kind.kind in _NUMBERS for kind in sides):
            self._demand(Domain.TICKS, compared)
        elif _group(left) != _group(right):
            raise self._apart(compared.left, left, compared.right, right, "cannot be compared")

    def _apart(self, left: Expression, one: Atom, right: Expression, other: Atom, which: str) -> ImpossibleError:
        hint = ""
        for expression, kind, beside in ((left, one, other), (right, other, one)):
            if kind.kind in _NUMBERS and beside in (DURATION, LAPSE, TIMESTAMP) and isinstance(expression, Literal):
                hint = f"{condition_text(expression)} SECONDS"
            if kind == DURATION and beside == INTEGER and self.query.domain is Domain.TICKS:
                hint = "50 TICKS"
            if kind == STRING and beside in (TIMESTAMP, EVENT_TIME) and isinstance(expression, Literal):
                hint = f"TIMESTAMP {condition_text(expression)}"
        return ImpossibleError(
            f"{_text(left)} is {_described(one)} and {_text(right)} is {_described(other)}: they {which}.", hint
        )

    def _calculated(self, asked: Arithmetic, left: Atom, right: Atom) -> Atom:
        if not (_is_timed(left) or _is_timed(right)):
            return self._calculated_of_numbers(asked, left, right)
        if UNKNOWN in (left, right):
            return self._half_known(asked, left, right)
        found = self._of_times(asked, left, right)
        if found is None:
            signs = {Operation.ADD: "added", Operation.SUBTRACT: "subtracted", Operation.MULTIPLY: "multiplied"}
            which = f"cannot be {signs.get(asked.operation, 'divided')}"
            found_apart = self._apart(asked.left, left, asked.right, right, which)
            is_moved = asked.operation in (Operation.ADD, Operation.SUBTRACT)
            raise found_apart if is_moved else ImpossibleError(found_apart.reason)
        return found

    def _of_times(self, asked: Arithmetic, left: Atom, right: Atom) -> Atom | None:
        """The type of what is computed with a time or a duration; None if it cannot be."""
        sides, operation = (_group(left), _group(right)), asked.operation
        time, date_, lasts = ValueKind.TIMESTAMP, ValueKind.DATE, ValueKind.DURATION
        number = ValueKind.INTEGER
        if ValueKind.EVENT_TIME in sides or ValueKind.LAPSE in sides:
            return self._of_event_times(asked, left, right)
        match operation, sides:
            case Operation.SUBTRACT, (one, other) if one == other and one in (time, date_, lasts):
                return DURATION
            case ((Operation.ADD | Operation.SUBTRACT), (one, other)) if one in (time, date_) and other is lasts:
                return left
            case Operation.ADD, (one, other) if one is lasts and other in (time, date_, lasts):
                return right
            case Operation.MULTIPLY, (one, other) if {one, other} == {lasts, number}:
                return DURATION
            case Operation.QUOTIENT, (one, other) if one is lasts and other in (lasts, number):
                return DOUBLE if other is lasts else DURATION
        return None

    def _of_event_times(self, asked: Arithmetic, left: Atom, right: Atom) -> Atom | None:
        """The same, where the kind of the events' time is not known. If only one kind of it allows the operation, that
        is demanded."""
        domains = {}
        for domain in Domain:
            one, other = (_resolved(kind, domain) for kind in (left, right))
            quiet = ValueTypes(self.query, self.types, self.references)
            try:
                domains[domain] = quiet._calculated(asked, one, other)
            except ImpossibleError:
                continue
        if not domains:
            return None
        if len(domains) == 1:
            ((domain, found),) = domains.items()
            self._demand(domain, asked)
            return found
        ticks, dates = domains[Domain.TICKS], domains[Domain.DATETIME]
        if ticks == dates:
            return ticks
        return LAPSE if dates == DURATION else EVENT_TIME if dates == TIMESTAMP else UNKNOWN

    def _half_known(self, asked: Arithmetic, left: Atom, right: Atom) -> Atom:
        """The type of what is computed with a time or a duration and a value of unknown type."""
        known, of = (right, asked.right) if left == UNKNOWN else (left, asked.left)
        match asked.operation:
            case Operation.ADD:
                return known if known in (TIMESTAMP, DATE, EVENT_TIME) else UNKNOWN
            case Operation.SUBTRACT if left == UNKNOWN:
                return DURATION if known in (TIMESTAMP, DATE) else UNKNOWN
            case Operation.SUBTRACT:
                return known if known == DURATION else UNKNOWN
            case Operation.MULTIPLY | Operation.QUOTIENT if known in (DURATION, LAPSE):
                if asked.operation is Operation.MULTIPLY:
                    return known
                return DOUBLE if left == UNKNOWN else UNKNOWN
        if known in (EVENT_TIME, LAPSE):
            self._demand(Domain.TICKS, asked)
            return UNKNOWN
        called = "multiplied" if asked.operation is Operation.MULTIPLY else "divided"
        raise ImpossibleError(f"{_text(of)} is {_described(known)}, which cannot be {called}.")

    def _calculated_of_numbers(self, asked: Arithmetic, left: Atom, right: Atom) -> Atom:
        for operand, kind in ((asked.left, left), (asked.right, right)):
            if kind.kind not in _NUMBERS and kind != UNKNOWN:
                sign = "/" if asked.operation is Operation.QUOTIENT else asked.operation.value
                raise ImpossibleError(f'"{sign}" is for numbers, and {_text(operand)} is {_described(kind)}.')
        if asked.operation is Operation.QUOTIENT:
            return DOUBLE if is_known(left) and is_known(right) else UNKNOWN
        if not (is_known(left) and is_known(right)):
            return UNKNOWN
        kinds = {left.kind, right.kind}
        if ValueKind.DOUBLE in kinds:
            return DOUBLE
        if ValueKind.DECIMAL in kinds:
            scales = [side.scale for side in (left, right) if side.kind is ValueKind.DECIMAL]
            scale = sum(scales) if asked.operation is Operation.MULTIPLY else max(scales)
            return Atom(ValueKind.DECIMAL, scale=min(18, scale))
        return INTEGER


def _is_timed(kind: Atom) -> bool:
    return kind in (TIMESTAMP, DATE, DURATION, EVENT_TIME, LAPSE)


def _group(kind: Atom) -> ValueKind:
    """The kind of values that are compared with each other."""
    return ValueKind.INTEGER if kind.kind in _NUMBERS else kind.kind


def _resolved(kind: Atom, domain: Domain) -> Atom:
    if kind == EVENT_TIME:
        return INTEGER if domain is Domain.TICKS else TIMESTAMP
    if kind == LAPSE:
        return INTEGER if domain is Domain.TICKS else DURATION
    return kind


def _text(expression: Expression) -> str:
    text = condition_text(expression)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _described(kind: Atom) -> str:
    return "a number" if kind.kind in _NUMBERS else _CALLED[kind.kind]


def _constant(constant: object) -> Atom:
    """That of the Python value which becomes the cell; some of these types are others' subtypes."""
    match constant:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float() | Decimal():
            return DOUBLE
        case datetime():
            return TIMESTAMP
        case date():
            return DATE
        case timedelta() | Duration():
            return DURATION
        case _:
            return STRING


# All that a block computes


@dataclass(frozen=True, slots=True)
class Asked:
    """Something that a block computes: a condition, or a value. Of a total, `total` is it."""

    expression: Expression | Computed | None
    is_condition: bool
    total: MatchAggregate | None = None

    def check(self, types: ValueTypes) -> None:
        """ImpossibleError if events of these types cannot be asked it."""
        match self.expression:
            case Computed() as key:
                types.key(key)
            case None:
                total = self.total
                if total is not None and total.of is not None and total.summary in _SUMS:
                    types.total(total.summary, total.of.name, f"{total.of.component}.{name_text(total.of.name)}")
            case expression if self.is_condition:
                types.condition(expression)
            case expression:
                types.value(expression)


_SUMS = (AggregateName.SUM, AggregateName.AVG)


def asked_by(query: ComponentQuery) -> Iterator[Asked]:
    """All that a block computes: what stands in WHERE, HAVING, and RETURN or AGGREGATE, in this order."""
    for condition in query.conditions:
        yield Asked(condition, is_condition=True)
    for key in query.tested:
        if isinstance(key, Computed):
            yield Asked(key, is_condition=False)
    if query.having is not None:
        yield Asked(query.having, is_condition=True)
    match query.form:
        case Return(items=items):
            for item in items:
                if isinstance(item.given, get_args(Expression)):
                    yield Asked(item.given, is_condition=False)
        case MatchAggregates(totals=totals):
            for total in totals:
                yield Asked(None, is_condition=False, total=total)
