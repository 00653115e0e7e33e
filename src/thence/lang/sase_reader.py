"""From a parse tree to drafts of SASE+ blocks: what the grammar can't refuse with a reason is refused here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

from lark import Token, Tree

from thence.algebra.chains import chain
from thence.algebra.components import (
    FUNCTIONS,
    Attribute,
    Component,
    Composite,
    Index,
    Length,
    Name,
    Range,
    Reference,
    Sequence,
    Strategy,
    Summarised,
    Summary,
)
from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Comparison,
    Expression,
    Negate,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.errors import InputError
from thence.lang.names import closest, listed
from thence.lang.sase_draft import (
    Block,
    DraftItem,
    DraftReturn,
    DraftTotals,
    Group,
    OverMatches,
    Partition,
    Placed,
    Same,
    Selected,
)
from thence.lang.syntax import offset
from thence.lang.terms import TermReader
from thence.lang.words import name
from thence.rdf.terms import IRI, XSD, Literal
from thence.rdf.times import Domain, Span, format_time, parse_duration, parse_time

LONGEST = 100
"""The most components that SEQ may hold."""

ANY = "ANY"
_COMPARISONS = {"=": "==", "!=": "<>", "≠": "<>", "≤": "<=", "≥": ">="}
_SUMMARIES = {summary.value: summary for summary in Summary}
_RANKED = (Summary.HIGHEST, Summary.LOWEST)


@dataclass(frozen=True, slots=True)
class Events:
    """`a[]`, and `a[..i-1]` with or without an attribute: what aggregates are over."""

    component: str
    range: Range
    name: Name | None
    at: int


@dataclass(frozen=True, slots=True)
class Every:
    """`x ^ y ^ …`."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """`(x AS name, …)`: a result event, in RETURN."""

    items: tuple[DraftItem, ...]
    at: int


Part: TypeAlias = Expression | Every | Group | Same | Partition | Listed


class ComponentReader(TermReader):
    """SASE+."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._end = 0
        self._components: dict[str, Component] = {}
        self._references: dict[Variable, Reference] = {}

    def _reduce(self, node: Tree[Token], parts: list[Any]) -> Any:
        self._end = self._end if node.meta.empty else node.meta.end_pos
        return super()._reduce(node, parts)

    # Queries

    def queries(self, _: None, *unions: tuple[Block, ...]) -> tuple[tuple[Block, ...], ...]:
        return unions

    def union(self, *blocks: Block) -> tuple[Block, ...]:
        return blocks

    def block(self, *parts: Any) -> Block:
        found = {type(part): part for part in parts}
        block = Block(
            text=self.text,
            streams=found.get(list, []),
            components=tuple(self._components.values()),
            items=found.get(tuple, ()),
            window=found.get(Span),
            having=next((part.value for part in parts if isinstance(part, Placed)), None),
            form=next(part for part in parts if isinstance(part, DraftReturn | DraftTotals)),
            references=self._references,
            at=self.here,
        )
        self._components, self._references = {}, {}
        return block

    def streams(self, *names: Token) -> list[str]:
        return [str(each) for each in names]

    # PATTERN

    def pattern(self, *components: Component) -> None:
        """The components are known by their variables from here on."""

    def component(
        self, named: tuple[Name | None, bool], variable: tuple[Token, bool], *, negated: bool = False
    ) -> Component:
        type, closure = named
        written, brackets = variable
        if len(self._components) == LONGEST:
            raise self.error(f"SEQ has more than {LONGEST} components.")
        if written in self._components:
            raise self.error(f'Two components are called "{written}".', at=offset(written), hint="another name")
        if closure and not brackets:
            raise self.error('A closure\'s variable is written with "[]".', at=offset(written), hint=f"{written}[]")
        if brackets and not closure:
            reason = f'"{written}[]" is of a closure, and there is no "+" after the type.'
            raise self.error(reason, at=offset(written), hint=f"{type or ANY}+ {written}[]")
        made = Component(type, str(written), closure, negated)
        self._components[str(written)] = made
        return made

    def negated(self, named: tuple[Name | None, bool], variable: tuple[Token, bool]) -> Component:
        return self.component(named, variable, negated=True)

    def named(self, type: Name | None, plus: Token | None = None) -> tuple[Name | None, bool]:
        return type, plus is not None

    def type(self, written: Token | IRI) -> Name | None:
        return None if written == ANY else self.attribute(written)

    def variable(self, written: Token, brackets: Token | None = None) -> tuple[Token, bool]:
        return written, brackets is not None

    def attribute(self, written: Token | IRI) -> Name:
        if isinstance(written, IRI):
            return Name(written.value, written)
        return Name(written[1:-1] if written.startswith("`") else str(written))

    # WITHIN

    def within(self, span: Span) -> Span:
        if span.length == 0:
            raise self.error("A window can't be without length.", hint="WITHIN 10 MINUTES")
        return span

    def duration(self, *parts: Token) -> Span:
        try:
            return parse_duration(" ".join(str(part) for part in parts))
        except InputError as error:
            reason, _, hint = str(error).partition(" Try: ")
            raise self.error(reason if reason.endswith(".") else f"{reason}.", hint=hint) from None

    # WHERE and HAVING

    def where(self, condition: Part) -> tuple[Placed, ...]:
        return tuple(self._conditions(condition))

    def having(self, condition: Part) -> Placed:
        return Placed(self._plain(condition), self.here)

    def group(self, strategy: Token, *rest: Any) -> Group:
        selected = tuple(part for part in rest if isinstance(part, Selected))
        inside = [part for part in rest if not isinstance(part, Selected)]
        found = Strategy(strategy.lower().replace("skip_til_", "skip_till_"))
        return Group(found, selected, tuple(self._conditions(inside[0])) if inside else (), offset(strategy))

    def selected(self, variable: tuple[Token, bool], bang: Token | None = None) -> Selected:
        written, brackets = variable
        component = self._known(written)
        if component.closure != brackets:
            right = f"{written}[]" if component.closure else str(written)
            raise self.error(f'The variable is written "{right}".', at=offset(written), hint=right)
        return Selected(str(written), bang is not None, offset(written))

    def same(self, *names: Name) -> Same:
        return Same(names, self.here)

    def partition(self, *names: Name) -> Partition:
        return Partition(names, self.here)

    def conjuncts(self, *parts: Part) -> Every:
        return Every(tuple(Placed(part, self.here) for part in parts))

    def alternatives(self, *parts: Part) -> Expression:
        return chain(Or, [self._plain(part) for part in parts])

    def not_(self, _: Token, part: Part) -> Expression:
        return Not(self._plain(part))

    def compared(self, left: Part, sign: Token, right: Part) -> Expression:
        comparison = Comparison(_COMPARISONS.get(str(sign), str(sign)))
        return Compare(comparison, self._plain(left), self._plain(right))

    def is_null(self, part: Part, negated: Token | None = None) -> Expression:
        if not isinstance(part, Variable):
            raise self.error("IS NULL asks of an attribute whether it is there.", hint="a.price IS NULL")
        return Bound(part) if negated is not None else Not(Bound(part))

    def like(self, part: Part, *rest: Any) -> Expression:
        pattern = rest[-1]
        found = Call("REGEX", (self._plain(part), Literal(_regular(pattern.value)), Literal("s")))
        return Not(found) if len(rest) > 1 else found

    def in_(self, part: Part, *rest: Any) -> Expression:
        negated = bool(rest) and isinstance(rest[0], Token)
        choices = tuple(self._plain(choice) for choice in (rest[1:] if negated else rest))
        tests: list[Expression] = [Compare(Comparison.SAME, self._plain(part), choice) for choice in choices]
        found = chain(Or, tests)
        return Not(found) if negated else found

    def sum(self, *parts: Any) -> Expression:
        found = self._plain(parts[0])
        for sign, operand in zip(parts[1::2], parts[2::2], strict=True):
            if sign == "%":
                reason = '"%" makes a percentage of a number, as in 80%; there is no remainder.'
                raise self.error(reason, at=offset(sign))
            operation = Operation.QUOTIENT if sign == "/" else Operation(str(sign))
            found = Arithmetic(operation, found, self._plain(operand))
        return found

    product = sum

    def negative(self, _: Token, part: Part) -> Expression:
        return Negate(self._plain(part))

    def bracketed(self, *items: DraftItem) -> Any:
        if len(items) == 1 and items[0].name is None:
            return items[0].given
        return Listed(items, self.here)

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
            return Literal(date.fromisoformat(text).isoformat(), XSD + "date")
        except (InputError, ValueError):
            hint = f"{kind} '2024-05-06{'T07:00:00Z' if len(kind) > 4 else ''}'"
            raise self.error(f"{text!r:.80} is no {kind.lower()}.", at=offset(token), hint=hint) from None

    def _conditions(self, part: Part) -> Iterable[Placed]:
        """The conjuncts of WHERE, each with its place."""
        for each in _each(part, self.here):
            beside = isinstance(each.value, Group | Same | Partition)
            yield each if beside else Placed(self._plain(each.value), each.at)

    def _plain(self, part: Any) -> Expression:
        """What can stand inside of an expression."""
        match part:
            case Every(parts=parts):
                return chain(And, [self._plain(each.value) for each in parts])
            case Group() | Same() | Partition():
                what = {Group: "A strategy", Same: "An equivalence test", Partition: "PARTITION BY"}[type(part)]
                raise self.error(f"{what} stands beside other conditions of WHERE, not inside of one.", at=part.at)
            case Listed():
                raise self.error("Several values, or one with a name, stand in RETURN alone.", at=part.at)
            case Events(name=None, component=component):
                raise self.error("Events are no value.", at=part.at, hint=f"count({component}[])")
            case Events(component=component, name=attribute):
                raise self.error("These are several values.", at=part.at, hint=f"avg({component}[..i-1].{attribute})")
            case Sequence(component=component, name=attribute):
                raise self.error(
                    "These are several values.", hint=f"{component}[i].{attribute} or sum({component}[].{attribute})"
                )
            case Composite():
                raise self.error("A composite stands in RETURN alone.")
            case OverMatches(complaint=(reason, hint)):
                raise self.error(reason, at=part.at, hint=hint)
        expression: Expression = part
        return expression

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

    def _of(self, component: Component, index: Index, attribute: Name) -> Variable:
        bracket = {Index.ALONE: "", Index.LAST: f"[{component.variable}.LEN]"}.get(index, f"[{index.value}]")
        return self._refer(
            f"{component.variable}{bracket}.{attribute}", Attribute(component.variable, index, attribute)
        )

    def alone(self, written: Token, attribute: Name) -> Variable:
        component = self._known(written)
        if not component.closure and attribute.local == "LEN":
            raise self.error(f'"{written}" is no closure and has no LEN.', at=offset(written))
        if not component.closure:
            return self._of(component, Index.ALONE, attribute)
        if attribute.local.upper() == "LEN" and attribute.iri is None:
            return self._refer(f"{written}.LEN", Length(str(written)))
        reason = f'"{written}" is a closure: which of its events is meant?'
        raise self.error(reason, at=offset(written), hint=f"{written}[i].{attribute}")

    def indexed(self, written: Token, index: tuple[Index, int], attribute: Name) -> Variable:
        return self._of(self._closure(written), index[0], attribute)

    def _closure(self, written: Token) -> Component:
        component = self._known(written)
        if not component.closure:
            raise self.error(
                f'"{written}" is no closure and has but one event.', at=offset(written), hint=f"{written}.…"
            )
        return component

    def index(self, *parts: Token) -> tuple[Index, int]:
        at, written = offset(parts[0]), "".join(parts) if len(parts) != 2 else ".".join(parts)
        found = {"1": Index.FIRST, "i": Index.EACH, "i-1": Index.BEFORE}.get(written.lower())
        if found is None and len(parts) == 2 and parts[1].upper() == "LEN":
            self._closure(parts[0])
            found = Index.LAST
        if found is None:
            hint = "a[1], a[i], a[i-1] or a[a.LEN]"
            raise self.error(f'"{written}" is no index.', at=at, hint=hint)
        return found, at

    def composite(self, written: Token, *names: Name) -> Composite:
        component = self._known(written)
        if component.closure:
            reason = f'"{written}" is a closure: which of its events is meant?'
            raise self.error(reason, at=offset(written), hint=f"{written}[].({', '.join(map(str, names))})")
        return Composite(str(written), Index.ALONE, names)

    def indexed_composite(self, written: Token, index: tuple[Index, int], *names: Name) -> Composite:
        component = self._closure(written)
        if index[0] not in (Index.FIRST, Index.LAST):
            raise self.error("RETURN has no i.", at=index[1], hint=f"{written}[].({', '.join(map(str, names))})")
        return Composite(component.variable, index[0], names)

    def all_events(self, written: Token, _: Token) -> Events:
        return Events(self._closure(written).variable, Range.ALL, None, offset(written))

    def all_values(self, written: Token, _: Token, attribute: Name) -> Sequence:
        return Sequence(self._closure(written).variable, attribute)

    def all_composites(self, written: Token, _: Token, *names: Name) -> Composite:
        return Composite(self._closure(written).variable, None, names)

    def running(self, written: Token, letter: Token, _: Token, one: Token, attribute: Name | None = None) -> Events:
        component = self._closure(written)
        if (letter.lower(), one) != ("i", "1"):
            raise self.error(f'"..{letter}-{one}" is no range.', at=offset(letter), hint=f"{written}[..i-1]")
        return Events(component.variable, Range.BEFORE, attribute, offset(written))

    # Functions

    def call(self, function: Token, *arguments: Any) -> Any:
        word = function.lower()
        if word in _SUMMARIES:
            return self._summarised(_SUMMARIES[word], function, arguments)
        if word not in FUNCTIONS:
            known = {*_SUMMARIES, *FUNCTIONS}
            hint = closest(word, known) or listed(sorted(known))
            raise self.error(f'There is no function "{function}".', at=offset(function), hint=hint)
        called, count = FUNCTIONS[word]
        if any(isinstance(argument, Token) for argument in arguments):
            raise self.error(f"{word} takes values.", at=offset(function), hint=f"{word}(a.price)")
        if len(arguments) != count:
            raise self.error(
                f"{word} takes {count} value{'s' if count > 1 else ''}, not {len(arguments)}.", at=offset(function)
            )
        return Call(called, tuple(self._plain(argument) for argument in arguments))

    def _summarised(self, summary: Summary, function: Token, arguments: Iterable[Any]) -> Any:
        given, k = list(arguments), None
        if summary is Summary.COUNT and len(given) == 1 and isinstance(given[0], Token):
            return OverMatches(summary, None, offset(function))
        if summary in _RANKED:
            first = given.pop(0) if len(given) == 2 else None
            if not isinstance(first, Literal) or first.datatype != XSD + "integer" or not 1 <= int(first.value) <= 1000:
                hint = f"{function}(3, a[].price)"
                raise self.error(f"{function} needs a number from 1 to 1000 first.", at=offset(function), hint=hint)
            k = int(first.value)
        if len(given) == 1 and isinstance(alone := self._references.get(given[0]), Attribute) and k is None:
            return OverMatches(summary, alone, offset(function))
        if len(given) != 1 or not isinstance(given[0], Events | Sequence):
            number = "" if k is None else f"{k}, "
            hint = f"{function}({number}a[].price) or {function}({number}a[..i-1].price)"
            raise self.error(f"{function} is over the events of a closure.", at=offset(function), hint=hint)
        (over,) = given
        range_ = over.range if isinstance(over, Events) else Range.ALL
        if over.name is None and summary is not Summary.COUNT:
            hint = f"{function}({over.component}[{range_.value}].price)"
            raise self.error(f"{function} needs an attribute.", at=offset(function), hint=hint)
        made = Summarised(summary, over.component, range_, over.name, k)
        attribute = "" if over.name is None else f".{over.name}"
        ranked = "" if k is None else f"{k},"
        return self._refer(f"{summary.value}({ranked}{over.component}[{range_.value}]{attribute})", made)

    # RETURN and AGGREGATE

    def item(self, part: Any, named: Token | None = None) -> DraftItem:
        part = self._plain(part) if isinstance(part, Every) else part
        text = "".join(self.text.read[self.here : self._end].split()) if named is None else str(named)
        return DraftItem(None if named is None else text, text, part, self.here)

    def stream(self, written: Token) -> Token:
        return written

    def returned(self, *parts: Any) -> DraftReturn:
        *items, last = parts
        stream = str(last) if isinstance(last, Token) else None
        items = items if stream is not None else list(parts)
        if len(items) == 1 and isinstance(items[0].given, Listed):
            return DraftReturn(items[0].given.items, items[0].name, stream, self.here)
        return DraftReturn(tuple(items), None, stream, self.here)

    def aggregate(self, *parts: Any) -> DraftTotals:
        items = tuple(part for part in parts if isinstance(part, DraftItem))
        return DraftTotals(items, tuple(part for part in parts if isinstance(part, Name)), self.here)


def _each(part: Any, at: int) -> Iterable[Placed]:
    """The conjuncts of a condition, each with its place."""
    if isinstance(part, Every):
        for each in part.parts:
            yield from _each(each.value, each.at)
    else:
        yield Placed(part, getattr(part, "at", at))


def _hundredth(digits: str) -> str:
    whole, _, rest = digits.partition(".")
    padded = whole.rjust(3, "0")
    return f"{padded[:-2]}.{padded[-2:]}{rest}"


def _regular(pattern: str) -> str:
    """The regular expression of a LIKE: `%` is any text, `_` any character."""
    signs = {"%": ".*", "_": "."}
    return "^" + "".join(signs.get(letter) or _quoted(letter) for letter in pattern) + "$"


def _quoted(letter: str) -> str:
    return f"\\{letter}" if letter in "\\.^$*+?()[]{}|-" else letter
