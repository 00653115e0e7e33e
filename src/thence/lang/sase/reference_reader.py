"""References and constants of SASE+: `a[i].price`, `avg(a[..i-1].price)`, `DATE '2024-05-06'`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from lark import Token

from thence.algebra.expressions import And, Call, Expression, Variable
from thence.algebra.sase import (
    FUNCTIONS,
    AggregateName,
    Attribute,
    ClosureAggregate,
    Component,
    Composite,
    Computed,
    EventIndex,
    EventRange,
    Key,
    Length,
    Reference,
    ValueSequence,
)
from thence.algebra.show_sase import name_text
from thence.algebra.streams import Name
from thence.algebra.traversal import DEPTH, chain, depth
from thence.algebra.variables import mentioned
from thence.errors import InputError, QueryError, closest, listed
from thence.lang.sase.draft import (
    DraftItem,
    DraftMatchAggregate,
    EquivalenceTest,
    PartitionAttributes,
    PlacedItem,
    StrategyGroup,
    column_name,
)
from thence.lang.sparql.term_reader import TermReader
from thence.lang.syntax import offset
from thence.lang.text import name
from thence.rdf.terms import IRI, XSD, Literal
from thence.rdf.times import Domain, Span, duration_literal, format_time, parse_duration, parse_time

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SUMMARIES = {summary.value: summary for summary in AggregateName}
_OTHER_NAMES = {"average": "avg", "mean": "avg", "len": "length", "lcase": "lower", "ucase": "upper"}
_RANKED = (AggregateName.HIGHEST, AggregateName.LOWEST)


@dataclass(frozen=True, slots=True)
class EventsReference:
    """`a[]`, and `a[..i-1]` with or without an attribute: what aggregates are over."""

    component: str
    range: EventRange
    name: Name | None
    at: int


@dataclass(frozen=True, slots=True)
class ConjunctionItems:
    """`x ^ y ^ …`."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """`(x AS name, …)`: a result event, in RETURN."""

    items: tuple[DraftItem, ...]
    at: int


FormulaPart: TypeAlias = (
    Expression | ConjunctionItems | StrategyGroup | EquivalenceTest | PartitionAttributes | ResultEvent
)


class ReferenceReader(TermReader):
    """Reads values and references to the components that they may name."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._components: dict[str, Component] = {}
        self._references: dict[Variable, Reference] = {}
        self._own: dict[Variable, Name] = {}  # attributes that have no variable
        self._ticks: list[PlacedItem] = []  # lengths in ticks: nothing else tells them from integers

    # Constants

    def constant(self, written: Token | Literal) -> Literal:
        if isinstance(written, Literal):
            return written
        kind = name(written.type)
        if kind == "PERCENT":
            return Literal(_hundredth(written[:-1]), XSD + "decimal")
        if kind in ("TRUE", "FALSE"):
            return Literal(written.lower(), XSD + "boolean")
        return self.numeric_literal_unsigned(written)

    def text_constant(self, token: Token) -> Literal:
        quote = token[0]
        return Literal(token[1:-1].replace(quote * 2, quote))

    def moment(self, kind: Token, token: Token) -> Literal:
        """`TIMESTAMP '2024-05-06T07:00:00Z'` or `DATE '2024-05-06'`: a text alone is compared with texts."""
        text = self.text_constant(token).value
        try:
            if name(kind.type) == "TIMESTAMP":
                return Literal(format_time(parse_time(text).time, Domain.DATETIME), XSD + "dateTime")
            if not _DATE.fullmatch(text):  # Python reads 20240506 and weeks too, xsd:date neither
                raise ValueError
            return Literal(date.fromisoformat(text).isoformat(), XSD + "date")
        except (InputError, ValueError):
            hint = f"{kind} '2024-05-06{'T07:00:00Z' if len(kind) > 4 else ''}'"
            raise self.error(f"{text!r:.80} is not a {kind.lower()}.", at=offset(token), hint=hint) from None

    def length(self, number: Token, unit: Token) -> Literal:
        """`20 MINUTES`, a duration, or `50 TICKS`, which is 50."""
        return self.iso_length(number, unit)

    def iso_length(self, *parts: Token) -> Literal:
        """`PT20M`."""
        span = self.duration(*parts)
        if span.domain is Domain.TICKS:
            self._ticks.append(PlacedItem(" ".join(parts), offset(parts[0])))
            return Literal(str(span.length), XSD + "integer")
        return duration_literal(span.length)

    def duration(self, *parts: Token) -> Span:
        try:
            return parse_duration(" ".join(str(part) for part in parts))
        except InputError as error:
            reason, _, hint = str(error).partition(" Try: ")
            raise self.error(reason if reason.endswith(".") else f"{reason}.", at=offset(parts[0]), hint=hint) from None

    # References

    def _known(self, written: Token) -> Component:
        component = self._components.get(str(written))
        if component is None:
            raise self.error(
                f'PATTERN has no variable "{written}".',
                at=offset(written),
                hint=closest(str(written), self._components) or listed(self._components),
            )
        return component

    def _refer(self, text: str, reference: Reference) -> Variable:
        variable = Variable(text)
        self._references[variable] = reference
        return variable

    def attribute(self, written: Token | IRI) -> Name:
        if isinstance(written, IRI):
            return Name(written.value, written)
        return Name(written[1:-1] if written.startswith("`") else str(written))

    written_out = attribute

    def _of(self, component: Component, index: EventIndex, attribute: Name) -> Variable:
        bracket = {EventIndex.ALONE: "", EventIndex.LAST: f"[{component.variable}.LEN]"}.get(index, f"[{index.value}]")
        return self._refer(
            f"{component.variable}{bracket}.{name_text(attribute)}", Attribute(component.variable, index, attribute)
        )

    def dotted(self, written: Token, named: Token) -> Variable:
        """`a.x`, or `a.LEN`; in backquotes that is an attribute, too."""
        closure = self._known(written).closure
        if closure and named.upper() == "LEN":
            return self.size(written)
        if not closure and named == "LEN":
            reason = f'"{written}" is not a closure and has no LEN.'
            hint = f"{written}.`LEN` for an attribute, STOCK+ {written}[] for a closure"
            raise self.error(reason, at=offset(written), hint=hint)
        return self.alone(written, self.attribute(named))

    def size(self, written: Token) -> Variable:
        return self._refer(f"{written}.LEN", Length(self._closure(written).variable))

    def alone(self, written: Token, attribute: Name) -> Variable:
        component = self._known(written)
        if not component.closure:
            return self._of(component, EventIndex.ALONE, attribute)
        reason = f'"{written}" is a closure: which of its events is meant?'
        hint = f"{written}[i].{name_text(attribute)}, or {written}[].{name_text(attribute)} in RETURN"
        if attribute.local.upper() in ("LENGTH", "COUNT", "SIZE"):
            hint = f"{written}.LEN"
        raise self.error(reason, at=offset(written), hint=hint)

    def indexed(self, written: Token, index: tuple[EventIndex, int], attribute: Name) -> Variable:
        return self._of(self._closure(written), index[0], attribute)

    def _closure(self, written: Token) -> Component:
        component = self._known(written)
        if not component.closure:
            raise self.error(
                f'"{written}" is not a closure, so it has only one event.', at=offset(written), hint=f"{written}.…"
            )
        return component

    def index(self, *parts: Token) -> tuple[EventIndex, int]:
        at, written = offset(parts[0]), "".join(parts) if len(parts) != 2 else ".".join(parts)
        found = {"1": EventIndex.FIRST, "i": EventIndex.EACH, "i-1": EventIndex.BEFORE}.get(written.lower())
        if found is None and len(parts) == 2 and parts[1].upper() == "LEN":
            self._closure(parts[0])
            found = EventIndex.LAST
        if found is None:
            hint = "a[1], a[i], a[i-1] or a[a.LEN]"
            raise self.error(f'"{written}" is not an index.', at=at, hint=hint)
        return found, at

    def composite(self, written: Token, *names: Name) -> Composite:
        component = self._known(written)
        if component.closure:
            reason = f'"{written}" is a closure: which of its events is meant?'
            raise self.error(reason, at=offset(written), hint=f"{written}[].({', '.join(map(name_text, names))})")
        return Composite(str(written), EventIndex.ALONE, names)

    def indexed_composite(self, written: Token, index: tuple[EventIndex, int], *names: Name) -> Composite:
        component = self._closure(written)
        if index[0] not in (EventIndex.FIRST, EventIndex.LAST):
            raise self.error(
                "The index i is not allowed in RETURN.",
                at=index[1],
                hint=f"{written}[].({', '.join(map(name_text, names))})",
            )
        return Composite(component.variable, index[0], names)

    def all_events(self, written: Token, _: Token) -> EventsReference:
        return EventsReference(self._closure(written).variable, EventRange.ALL, None, offset(written))

    def all_values(self, written: Token, _: Token, attribute: Name) -> ValueSequence:
        return ValueSequence(self._closure(written).variable, attribute)

    def all_composites(self, written: Token, _: Token, *names: Name) -> Composite:
        return Composite(self._closure(written).variable, None, names)

    def running(
        self, written: Token, letter: Token, _: Token, one: Token, attribute: Name | None = None
    ) -> EventsReference:
        component = self._closure(written)
        if (letter.lower(), one) != ("i", "1"):
            raise self.error(f'"..{letter}-{one}" is not a range.', at=offset(letter), hint=f"{written}[..i-1]")
        return EventsReference(component.variable, EventRange.BEFORE, attribute, offset(written))

    # What PARTITION BY computes

    def own(self, attribute: Name) -> Variable:
        """An attribute of each event."""
        variable = Variable(name_text(attribute))
        self._own[variable] = attribute
        return variable

    def key_call(self, function: Token, *arguments: Any) -> Any:
        if function.lower() in _SUMMARIES:
            raise self._over_several(function, arguments)
        return self.call(function, *arguments, of="")

    def _over_several(self, function: Token, arguments: Iterable[Any]) -> QueryError:
        reason = f"PARTITION BY is about one event at a time, but {function.lower()} covers several."
        own = [name_text(self._own[each]) for each in arguments if isinstance(each, Variable) and each in self._own]
        return self.error(reason, at=offset(function), hint=f"PARTITION BY {(*own, 'symbol')[0]}")

    def key(self, part: FormulaPart, text: str) -> Key:
        """A key: an attribute, or an expression over attributes of one event."""
        if depth(part) > DEPTH:
            raise self.error(f"The expression is more than {DEPTH} levels deep.")
        expression = self._plain(part)
        if isinstance(expression, Variable):
            return self._own[expression]
        names = tuple(self._own[each] for each in sorted(mentioned(expression), key=str))
        if not names:
            raise self.error("The expression names no attribute.", hint="PARTITION BY symbol")
        return Computed(expression, names, column_name(text))

    # Functions

    def call(self, function: Token, *arguments: Any, of: str = "a.") -> Any:
        """`of` is what is before an attribute in a hint: nothing, where there are no aggregates."""
        word = function.lower()
        if word in _SUMMARIES and any(isinstance(each, Variable) and each in self._own for each in arguments):
            raise self._over_several(function, arguments)
        if word in _SUMMARIES:
            return self._summarised(_SUMMARIES[word], function, arguments)
        if word not in FUNCTIONS:
            known = {*FUNCTIONS, *(_SUMMARIES if of else ())}
            others = {other: name for other, name in _OTHER_NAMES.items() if name in known}
            near = closest(word, {*known, *others})
            hint = others.get(near, near) or listed(sorted(known))
            raise self.error(f'There is no function "{function}".', at=offset(function), hint=hint)
        called, count = FUNCTIONS[word]
        if any(isinstance(argument, Token) for argument in arguments):
            raise self.error(f"{word} takes values.", at=offset(function), hint=f"{word}({of}price)")
        if len(arguments) != count:
            reason = f"{word} takes {count} value{'s' if count > 1 else ''}, not {len(arguments)}."
            raise self.error(
                reason, at=offset(function), hint=f"{word}({of}price)" if count == 1 else f"{word}({of}name, 'x')"
            )
        return Call(called, tuple(self._plain(argument) for argument in arguments))

    def _summarised(self, summary: AggregateName, function: Token, arguments: Iterable[Any]) -> Any:
        given, k = list(arguments), None
        if summary is AggregateName.COUNT and len(given) == 1 and isinstance(given[0], Token):
            return DraftMatchAggregate(summary, None, offset(function))
        if summary in _RANKED:
            first = given.pop(0) if len(given) == 2 else None
            if not isinstance(first, Literal) or first.datatype != XSD + "integer" or not 1 <= int(first.value) <= 1000:
                hint = f"{function}(3, a[].price)"
                raise self.error(f"{function} needs a number from 1 to 1000 first.", at=offset(function), hint=hint)
            k = int(first.value)
        if len(given) == 1 and isinstance(alone := self._references.get(given[0]), Attribute) and k is None:
            return DraftMatchAggregate(summary, alone, offset(function))
        if len(given) != 1 or not isinstance(given[0], EventsReference | ValueSequence):
            number = "" if k is None else f"{k}, "
            hint = f"{function}({number}a[].price) or {function}({number}a[..i-1].price)"
            raise self.error(f"{function}() needs a closure.", at=offset(function), hint=hint)
        (over,) = given
        range_ = over.range if isinstance(over, EventsReference) else EventRange.ALL
        if over.name is None and summary is not AggregateName.COUNT:
            hint = f"{function}({over.component}[{range_.value}].price)"
            raise self.error(f"{function} needs an attribute.", at=offset(function), hint=hint)
        made = ClosureAggregate(summary, over.component, range_, over.name, k)
        attribute = "" if over.name is None else f".{name_text(over.name)}"
        ranked = "" if k is None else f"{k},"
        return self._refer(f"{summary.value}({ranked}{over.component}[{range_.value}]{attribute})", made)

    def _plain(self, part: Any) -> Expression:
        """A part that is allowed inside of an expression."""
        match part:
            case ConjunctionItems(parts=parts):
                return chain(And, [self._plain(each.value) for each in parts])
            case StrategyGroup() | EquivalenceTest() | PartitionAttributes():
                what = {
                    StrategyGroup: "A strategy",
                    EquivalenceTest: "An equivalence test",
                    PartitionAttributes: "PARTITION BY",
                }[type(part)]
                reason = f"{what} must be a condition of its own in WHERE."
                raise self.error(reason, at=part.at, hint='"^" or AND between them')
            case ResultEvent():
                reason = "Several values, or one with a name, are allowed only in RETURN."
                raise self.error(reason, at=part.at, hint="one value in brackets")
            case EventsReference(name=None, component=component):
                raise self.error("Events are not a value.", at=part.at, hint=f"count({component}[])")
            case EventsReference(component=component, name=Name() as attribute):
                raise self.error(
                    "These are several values.", at=part.at, hint=f"avg({component}[..i-1].{name_text(attribute)})"
                )
            case ValueSequence(component=component, name=attribute):
                raise self.error(
                    "These are several values.",
                    hint=f"{component}[i].{name_text(attribute)} or sum({component}[].{name_text(attribute)})",
                )
            case Composite():
                first = (
                    f"{part.component}{'[i]' if part.index is not EventIndex.ALONE else ''}.{name_text(part.names[0])}"
                )
                raise self.error("A composite is allowed only in RETURN.", hint=first)
            case DraftMatchAggregate(complaint=(reason, hint)):
                raise self.error(reason, at=part.at, hint=hint)
        expression: Expression = part
        return expression


def _hundredth(digits: str) -> str:
    whole, _, rest = digits.partition(".")
    padded = whole.rjust(3, "0")
    return f"{padded[:-2]}.{padded[-2:]}{rest}"
