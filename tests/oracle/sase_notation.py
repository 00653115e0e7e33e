"""SASE+ text read into the oracle's terms, and streams written small: `line("a1 b1=c1 x")` is three instants."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from oracle.sase_query import (
    OWN,
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Call,
    Chosen,
    Compare,
    Component,
    Composite,
    Condition,
    Constant,
    Equivalence,
    Event,
    Expression,
    Given,
    Group,
    In,
    Index,
    IsNull,
    Item,
    Key,
    Length,
    Like,
    Made,
    Not,
    Or,
    PartitionBy,
    Query,
    Sequence,
    Span,
    Strategy,
)

Read = TypeVar("Read")

_TOKEN = re.compile(r"\d+\.\d+(?:e\d+)?|\d+|`[^`]+`|\w+|'(?:[^']|'')*'|<=|>=|!=|\.\.|\S")


def event(name: str, time: int, /, **attributes: Given) -> Event:
    """Its type is its name's first letter."""
    return Event(name[0].upper(), time, tuple(attributes.items()), name)


def line(text: str) -> list[Event]:
    """Events at the times 1, 2, 3, …; `=` joins those of one time, `:7` gives an event's x.

    >>> [(event.id, event.time, event["x"]) for event in line("a1 b1:7=c1")]
    [('a1', 1, None), ('b1', 2, 7), ('c1', 2, None)]
    """
    found = []
    for time, names in enumerate(text.split(), start=1):
        for name, _, x in (each.partition(":") for each in names.split("=")):
            found.append(event(name, time, x=int(x)) if x else event(name, time))
    return found


def read(text: str) -> Query:
    """A query. PATTERN and its SEQ may be left to say, and RETURN left out.

    >>> query = read("A+ a[], ~B b WHERE strict_contiguity(a[]!) { a.LEN = 2 } WITHIN 5 TICKS")
    >>> [component.type for component in query.components], query.within
    (['A', 'B'], 5)
    """
    reader = _Reader(text)
    found = reader.query()
    reader.end()
    return found


def read_all(text: str) -> tuple[tuple[Query, ...], ...]:
    """The queries of a text, `;` between them, each with its blocks, UNION between them.

    >>> made, both = read_all("A a RETURN a.x AS x IN STREAM s; FROM s s a RETURN a.x AS x UNION B b RETURN b.x AS x")
    >>> [block.made for block in made], [block.streams for block in both]
    ([Made(stream='s', type=None)], [('s',), ()])
    """
    reader = _Reader(text)
    found = reader.several(lambda: reader.several(reader.query, "UNION"), ";")
    reader.end()
    return found


_FUNCTIONS = ("abs", "ceil", "floor", "round", "lower", "upper", "length", "contains", "starts_with", "ends_with")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = _TOKEN.findall(text)[::-1]

    def at(self, *signs: str) -> bool:
        return bool(self.tokens) and self.tokens[-1] in signs

    def next(self, wanted: str | None = None) -> str:
        if not self.tokens or wanted not in (None, self.tokens[-1]):
            raise ValueError(f"expected {wanted} before {' '.join(self.tokens[:-4:-1])} in {self.text}")
        return self.tokens.pop()

    def skip(self, *signs: str) -> bool:
        """Whether these signs come next; if so, they are passed."""
        found = self.tokens[: -len(signs) - 1 : -1] == list(signs)
        if found:
            del self.tokens[-len(signs) :]
        return found

    def several(self, read: Callable[[], Read], between: str) -> tuple[Read, ...]:
        found = [read()]
        while self.skip(between):
            found.append(read())
        return tuple(found)

    def names(self, closed_by: str) -> tuple[str, ...]:
        found = self.several(self.name, ",")
        self.next(closed_by)
        return found

    def name(self) -> str:
        return self.next().strip("`")

    def end(self) -> None:
        if self.tokens:
            raise ValueError(f"unexpected {self.tokens[-1]} in {self.text}")

    def query(self) -> Query:
        streams = self.several(self.next, ",") if self.skip("FROM") else ()
        bracketed = self.skip("PATTERN", "SEQ", "(")
        components = self.several(self.component, ",")
        if bracketed:
            self.next(")")
        parts = self.several(self.condition, "AND") if self.skip("WHERE") else ()
        within = int(self.next()) if self.skip("WITHIN") else None
        self.skip("TICKS")
        having = self.expression() if self.skip("HAVING") else None
        aggregates = self.at("AGGREGATE")
        returns, made = self.output() if self.skip("RETURN") or self.skip("AGGREGATE") else ((), None)
        by = self.several(self.key, ",") if self.skip("BY") else ()
        groups = tuple(each for each in parts if isinstance(each, Group))
        conditions = tuple(each for each in parts if not isinstance(each, Group))
        return Query(components, groups, conditions, within, having, returns, aggregates, by, streams, made)

    def component(self) -> Component:
        negated = self.skip("~")
        bracketed = self.skip("(")
        kind = self.next()
        closure = self.skip("+")
        variable = self.next()
        if closure:
            self.next("[")
            self.next("]")
        if bracketed:
            self.next(")")
        return Component(kind, variable, closure, negated)

    def condition(self) -> Condition | Group:
        if self.tokens and self.tokens[-1] in [strategy.value for strategy in Strategy]:
            return self.group()
        return self.simple_condition()

    def group(self) -> Group:
        strategy = Strategy(self.next())
        self.next("(")
        chosen = self.several(self.chosen, ",")
        self.next(")")
        self.next("{")
        conditions = () if self.at("}") else self.several(self.simple_condition, "AND")
        self.next("}")
        return Group(strategy, chosen, conditions)

    def chosen(self) -> Chosen:
        variable = self.next()
        self.skip("[", "]")
        return Chosen(variable, self.skip("!"))

    def simple_condition(self) -> Condition:
        if self.skip("["):
            return Equivalence(self.names("]"))
        if self.skip("PARTITION", "BY", "("):
            keys = self.several(self.key, ",")
            self.next(")")
            return PartitionBy(keys)
        return self.negation()

    def key(self) -> Key:
        found = self.comparison()
        return found.attribute if isinstance(found, Attribute) and found.variable == OWN else found

    def output(self) -> tuple[tuple[Item, ...], Made | None]:
        kept = [*self.tokens]
        if self.skip("("):
            items = self.several(self.item, ",")
            if self.skip(")", "AS"):
                kind = self.next()
                self.next("IN")
                self.next("STREAM")
                return items, Made(self.next(), kind)
            self.tokens = kept  # it was an expression in brackets
        items = self.several(self.item, ",")
        return items, Made(self.next()) if self.skip("IN", "STREAM") else None

    def item(self) -> Item:
        what = self.returned()
        return Item(what, self.next() if self.skip("AS") else None)

    def returned(self) -> Expression | Sequence | Composite:
        variable = self.tokens[-1]
        if self.skip(variable, "[", "]", ".", "("):
            return Composite(variable, self.names(")"), closure=True)
        if self.skip(variable, ".", "("):
            return Composite(variable, self.names(")"))
        if self.skip(variable, "[", "]", "."):
            return Sequence(variable, self.name())
        return self.expression()

    def expression(self) -> Expression:
        found = self.conjunction()
        while self.skip("OR"):
            found = Or(found, self.conjunction())
        return found

    def conjunction(self) -> Expression:
        found = self.negation()
        while self.skip("AND"):
            found = And(found, self.negation())
        return found

    def negation(self) -> Expression:
        return Not(self.negation()) if self.skip("NOT") else self.comparison()

    def comparison(self) -> Expression:
        found = self.sum()
        if self.at("=", "!=", "<", "<=", ">", ">="):
            return Compare(self.next(), found, self.sum())
        if self.skip("IS", "NOT", "NULL"):
            return IsNull(found, negated=True)
        if self.skip("IS", "NULL"):
            return IsNull(found)
        negated = self.skip("NOT")
        if self.skip("LIKE"):
            return Like(found, _unquoted(self.next()), negated)
        if self.skip("IN", "("):
            choices = self.several(self.sum, ",")
            self.next(")")
            return In(found, choices, negated)
        return found

    def sum(self) -> Expression:
        found = self.product()
        while self.at("+", "-"):
            found = Arithmetic(self.next(), found, self.product())
        return found

    def product(self) -> Expression:
        found = self.atom()
        while self.at("*", "/", "%"):
            found = Arithmetic(self.next(), found, self.atom())
        return found

    def atom(self) -> Expression:
        token = self.next()
        if token == "(":
            found = self.expression()
            self.next(")")
            return found
        if token[0] == "'":
            return Constant(_unquoted(token))
        if token[0].isdigit():
            return Constant(float(token) if "e" in token else Decimal(token) if "." in token else int(token))
        if token in ("TRUE", "FALSE"):
            return Constant(token == "TRUE")
        if not self.skip("("):
            return self.reference(token)
        return self.call(token) if token in _FUNCTIONS else self.aggregate(token)

    def call(self, function: str) -> Call:
        arguments = self.several(self.sum, ",")
        self.next(")")
        return Call(function, arguments)

    def aggregate(self, function: str) -> Aggregate:
        if self.skip("*", ")"):
            return Aggregate(function)
        k = int(self.next()) if function in ("highest", "lowest") else None
        if k is not None:
            self.next(",")
        variable = self.next()
        span = Span.ALL if self.skip("[", "]") else Span.BEFORE if self.skip(*"[", "..", *"i-1]") else Span.PLAIN
        attribute = self.name() if self.skip(".") else None
        self.next(")")
        return Aggregate(function, variable, attribute, span, k)

    def reference(self, variable: str) -> Expression:
        if self.skip(".", "LEN"):
            return Length(variable)
        index = self.index(variable)
        if index is Index.PLAIN and not self.at("."):
            return Attribute(OWN, Index.PLAIN, variable.strip("`"))
        self.next(".")
        return Attribute(variable, index, self.name())

    def index(self, variable: str) -> Index:
        written = {(*"[1]",): Index.FIRST, (*"[i]",): Index.CURRENT, (*"[i-1]",): Index.PREVIOUS}
        written[("[", variable, ".", "LEN", "]")] = Index.LAST
        return next((index for signs, index in written.items() if self.skip(*signs)), Index.PLAIN)


def _unquoted(token: str) -> str:
    return token[1:-1].replace("''", "'")
