"""SASE+ in Python: `pattern` builds the query that a text would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from thence.algebra.sase import Component, Key, Strategy
from thence.algebra.show_sase import name_text
from thence.builders.sase_values import ATOM, Cut, Many, Named, One, PatternReader, Value, name_of, value, word
from thence.errors import InputError
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
from thence.lang.sase.reader import ANY
from thence.query.languages import language_named
from thence.query.options import Duration, absolute_namespace, duration
from thence.query.query import Query
from thence.rdf.typed_events import DEFAULT_NAMESPACE


def one(type: Named, name: str) -> One:
    """One event of a type, or of "ANY", for `pattern`; `name` is what columns and errors call it. `~` is its absence.

    >>> b = one("Stock", "b")
    >>> b.price > 2 * b["odd name"]
    b.price > 2 * b.`odd name`
    """
    return One(_component(type, name, closure=False))


def many(type: Named, name: str) -> Many:
    """One event or more of a type, or of "ANY", for `pattern`: a closure. Which of them is meant is said by `first`,
    `last`, `each` (`a[i]`), `previous` (`a[i-1]`), `earlier` (`a[..i-1]`) and `all` (`a[]`).

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
    """`count(*)`: how many matches there are, for `aggregate`."""
    return PatternReader().made(PatternReader.call, "count(*)", 0, word("count"), word("*"))


def attribute(name: Named) -> Value:
    """An attribute of each event, whichever component it is for: what `partition_by` computes keys of.

    >>> (attribute("house") + 1) % 10
    (house + 1) % 10
    """
    found = name_of(name)
    return PatternReader().made(PatternReader.own, name_text(found), ATOM, found)


def pattern(*components: One | Many, streams: str | Iterable[str] = (), namespace: str | None = None) -> Pattern:
    """A SASE+ query in Python: `PATTERN SEQ(components)`, what its methods add, and `returns` or `aggregate` to end it.
    `streams` is FROM, `namespace` that of bare names in RDF.

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
        raise InputError('A pattern is of components. Try: pattern(many("Stock", "a"), one("Stock", "b"))')
    reader = PatternReader(each._component for each in components)
    names = tuple(PlacedItem(name, 0) for name in ([streams] if isinstance(streams, str) else streams))
    form, places = DraftReturn((), None, None, 0), {each.variable: 0 for each in reader.components}
    block = DraftBlock(reader.text, names, reader.components, (), None, None, form, {}, places)
    return Pattern(block, ("",), absolute_namespace(namespace) or DEFAULT_NAMESPACE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query that is not yet whole. Its methods make another one, with something added."""

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
        """`[attributes]`: all events of a match have the same."""
        return self._with(EquivalenceTest(_names(attributes, "same"), 0))

    def partition_by(self, *keys: Named | Value) -> Pattern:
        """`PARTITION BY(keys)`: attributes, or what is computed of them, `attribute("house") % 10`."""
        if not keys:
            raise InputError('partition_by needs an attribute. Try: partition_by("symbol")')
        made = replace(self, _parts=(*self._parts, "partition_by"))
        return made._with(PartitionAttributes(tuple(made._key(each) for each in keys), 0))

    def strict_contiguity(self, *components: One | Many | Cut) -> Pattern:
        """These ignore no event."""
        return self._selecting(Strategy.STRICT, components)

    def partition_contiguity(self, *components: One | Many | Cut) -> Pattern:
        """These ignore events of other partitions."""
        return self._selecting(Strategy.PARTITION, components)

    def skip_till_next_match(self, *components: One | Many | Cut) -> Pattern:
        """These ignore events that can't be selected, as those do of which nothing is said."""
        return self._selecting(Strategy.NEXT, components)

    def skip_till_any_match(self, *components: One | Many | Cut) -> Pattern:
        """These ignore any event."""
        return self._selecting(Strategy.ANY, components)

    def within(self, window: Duration) -> Pattern:
        """`WITHIN window`: "10 minutes", a `timedelta`, or a number of ticks."""
        if self._block.window is not None:
            raise InputError("within stands twice. Try: one of them")
        span = PatternReader().within(duration(window, option="within"))
        return replace(self, _block=replace(self._block, window=PlacedItem(span, 0)))

    def having(self, *conditions: Value) -> Pattern:
        """`HAVING condition ^ condition …`: of whole matches."""
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
        """With one more thing in WHERE, at the last place."""
        items = (*self._block.items, PlacedItem(item, len(self._parts) - 1))
        return replace(self, _block=replace(self._block, items=items))

    def _reading(self, given: Value, example: str, *, said: str = "") -> tuple[Pattern, PatternReader]:
        """With a place for a value, and a reader there."""
        if not isinstance(given, Value):
            raise InputError(f"{given!r:.80} asks nothing of an event. Try: {example}")
        parts = (*self._parts, said or repr(given))
        reader = PatternReader(self._block.components, parts)
        for name in given._own.values():
            reason = f'attribute("{name}") is of no component: which event is meant?'
            raise reader.error(reason, hint=f"b.{name_text(name)}; attribute(…) is for partition_by")
        reader.check_own(given._of)
        references = {**self._block.references, **given._references}
        return replace(self, _block=replace(self._block, references=references), _parts=parts), reader

    def _selecting(self, strategy: Strategy, components: tuple[One | Many | Cut, ...]) -> Pattern:
        if not components or not all(isinstance(each, One | Many | Cut) for each in components):
            raise InputError(f"{strategy.value} is of components. Try: {strategy.value}(a, b)")
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
            raise InputError(f"There is nothing to give. Try: {example}")
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
