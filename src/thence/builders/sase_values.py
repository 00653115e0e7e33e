"""Values and conditions in a Python pattern: attributes of events, and operators and functions over them.

The rules are those of the reader of SASE+, called by Python and not by a grammar: none of the language's stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from lark import Token

from thence.algebra.chains import chain
from thence.algebra.expressions import And, Expression, Variable
from thence.algebra.sase import Component, EventIndex, EventRange, Key, Length, Name, Reference
from thence.algebra.show_sase import name_text
from thence.errors import InputError, QueryError
from thence.lang.sase.reader import SaseReader
from thence.lang.text import Text
from thence.rdf.terms import IRI
from thence.rdf.typed_events import value_term

Named: TypeAlias = str | IRI
"""A type or an attribute: a column's or a local name, or whole as an IRI."""

# How tightly the parts of a text are bound: what is bound less stands in brackets.
_OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _NEGATIVE, ATOM = range(8)


@dataclass(frozen=True, slots=True)
class _PatternText(Text):
    """There is no text: an error names the part of the pattern, and Python's traceback has the line."""

    parts: tuple[str, ...]

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError:
        at = f", at {self.parts[offset]:.80}" if self.parts[offset] else ""
        return QueryError(f"pattern{at}: {reason}", hint=hint)


class PatternReader(SaseReader):
    """The reader of SASE+ for what Python says, part by part; it stands at the last of them."""

    def __init__(self, known: Iterable[Component] = (), parts: tuple[str, ...] = ("",)) -> None:
        super().__init__(_PatternText("", "", "pattern", (), parts))
        self.here = len(parts) - 1
        for each in known:
            self.component((each.type, each.closure), (word(each.variable), each.closure), negated=each.negated)

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(self._components.values())

    def made(self, rule: Callable[..., Any], text: str, binds: int, *given: Any) -> Value:
        """What a rule makes of values and words."""
        values = [each for each in given if isinstance(each, Value)]
        for each in values:
            self._references.update(each._references)
            self._own.update(each._own)
        part = rule(self, *(each._part if isinstance(each, Value) else each for each in given))
        components = frozenset(self.components).union(*(each._of for each in values))
        return Value(part, text, binds, self._references, components, self._own)

    def check_own(self, components: Iterable[Component]) -> None:
        """They are the pattern's, and not others of the same names."""
        for each in components:
            if self._known(word(each.variable)) not in (each, replace(each, negated=not each.negated)):
                reason = f'"{each.variable}" is not the component that PATTERN calls so.'
                raise self.error(reason, hint="one object for each component")

    def plain(self, part: Any) -> Expression:
        return self._plain(part)

    def key_of(self, given: Value) -> Key:
        """What events of a partition are alike in."""
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
        """`a[which]`, `a[which].name`, `a[which].(name, …)`."""
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
    """A token that no text has."""
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
    """What a pattern asks of its events, or gives; a condition, where it is true or false. It shows as SASE+ has it.

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
        """`%` is any text, `_` any character."""
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
        raise InputError(f"{self._text:.80} is neither true nor false before there are events. Try: {cure}")

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
    """A value as it is, a constant as a text has it: 0.8 is a decimal, 1e-9 a double."""
    number: int | float | Decimal
    match given:
        case Value():
            return given
        case None:
            raise InputError("What is missing is equal to nothing. Try: b.price.is_null()")
        case bool() | str():
            term = value_term("", given)
            return _constant(term, term.value if isinstance(given, bool) else "'" + given.replace("'", "''") + "'")
        case Integral():
            number = int(given)
        case float() if "e" in repr(float(given)):
            number = float(given)
        case float() | Decimal() if Decimal(given).is_finite():
            number = given if isinstance(given, Decimal) else Decimal(repr(float(given)))
        case _:
            raise InputError(f"{given!r:.80} is no value. Try: an attribute (b.price), a number, text, True or False")
    term = value_term("", abs(number))
    return -_constant(term, term.value) if number < 0 else _constant(term, term.value)


def _constant(term: Any, text: str) -> Value:
    return Value(term, text, ATOM, {}, frozenset())


def _names_in(references: Iterable[Reference]) -> list[Name]:
    return [each.name for each in references if not isinstance(each, Length) and each.name is not None]


def name_of(given: Named) -> Name:
    """The name of a type or an attribute."""
    if isinstance(given, IRI):
        return Name(given.value, given)
    if not isinstance(given, str) or not given:
        raise InputError(f'{given!r:.80} is no name of a type or an attribute. Try: "price"')
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
    """`a[]` or `a[..i-1]`: events that can be counted, and whose values are several."""

    __slots__ = ()

    def count(self) -> Value:
        """How many they are."""
        return self._read("", [])._call("count")


@dataclass(frozen=True, slots=True)
class Cut:
    """`a[]!`: a closure that stops where it first can."""

    component: Component


class One(EventsOfComponent):
    """`T b`: one event, whose attributes are `b.price`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Value:
        if name == "LEN":
            called = self._component.variable
            cure = f'{called}["LEN"] for an attribute, many("T", "{called}") for a closure'
            raise QueryError(f'pattern: "{called}" is no closure and has no LEN.', hint=cure)
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
        """`a[i-1]`, the one before each."""
        return EventsOfComponent(self._component, EventIndex.BEFORE)

    @property
    def earlier(self) -> SeveralEvents:
        """`a[..i-1]`, all before each."""
        return SeveralEvents(self._component, EventRange.BEFORE)

    @property
    def all(self) -> SeveralEvents:
        """`a[]`."""
        return SeveralEvents(self._component, EventRange.ALL)

    @property
    def length(self) -> Value:
        """`a.LEN`, how many there are."""
        reader, variable = PatternReader([self._component]), self._component.variable
        return reader.made(PatternReader.length, f"{variable}.LEN", ATOM, word(variable))

    @property
    def cut(self) -> Cut:
        """`a[]!`: it stops where it first can."""
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
