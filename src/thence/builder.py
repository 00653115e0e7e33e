"""Queries built in Python: `pattern` builds the SASE+ query that a text would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from lark import Token

from thence.algebra.expressions import And, Expression, Variable
from thence.algebra.sase import Component, EventIndex, EventRange, Key, Length, Reference, Strategy
from thence.algebra.show_sase import name_text
from thence.algebra.streams import Name
from thence.algebra.traversal import chain
from thence.errors import InputError, QueryError
from thence.lang.sase import parser as sase
from thence.lang.sase.draft import (
    DraftBlock,
    DraftItem,
    DraftReturn,
    DraftTotals,
    EquivalenceTest,
    PartitionAttributes,
    PlacedItem,
    StrategyGroup,
    column_name,
)
from thence.lang.sase.reader import ANY, SaseReader
from thence.lang.text import Text
from thence.query.languages import language_named
from thence.query.options import Duration, absolute_namespace, duration
from thence.query.query import Query
from thence.rdf.events import DEFAULT_NAMESPACE, value_term
from thence.rdf.terms import IRI

# Values and conditions in a Python pattern: attributes of events, and operators and functions over them.
#
# The rules are those of the reader of SASE+, called by Python and not by a grammar: none of the language's is
# here.

Named: TypeAlias = str | IRI
"""A type or an attribute: a column's or a local name, or whole as an IRI."""

# How tightly the parts of a text are bound: what is bound less is in brackets.
_OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _NEGATIVE, ATOM = range(8)


@dataclass(frozen=True, slots=True)
class _PatternText(Text):
    """A source without text: an error names the part of the pattern, and Python's traceback has the line."""

    parts: tuple[str, ...]

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError:
        at = f", at {self.parts[offset]:.80}" if self.parts[offset] else ""
        return QueryError(f"pattern{at}: {reason}", hint=hint)


class PatternReader(SaseReader):
    """Builds a pattern from Python values, part by part; its position is the last part."""

    def __init__(self, known: Iterable[Component] = (), parts: tuple[str, ...] = ("",)) -> None:
        super().__init__(_PatternText("", "", "pattern", (), parts))
        self.here = len(parts) - 1
        for each in known:
            self.component((each.type, each.closure), (word(each.variable), each.closure), negated=each.negated)

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(self._components.values())

    def made(self, rule: Callable[..., Any], text: str, binds: int, *given: Any) -> Value:
        """The result of a grammar rule, applied to values and words."""
        values = [each for each in given if isinstance(each, Value)]
        for each in values:
            self._references.update(each._references)
            self._own.update(each._own)
        part = rule(self, *(each._part if isinstance(each, Value) else each for each in given))
        components = frozenset(self.components).union(*(each._of for each in values))
        return Value(part, text, binds, self._references, components, self._own)

    def check_own(self, components: Iterable[Component]) -> None:
        """Check that the components belong to this pattern, and are not others with the same names."""
        for each in components:
            if self._known(word(each.variable)) not in (each, replace(each, negated=not each.negated)):
                reason = f'"{each.variable}" is not the component of that name in PATTERN.'
                raise self.error(reason, hint="one object for each component")

    def plain(self, part: Any) -> Expression:
        return self._plain(part)

    def key_of(self, given: Value) -> Key:
        """The partition key that a value computes."""
        for each in given._of:
            reason = f"PARTITION BY takes each event's own attributes, without a component, and {given} is of one."
            names = _names_in(given._references.values())
            hint = f'attribute("{names[0] if names else "symbol"}") in place of {each.variable}.…'
            raise self.error(reason, hint=hint)
        self._own.update(given._own)
        return self.key(given._part, given._text)

    def both(self, left: Any, _: Token, right: Any) -> Expression:
        return chain(And, [self._plain(left), self._plain(right)])

    def either(self, left: Any, _: Token, right: Any) -> Expression:
        return self.alternatives(left, right)

    def which(self, written: Token, which: EventIndex | EventRange, names: list[Name], several: bool) -> Any:
        """`a[which]`, `a[which].name` or `a[which].(name, …)`."""
        match which:
            case EventIndex.ALONE:
                return self.composite(written, *names) if several else self.alone(written, *names)
            case EventRange.ALL if several:
                return self.all_composites(written, written, *names)
            case EventRange.ALL:
                return self.all_values(written, written, *names) if names else self.all_events(written, written)
            case EventRange.BEFORE if not several:
                return self.running(written, word("i"), word("-"), word("1"), *names)
            case EventIndex() if not several:
                return self.indexed(written, (which, self.here), *names)
        index = which if isinstance(which, EventIndex) else EventIndex.BEFORE
        return self.indexed_composite(written, (index, self.here), *names)


def word(text: str) -> Any:
    """A token that is in no text."""
    return Token("NAME", text)


def _infix(rule: Callable[..., Any], sign: str, binds: int, *, turned: bool = False) -> Callable[[Any, object], Value]:
    def method(self: Value, other: object) -> Value:
        left, right = (value(other), self) if turned else (self, value(other))
        text = f"{left._in(binds + (binds == _COMPARED))} {sign} {right._in(binds + 1)}"
        return PatternReader().made(rule, text, binds, left, word(sign), right)

    return method


def _function(name: str) -> Callable[[Any], Value]:
    def method(self: Value) -> Value:
        return self._call(name)

    return method


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Value:
    """A value of a pattern's events, or a condition on them. It prints as SASE+ text.

    >>> a = Many(Component(Name("Stock"), "a", closure=True))
    >>> (a.each.price + 1) * 2 > abs(a.earlier.price.avg()), a.all.price.highest(3), ~a.each.symbol.like("A%")
    ((a[i].price + 1) * 2 > abs(avg(a[..i-1].price)), highest(3, a[].price), NOT a[i].symbol LIKE 'A%')
    """

    _part: Any  # as the reader has it
    _text: str
    _binds: int
    _references: Mapping[Variable, Reference]
    _of: frozenset[Component]
    _own: Mapping[Variable, Name] = field(default_factory=dict)  # attributes that are of no component

    __array_ufunc__ = None  # a number of NumPy leaves its operators to us
    __eq__ = _infix(PatternReader.compared, "=", _COMPARED)  # type: ignore[assignment]
    __ne__ = _infix(PatternReader.compared, "!=", _COMPARED)  # type: ignore[assignment]
    __lt__ = _infix(PatternReader.compared, "<", _COMPARED)
    __le__ = _infix(PatternReader.compared, "<=", _COMPARED)
    __gt__ = _infix(PatternReader.compared, ">", _COMPARED)
    __ge__ = _infix(PatternReader.compared, ">=", _COMPARED)
    __add__ = _infix(PatternReader.sum, "+", _SUM)
    __sub__ = _infix(PatternReader.sum, "-", _SUM)
    __mul__ = _infix(PatternReader.sum, "*", _PRODUCT)
    __truediv__ = _infix(PatternReader.sum, "/", _PRODUCT)
    __mod__ = _infix(PatternReader.sum, "%", _PRODUCT)
    __radd__ = _infix(PatternReader.sum, "+", _SUM, turned=True)
    __rsub__ = _infix(PatternReader.sum, "-", _SUM, turned=True)
    __rmul__ = _infix(PatternReader.sum, "*", _PRODUCT, turned=True)
    __rtruediv__ = _infix(PatternReader.sum, "/", _PRODUCT, turned=True)
    __rmod__ = _infix(PatternReader.sum, "%", _PRODUCT, turned=True)
    __and__ = _infix(PatternReader.both, "AND", _AND)
    __rand__ = _infix(PatternReader.both, "AND", _AND, turned=True)
    __or__ = _infix(PatternReader.either, "OR", _OR)
    __ror__ = _infix(PatternReader.either, "OR", _OR, turned=True)
    __abs__, __round__, __ceil__, __floor__ = map(_function, ("abs", "round", "ceil", "floor"))
    lower, upper, length = map(_function, ("lower", "upper", "length"))
    count, sum, avg, min, max, first, last = map(_function, ("count", "sum", "avg", "min", "max", "first", "last"))

    def highest(self, k: int) -> Value:
        return value(k)._call("highest", self)

    def lowest(self, k: int) -> Value:
        return value(k)._call("lowest", self)

    def contains(self, text: object) -> Value:
        return self._call("contains", value(text))

    def starts_with(self, text: object) -> Value:
        return self._call("starts_with", value(text))

    def ends_with(self, text: object) -> Value:
        return self._call("ends_with", value(text))

    def like(self, text: str) -> Value:
        """A match with `%` for any text and `_` for any character."""
        if not isinstance(text, str):
            raise InputError(f"like takes text, not {type(text).__name__}. Try: like('A%')")
        return self._tested(PatternReader.like, f"LIKE {value(text)}", value(text))

    def is_in(self, *choices: object) -> Value:
        if not choices:
            raise InputError("is_in needs something to choose from. Try: is_in('A', 'B')")
        values = [value(each) for each in choices]
        return self._tested(PatternReader.in_, f"IN ({', '.join(each._in(_SUM) for each in values)})", *values)

    def is_null(self) -> Value:
        return self._tested(PatternReader.is_null, "IS NULL")

    def is_not_null(self) -> Value:
        return self._tested(PatternReader.is_null, "IS NOT NULL", word("NOT"))

    def __neg__(self) -> Value:
        return PatternReader().made(PatternReader.negative, f"-{self._in(_NEGATIVE)}", _NEGATIVE, word("-"), self)

    def __invert__(self) -> Value:
        return PatternReader().made(PatternReader.not_, f"NOT {self._in(_NOT)}", _NOT, word("NOT"), self)

    def __bool__(self) -> NoReturn:
        cure = "&, | and ~ for and, or and not, each part in brackets; (x < y) & (y < z) for x < y < z"
        raise InputError(f"{self._text:.80} is a condition, which is neither True nor False by itself. Try: {cure}")

    def __repr__(self) -> str:
        return self._text

    def _tested(self, rule: Callable[..., Any], text: str, *others: Any) -> Value:
        return PatternReader().made(rule, f"{self._in(_SUM)} {text}", _COMPARED, self, *others)

    def _call(self, name: str, *others: Value) -> Value:
        text = f"{name}({', '.join(each._text for each in (self, *others))})"
        return PatternReader().made(PatternReader.call, text, ATOM, word(name), self, *others)

    def _in(self, binds: int) -> str:
        return self._text if self._binds >= binds else f"({self._text})"


def value(given: object) -> Value:
    """A value as it is; a constant as in a text: 0.8 is a decimal, 1e-9 a double."""
    number: int | float | Decimal
    match given:
        case Value():
            return given
        case None:
            raise InputError("A missing value equals nothing. Try: b.price.is_null()")
        case bool() | str():
            term = value_term("", given)
            return _constant(term, term.value if isinstance(given, bool) else "'" + given.replace("'", "''") + "'")
        case Integral():
            number = int(given)
        case float() if "e" in repr(float(given)):
            number = float(given)
        case float() | Decimal() if Decimal(given).is_finite():
            number = given if isinstance(given, Decimal) else Decimal(repr(float(given)))
        case timedelta() | datetime() | date():
            return _moment(given)
        case _:
            raise InputError(
                f"{given!r:.80} is not a value. Try: an attribute (b.price), a number, text, a timedelta, True or False"
            )
    term = value_term("", abs(number))
    return -_constant(term, term.value) if number < 0 else _constant(term, term.value)


def _moment(given: timedelta | datetime | date) -> Value:
    """A length of time, or a time."""
    term = value_term("", abs(given) if isinstance(given, timedelta) else given)
    if isinstance(given, timedelta):
        return -_constant(term, term.value) if given < timedelta() else _constant(term, term.value)
    return _constant(term, f"{'TIMESTAMP' if isinstance(given, datetime) else 'DATE'} '{term.value}'")


def _constant(term: Any, text: str) -> Value:
    return Value(term, text, ATOM, {}, frozenset())


def _names_in(references: Iterable[Reference]) -> list[Name]:
    return [each.name for each in references if not isinstance(each, Length) and each.name is not None]


def name_of(given: Named) -> Name:
    """The name of a type or an attribute."""
    if isinstance(given, IRI):
        return Name(given.value, given)
    if not isinstance(given, str) or not given:
        raise InputError(f'{given!r:.80} is not a name of a type or an attribute. Try: "price"')
    return Name(given)


@dataclass(frozen=True, slots=True, repr=False)
class EventsOfComponent:
    """Events of a component. Their attributes are `b.price` or `b["odd name"]`, and several at once `b["x", "y"]`."""

    _component: Component
    _which: EventIndex | EventRange = EventIndex.ALONE

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):  # Python asks for what it calls so
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, names: Named | tuple[Named, ...]) -> Value:
        if isinstance(names, tuple):
            found = [name_of(each) for each in names or ("",)]
            return self._read(f".({', '.join(map(name_text, found))})", found, several=True)
        return self._read(f".{name_text(name_of(names))}", [name_of(names)])

    def __repr__(self) -> str:
        which = f"{self._component.variable}.LEN" if self._which is EventIndex.LAST else self._which.value
        return self._component.variable + (f"[{which}]" if self._component.closure else "")

    def _read(self, text: str, names: list[Name], *, several: bool = False) -> Value:
        reader, variable = PatternReader([self._component]), word(self._component.variable)
        return reader.made(PatternReader.which, f"{self!r}{text}", ATOM, variable, self._which, names, several)


class SeveralEvents(EventsOfComponent):
    """`a[]` or `a[..i-1]`: several events, which can be counted and aggregated."""

    __slots__ = ()

    def count(self) -> Value:
        """The number of events."""
        return self._read("", [])._call("count")


@dataclass(frozen=True, slots=True)
class Cut:
    """`a[]!`: a closure that stops at the first event where it can."""

    component: Component


class One(EventsOfComponent):
    """`T b`: one event, whose attributes are `b.price`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Value:
        if name == "LEN":
            called = self._component.variable
            cure = f'{called}["LEN"] for an attribute, many("T", "{called}") for a closure'
            raise QueryError(f'pattern: "{called}" is not a closure and has no LEN.', hint=cure)
        return super().__getattr__(name)

    @property
    def cut(self) -> Cut:
        return Cut(self._component)

    def __invert__(self) -> One:
        return One(replace(self._component, negated=True))


@dataclass(frozen=True, slots=True)
class Many:
    """`T+ a[]`: a closure, one event or more."""

    _component: Component

    @property
    def first(self) -> EventsOfComponent:
        """`a[1]`."""
        return EventsOfComponent(self._component, EventIndex.FIRST)

    @property
    def last(self) -> EventsOfComponent:
        """`a[a.LEN]`."""
        return EventsOfComponent(self._component, EventIndex.LAST)

    @property
    def each(self) -> EventsOfComponent:
        """`a[i]`."""
        return EventsOfComponent(self._component, EventIndex.EACH)

    @property
    def previous(self) -> EventsOfComponent:
        """`a[i-1]`, the event before each one."""
        return EventsOfComponent(self._component, EventIndex.BEFORE)

    @property
    def earlier(self) -> SeveralEvents:
        """`a[..i-1]`, all events before each one."""
        return SeveralEvents(self._component, EventRange.BEFORE)

    @property
    def all(self) -> SeveralEvents:
        """`a[]`."""
        return SeveralEvents(self._component, EventRange.ALL)

    @property
    def length(self) -> Value:
        """`a.LEN`, the number of events."""
        reader, variable = PatternReader([self._component]), self._component.variable
        return reader.made(PatternReader.size, f"{variable}.LEN", ATOM, word(variable))

    @property
    def cut(self) -> Cut:
        """`a[]!`: the closure stops at the first event where it can."""
        return Cut(self._component)

    def __invert__(self) -> Many:
        return Many(replace(self._component, negated=True))

    if not TYPE_CHECKING:  # to a type checker it has no others

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            called = self._component.variable
            cure = f"{called}.each.{name}, {called}.last.{name} or {called}.all.{name}"
            raise QueryError(f'pattern: "{called}" is a closure: which of its events is meant?', hint=cure)


def one(type: Named, name: str) -> One:
    """One event of a type, or of "ANY", for `pattern`; columns and errors use `name`. `~` negates it.

    >>> b = one("Stock", "b")
    >>> b.price > 2 * b["odd name"]
    b.price > 2 * b.`odd name`
    """
    return One(_component(type, name, closure=False))


def many(type: Named, name: str) -> Many:
    """One or more events of a type, or of "ANY", for `pattern`: a closure. Its events are `first`, `last`, `each`
    (`a[i]`), `previous` (`a[i-1]`), `earlier` (`a[..i-1]`) and `all` (`a[]`).

    >>> a = many("Stock", "a")
    >>> (a.each.price > a.earlier.price.avg()) & (a.each.volume > a.previous.volume)
    a[i].price > avg(a[..i-1].price) AND a[i].volume > a[i-1].volume
    """
    return Many(_component(type, name, closure=True))


def _component(type: Named, name: str, *, closure: bool) -> Component:
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f'{name!r:.80} can\'t be a component\'s name. Try: one("Stock", "a")')
    return Component(None if type == ANY else name_of(type), name, closure)


def count() -> Value:
    """`count(*)`: the number of matches, for `aggregate`."""
    return PatternReader().made(PatternReader.call, "count(*)", 0, word("count"), word("*"))


def attribute(name: Named) -> Value:
    """An attribute of each event, whichever component it belongs to: `partition_by` computes keys from it.

    >>> (attribute("house") + 1) % 10
    (house + 1) % 10
    """
    found = name_of(name)
    return PatternReader().made(PatternReader.own, name_text(found), ATOM, found)


def pattern(*components: One | Many, streams: str | Iterable[str] = (), namespace: str | None = None) -> Pattern:
    """A SASE+ query in Python: `PATTERN SEQ(components)`, extended by its methods and completed by `returns` or
    `aggregate`. `streams` is FROM; `namespace` is the namespace of bare names in RDF.

    >>> from thence import Event, many, one, parse, pattern
    >>> a, b = many("Stock", "a"), one("Stock", "b")
    >>> query = (
    ...     pattern(a, b)
    ...     .same("symbol")
    ...     .where(a.first.volume > 1000, a.each.price > a.earlier.price.avg(), b.volume < 0.8 * a.last.volume)
    ...     .skip_till_next_match(a.cut, b)
    ...     .within("1 hour")
    ...     .returns(a.first.symbol, a.all.price, low=b.volume)
    ... )
    >>> query == parse('''
    ...     PATTERN SEQ(Stock+ a[], Stock b)
    ...     WHERE skip_till_next_match(a[]!, b) {
    ...         [symbol] ^ a[1].volume > 1000 ^ a[i].price > avg(a[..i-1].price) ^ b.volume < 0.8 * a[a.LEN].volume
    ...     }
    ...     WITHIN 1 hour
    ...     RETURN a[1].symbol, a[].price, b.volume AS low''')
    True

    `~b` among the components says that no such event comes. Conditions are joined by `&`, `|` and `~`. A name that
    Python or Thence takes stands in brackets, `b["cut"]`; several of them make a composite, `b["price", "volume"]`.
    Numbers are what they are in a text: 0.8 is a decimal, 1e-9 a double.
    """
    if not components or not all(isinstance(each, One | Many) for each in components):
        raise InputError('A pattern needs components. Try: pattern(many("Stock", "a"), one("Stock", "b"))')
    reader = PatternReader(each._component for each in components)
    names = tuple(PlacedItem(name, 0) for name in ([streams] if isinstance(streams, str) else streams))
    form, places = DraftReturn((), None, None, 0), {each.variable: 0 for each in reader.components}
    block = DraftBlock(reader.text, names, reader.components, (), None, None, form, {}, places)
    return Pattern(block, ("",), absolute_namespace(namespace) or DEFAULT_NAMESPACE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """An incomplete query. Each method returns a copy with one clause more."""

    _block: DraftBlock
    _parts: tuple[str, ...]  # what errors call the places of its drafts
    _namespace: str

    def where(self, *conditions: Value) -> Pattern:
        """`WHERE condition ^ condition …`."""
        made = self
        for each in conditions:
            made, reader = made._reading(each, "where(a.first.price > 10)")
            made = made._with(reader.plain(each._part))
        return made

    def same(self, *attributes: Named) -> Pattern:
        """`[attributes]`: all events of a match have the same values."""
        return self._with(EquivalenceTest(_names(attributes, "same"), 0))

    def partition_by(self, *keys: Named | Value) -> Pattern:
        """`PARTITION BY(keys)`: attributes, or values computed from them, such as `attribute("house") % 10`."""
        if not keys:
            raise InputError('partition_by needs an attribute. Try: partition_by("symbol")')
        made = replace(self, _parts=(*self._parts, "partition_by"))
        return made._with(PartitionAttributes(tuple(made._key(each) for each in keys), 0))

    def strict_contiguity(self, *components: One | Many | Cut) -> Pattern:
        """No event may lie between these."""
        return self._selecting(Strategy.STRICT, components)

    def partition_contiguity(self, *components: One | Many | Cut) -> Pattern:
        """No event of the same partition may lie between these."""
        return self._selecting(Strategy.PARTITION, components)

    def skip_till_next_match(self, *components: One | Many | Cut) -> Pattern:
        """These skip events that cannot be selected; this is also the default for components without a strategy."""
        return self._selecting(Strategy.NEXT, components)

    def skip_till_any_match(self, *components: One | Many | Cut) -> Pattern:
        """These may skip any event."""
        return self._selecting(Strategy.ANY, components)

    def within(self, window: Duration) -> Pattern:
        """`WITHIN window`: "10 minutes", a `timedelta`, or a number of ticks."""
        if self._block.window is not None:
            raise InputError("within is given twice. Try: one of them")
        span = PatternReader().within(duration(window, option="within"))
        return replace(self, _block=replace(self._block, window=PlacedItem(span, 0)))

    def having(self, *conditions: Value) -> Pattern:
        """`HAVING condition ^ condition …`: conditions on whole matches."""
        made = self
        for each in conditions:
            made, reader = made._reading(each, "having(a.length > 2)")
            before, plain = made._block.having, reader.plain(each._part)
            both = plain if before is None else reader.both(before.value, word("AND"), plain)
            made = replace(made, _block=replace(made._block, having=PlacedItem(both, reader.here)))
        return made

    def returns(self, *values: Value, **named: Any) -> Query:
        """`RETURN value, …, value AS name, …`."""
        made, items = self._columns(values, named, "returns(b.price, first=a.first.price)")
        return made._query(DraftReturn(items, None, None, 0))

    def aggregate(self, *totals: Value, by: Named | Value | Iterable[Named | Value] = (), **named: Value) -> Query:
        """`AGGREGATE total, …, total AS name, … BY keys`: over all matches."""
        made, items = self._columns(totals, named, "aggregate(a.all.price.sum(), n=count())")
        keys = tuple(PlacedItem(made._key(each), 0) for each in ([by] if isinstance(by, Named | Value) else by))
        return made._query(DraftTotals(items, keys, 0))

    def _key(self, given: Named | Value) -> Key:
        return PatternReader(parts=self._parts).key_of(given) if isinstance(given, Value) else name_of(given)

    def _with(self, item: Any) -> Pattern:
        """A copy with one more condition in WHERE, as its last part."""
        items = (*self._block.items, PlacedItem(item, len(self._parts) - 1))
        return replace(self, _block=replace(self._block, items=items))

    def _reading(self, given: Value, example: str, *, said: str = "") -> tuple[Pattern, PatternReader]:
        """A copy with one more place for a value, and a reader at that place."""
        if not isinstance(given, Value):
            raise InputError(f"{given!r:.80} is not a condition. Try: {example}")
        parts = (*self._parts, said or repr(given))
        reader = PatternReader(self._block.components, parts)
        for name in given._own.values():
            reason = f'attribute("{name}") names no component: which event is meant?'
            raise reader.error(reason, hint=f"b.{name_text(name)}; attribute(…) is for partition_by")
        reader.check_own(given._of)
        references = {**self._block.references, **given._references}
        return replace(self, _block=replace(self._block, references=references), _parts=parts), reader

    def _selecting(self, strategy: Strategy, components: tuple[One | Many | Cut, ...]) -> Pattern:
        if not components or not all(isinstance(each, One | Many | Cut) for each in components):
            raise InputError(f"{strategy.value} needs components. Try: {strategy.value}(a, b)")
        reader, at = PatternReader(self._block.components, (*self._parts, strategy.value)), len(self._parts)
        found = [each.component if isinstance(each, Cut) else each._component for each in components]
        reader.check_own(found)
        selected = tuple(
            replace(reader.selected((word(c.variable), c.closure), word("!") if isinstance(each, Cut) else None), at=at)
            for c, each in zip(found, components, strict=True)
        )
        made = replace(self, _parts=(*self._parts, strategy.value))
        return made._with(StrategyGroup(strategy, selected, (), at))

    def _columns(
        self, values: tuple[Value, ...], named: dict[str, Any], example: str
    ) -> tuple[Pattern, tuple[DraftItem, ...]]:
        if not values and not named:
            raise InputError(f"A value is required. Try: {example}")
        made, items = self, []
        for name, given in [*((None, each) for each in values), *((name, value(each)) for name, each in named.items())]:
            made, _ = made._reading(given, example, said=name or "")
            text = name or column_name(given._text)
            items.append(DraftItem(name, text, given._part, len(made._parts) - 1))
        return made, tuple(items)

    def _query(self, form: DraftReturn | DraftTotals) -> Query:
        text = PatternReader(parts=self._parts).text
        block = replace(self._block, text=text, form=form)
        return Query(sase.compose(text, [[block]], self._namespace), language_named("sase+"), "pattern")


def _names(given: tuple[Named, ...], method: str) -> tuple[Any, ...]:
    if not given:
        raise InputError(f'{method} needs an attribute. Try: {method}("symbol")')
    return tuple(name_of(each) for each in given)
