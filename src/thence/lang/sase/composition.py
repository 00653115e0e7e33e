"""Which SASE+ query feeds which: FROM, IN STREAM, UNION."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

from thence.algebra.sase import UNNAMED, ComponentQuery, ComposedQuery, Composite, Computed, UnionQuery
from thence.algebra.sase import ValueSequence as Values
from thence.algebra.sase_column_types import typed_stages
from thence.algebra.sase_types import OWN_TIMES, Asked, Demand, ImpossibleError, ValueTypes, asked_by
from thence.columns.value_types import CURE, disagreement, read_attributes
from thence.errors import closest
from thence.lang.sase.checks import read_where
from thence.lang.sase.draft import DraftBlock, DraftReturn, DraftTotals, PlacedItem
from thence.lang.text import Text
from thence.rdf.times import Domain

DraftUnion: TypeAlias = tuple[DraftBlock, ...]


def check_composition(text: Text, unions: Sequence[DraftUnion]) -> list[int]:
    """The numbers of the queries in an order in which each comes after those that feed it."""
    made: dict[str, list[int]] = {}
    for number, union in enumerate(unions):
        for stream in _streams(union):
            made.setdefault(stream.value, []).append(number)
    feeds = {
        number: {source for block in union for stream in _reads(block) for source in made.get(stream, ())}
        for number, union in enumerate(unions)
    }
    order = _ordered(text, unions, feeds)
    asked = _read(unions)
    _check_last(text, unions[-1], asked)
    for number, union in enumerate(unions[:-1]):
        _check_read(text, unions, number, asked)
        _check_fed(text, union)
    for union in unions:
        _check_forms(text, union)
    _check_windows(text, unions)
    return order


def check_types(text: Text, query: ComposedQuery, unions: Sequence[DraftUnion]) -> None:
    """Check that columns of a UNION agree in their types, as far as the text shows; `unions` are those of the query."""
    found = disagreement(typed_stages(query), {})
    if found is not None:
        form = [block for union in unions for block in union][found.stage].form
        keys = form.by if isinstance(form, DraftTotals) else ()
        places = {str(key.value): key.at for key in keys} | {item.text: item.at for item in form.items}
        raise text.error(found.reason, places[found.column], hint=CURE)


# What is computed of times (SA-51)

_TIMES = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}


def timed(text: Text, query: ComposedQuery, unions: Sequence[DraftUnion]) -> ComposedQuery:
    """The query, with the kind of time that its text demands: that of WITHIN, else of the first value that only one
    kind goes with. It is an error if the text demands both, or computes what cannot be computed; `unions` are those
    of the query."""
    drafts = [block for union in unions for block in union]
    demands = [(Demand(Domain.TICKS, str(length.value)), length.at) for draft in drafts for length in draft.ticks]
    if query.time_kind is None:
        demands += _demands(text, query, drafts)
    first = Demand(*query.time_kind) if query.time_kind is not None else demands[0][0] if demands else None
    for demand, at in demands:
        if first is not None and demand.domain is not first.domain:
            reason = (
                f"{demand.words} needs times that are {_TIMES[demand.domain]}, "
                f"but {first.words} needs {_TIMES[first.domain]}."
            )
            raise text.error(reason, at, hint="20 MINUTES or 50 TICKS in both")
    if first is None:
        return query
    timed = [UnionQuery(tuple(replace(each, domain=first.domain) for each in union.blocks)) for union in query.queries]
    found = replace(query, queries=tuple(timed), demand=(first.domain, first.words))
    _demands(text, found, drafts)  # and refuses what cannot be computed of such times
    return found


def _demands(text: Text, query: ComposedQuery, drafts: Sequence[DraftBlock]) -> list[tuple[Demand, int]]:
    """What goes with one kind of time only, and where it stands. An error if something cannot be computed."""
    found = []
    for block, draft, types in zip(query.blocks, drafts, read_attributes(typed_stages(query), {}), strict=True):
        for asked, at in _placed(block, draft):
            known = ValueTypes(block, types, block.references)
            _check(text, asked, known, at)
            found += [(demand, at) for demand in known.demands]
    return found


def _check(text: Text, asked: Asked, types: ValueTypes, at: int) -> None:
    try:
        asked.check(types)
    except ImpossibleError as error:
        raise text.error(error.reason, at, hint=error.hint) from None


def _placed(block: ComponentQuery, draft: DraftBlock) -> Iterator[tuple[Asked, int]]:
    """All that a block computes, and where it stands."""
    where = read_where(draft)
    places = [condition.at for condition in where.conditions]
    places += [where.partition_at for key in block.tested if isinstance(key, Computed)]
    places += [] if draft.having is None else [draft.having.at]
    given = (
        draft.form.items
        if isinstance(draft.form, DraftTotals)
        else [item for item in draft.form.items if not isinstance(item.given, Values | Composite)]
    )
    return zip(asked_by(block), (*places, *(item.at for item in given)), strict=True)


def hidden_columns(block: DraftBlock) -> tuple[str, ...]:
    """Warnings about columns of derived events that are called as their own times are."""
    return tuple(
        f'The column "{item.text}" of the stream {block.stream.value} is hidden: "{item.text}" of an event '
        "is its own time. Try: another name after AS"
        for item in block.form.items
        if block.stream is not None and item.text in OWN_TIMES
    )


def _streams(union: DraftUnion) -> list[PlacedItem]:
    """The streams that it makes."""
    return [block.stream for block in union if block.stream is not None]


def _reads(block: DraftBlock) -> list[str]:
    return [stream.value for stream in block.streams] or [UNNAMED]


def _read(unions: Sequence[DraftUnion]) -> dict[str, int]:
    """The streams that queries read, each with the number of the first that does."""
    found: dict[str, int] = {}
    for number, union in enumerate(unions):
        for block in union:
            for stream in _reads(block):
                found.setdefault(stream, number)
    return found


def _ordered(text: Text, unions: Sequence[DraftUnion], feeds: Mapping[int, set[int]]) -> list[int]:
    try:
        return list(TopologicalSorter(feeds).static_order())
    except CycleError as error:
        first, *others = (_feeding(unions[source], unions[reader]) for source, reader in pairwise(error.args[1]))
        way = f' by way of "{others[0].value}"{" and others" * (len(others) > 1)}' if others else ""
        reason = f'The stream "{first.value}" would feed itself{way}.'
        raise text.error(reason, first.at, hint="another name after IN STREAM") from None


def _feeding(source: DraftUnion, reader: DraftUnion) -> PlacedItem:
    """The first stream by which one feeds the other."""
    asked = _read([reader])
    return next(stream for stream in _streams(source) if stream.value in asked)


def _check_last(text: Text, last: DraftUnion, asked: Mapping[str, int]) -> None:
    for stream in _streams(last):
        if stream.value in asked:
            reason = f'The last query is the answer, but query {asked[stream.value] + 1} reads its "{stream.value}".'
            raise text.error(reason, stream.at, hint="the query that reads it after this one")


def _check_read(text: Text, unions: Sequence[DraftUnion], number: int, asked: Mapping[str, int]) -> None:
    """Check that every block of a query but the last is read by some other query."""
    union = unions[number]
    for block in union:
        if isinstance(block.form, DraftTotals):
            reason = f"AGGREGATE makes no events, so no other query can read query {number + 1}."
            raise text.error(reason, block.form.at, hint="RETURN … IN STREAM name, or AGGREGATE in the last query")
        if block.stream is None and len(union) > 1:
            reason = f"Some of the events of query {number + 1} are never read."
            raise text.error(reason, block.form.at, hint="IN STREAM name in each block of the UNION")
        if block.stream is None:
            reason = f"No other query reads query {number + 1}."
            raise text.error(reason, block.form.at, hint="IN STREAM name, and FROM name in another")
        if block.stream.value not in asked:
            _check_near(text, block.stream, unions, number)


def _check_near(text: Text, stream: PlacedItem, unions: Sequence[DraftUnion], number: int) -> None:
    """Raise the error about a stream that no other query reads; a similar name is suggested."""
    made = {each.value for union in unions for each in _streams(union)}
    asked = [each for union in unions for block in union for each in block.streams if each.value not in made]
    near = closest(stream.value, (each.value for each in asked))
    if near:
        at = next(each.at for each in asked if each.value == near)
        raise text.error(f'No query makes the stream "{near}".', at, hint=f"FROM {stream.value}")
    reason = f'No other query reads the stream "{stream.value}", which query {number + 1} makes.'
    raise text.error(reason, stream.at, hint=f"FROM {stream.value} in another query")


def _check_fed(text: Text, union: DraftUnion) -> None:
    """Check the events that other queries read: their attributes have one value."""
    for block in union:
        for item in block.form.items:
            if item.text in ("type", "subject"):
                reason = f'A derived event has its own "{item.text}" already.'
                raise text.error(reason, item.at, hint="another name after AS")
            given = item.given
            if isinstance(given, Values) or (isinstance(given, Composite) and given.index is None):
                reason = f'"{item.text}" has several values, but an attribute of an event has one.'
                raise text.error(reason, item.at, hint="a[1].…, a[a.LEN].… or an aggregate")


def _check_forms(text: Text, union: DraftUnion) -> None:
    first = isinstance(union[0].form, DraftReturn)
    for block in union:
        if isinstance(block.form, DraftReturn) != first:
            reason = "UNION joins queries with RETURN, or queries with AGGREGATE."
            raise text.error(reason, block.form.at, hint=f"{'RETURN' if first else 'AGGREGATE'} in all")


def _check_windows(text: Text, unions: Sequence[DraftUnion]) -> None:
    """One text, one kind of time."""
    windows = [block.window for union in unions for block in union if block.window is not None]
    for window in windows:
        if window.value.domain is not windows[0].value.domain:
            reason = "One WITHIN is in ticks and another in units of time; a text has one kind of time."
            raise text.error(reason, window.at, hint="WITHIN … SECONDS in all, or WITHIN … TICKS")
