"""Random texts of several SASE+ queries: unions, and queries that read what others make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st

from oracle.sase_cases import TYPES, VARIABLES, aggregate_queries, queries, streams, unended_queries
from oracle.sase_composed import INPUT, Composed, Streams, read_by, reads, written
from oracle.sase_conditions import ATTRIBUTES, attributes, conjuncts, constants, one_in, returned
from oracle.sase_kinds import a_kind, asked, changed
from oracle.sase_legal import problems
from oracle.sase_query import (
    ANY,
    Aggregate,
    Arithmetic,
    Attribute,
    Chosen,
    Component,
    Composite,
    Event,
    Expression,
    Group,
    Index,
    Item,
    Made,
    Query,
    Sequence,
    Strategy,
    rewritten,
)
from oracle.sase_static import mended
from oracle.sase_text import column_name
from oracle.sase_types import Several, Type, all_columns, conflicts
from strategies.choices import Choices, seeded

OTHER = "other"
"""A second stream that is given."""

MOST = 8
"""Events that a block may read: the oracle tries all that there could be."""


@dataclass(frozen=True)
class Text:
    """Queries, and the streams that they are given."""

    queries: Composed
    given: Streams

    def __repr__(self) -> str:
        return f"Text({self.given}\n{written(self.queries)})"


@st.composite
def texts(draw: st.DrawFn, *, totals: bool = False, told_apart: bool = True) -> Text:
    """A union, or a query that reads what one or two others make. `totals`: the answer is of AGGREGATE. Unless columns
    are `told_apart`, those of a UNION may be of several types."""
    inputs = [INPUT, OTHER] if draw(one_in(4)) else [INPUT]
    made: list[tuple[Query, ...]] = []
    for name in draw(st.lists(st.sampled_from(TYPES), max_size=2, unique=True)):
        count = draw(st.sampled_from([1, 1, 1, 2]))
        made.append(tuple(draw(placed(maker, inputs, made)) for maker in [draw(makers(name)) for _ in range(count)]))
    count = draw(st.sampled_from([1, 1, 1, 2])) if made else draw(st.sampled_from([2, 2, 3]))
    whole = aggregate_queries(queries(), plain=True) if totals else queries()
    answer = [draw(placed(draw(whole), inputs, made)) for _ in range(count)]
    # what no other query reads, the answer does
    unread = {each.made.stream for union in made for each in union if each.made} - _read(*made, answer)
    answer[0] = replace(answer[0], streams=(*reads(answer[0]), *sorted(unread))) if unread else answer[0]
    text = Text((*draw(st.permutations(made)), tuple(answer)), {})
    text = replace(text, given={name: draw(events(text, name)) for name in inputs if name in _read(*text.queries)})
    text = of_one_kind(text, draw(seeded(lambda choices: choices))) if draw(one_in(3)) else text
    text = replace(text, queries=tuple(tuple(map(mended, union)) for union in text.queries))
    if told_apart:
        text = replace(text, queries=_told_apart(text.queries))
        assume(not conflicts(text.queries))
    blocks = [block for union in text.queries for block in union]
    assert not any(map(problems, blocks))
    assume(all(len(read_by(text.queries, text.given, block)) <= MOST for block in blocks))
    return text


def _read(*unions: Iterable[Query]) -> set[str]:
    return {name for union in unions for block in union for name in reads(block)}


@st.composite
def makers(draw: st.DrawFn, stream: str) -> Query:
    """A query that makes events with the attributes that other queries ask for."""
    query = draw(st.one_of(short(), short(), unended_queries(), queries()))
    component = draw(st.sampled_from(query.positives))
    what: Expression | Composite = draw(returned(component))
    if draw(one_in(4)):
        what = Arithmetic(draw(st.sampled_from("+-*/%")), what, draw(constants()))
    elif not component.closure and draw(one_in(3)):
        what = Composite(component.variable, ATTRIBUTES)
    nameless = isinstance(what, Attribute) and draw(one_in(3))
    first = query.positives[0]
    items = (
        Item(what, None if nameless else "x"),
        Item(draw(returned(draw(st.sampled_from(query.positives)))), "y"),
        Item(Attribute(first.variable, Index.FIRST if first.closure else Index.PLAIN, "k"), "k"),
    )
    return replace(query, returns=items, made=Made(stream, draw(st.sampled_from([None, *TYPES]))))


@st.composite
def short(draw: st.DrawFn) -> Query:
    """One event or two, so that there are several matches."""
    types = draw(st.lists(st.sampled_from([*TYPES, ANY]), min_size=1, max_size=2))
    components = tuple(Component(type, variable) for type, variable in zip(types, VARIABLES, strict=False))
    strategy = draw(st.sampled_from([Strategy.NEXT, Strategy.ANY]))
    group = Group(strategy, tuple(Chosen(component.variable) for component in components))
    conditions = draw(conjuncts(components)) if draw(one_in(3)) else []
    return Query(components, (group,), tuple(conditions), draw(st.sampled_from([None, 4, 2])))


def _told_apart(queries: Composed) -> Composed:
    """The answer with columns whose names tell their types: UNION wants one type for each."""

    def named(item: Item, shown: Type) -> Item:
        letter = (shown if isinstance(shown, str) else "list" if isinstance(shown, Several) else "parts")[0]
        letter = letter.upper() if letter == "l" and isinstance(item.what, Composite) else letter
        return item if item.name is None else replace(item, name=letter + item.name[1:])

    types = all_columns(queries)[-1]
    answer = tuple(
        replace(block, returns=tuple(named(item, shown[column_name(item)]) for item in block.returns))
        for block, shown in zip(queries[-1], types, strict=True)
    )
    return (*queries[:-1], answer)


@st.composite
def placed(draw: st.DrawFn, query: Query, inputs: list[str], made: list[tuple[Query, ...]]) -> Query:
    """The query with FROM; where it reads only what is made, it asks for such events."""
    blocks = [block for union in made for block in union]
    names = list(dict.fromkeys([*inputs, *(block.made.stream for block in blocks if block.made)]))
    chosen = {draw(st.sampled_from([*names, *names[-1:] * 2])) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))}
    sources = [block for block in blocks if block.made and block.made.stream in chosen]
    types = [block.made.type or block.made.stream for block in sources if block.made]
    if not chosen & {INPUT, OTHER}:
        components = [
            each if each.type == ANY else replace(each, type=draw(st.sampled_from(types))) for each in query.components
        ]
        query = replace(query, components=tuple(components))
    shown = {"x": draw(st.sampled_from(["x", *map(_first_attribute, sources)]))}
    if draw(one_in(4)):
        shown[draw(attributes)] = "time"
    streams = () if chosen == {INPUT} and draw(st.booleans()) else tuple(sorted(chosen))
    found = replace(renamed(query, shown), streams=streams)
    return replace(found, returns=tuple(map(_speakable, found.returns))) if found.made else found


def _first_attribute(maker: Query) -> str:
    name = column_name(maker.returns[0])
    return f"{name}.{ATTRIBUTES[0]}" if isinstance(maker.returns[0].what, Composite) else name


def renamed(query: Query, names: dict[str, str]) -> Query:
    """The query about attributes that are called otherwise."""

    def change(part: Expression) -> Expression:
        if isinstance(part, Attribute | Aggregate) and part.attribute in names:
            return replace(part, attribute=names[part.attribute])
        return part

    def item(each: Item) -> Item:
        match each.what:
            case Sequence(variable, attribute):
                return replace(each, what=Sequence(variable, names.get(attribute, attribute)))
            case Composite(variable, several, closure):
                return replace(each, what=Composite(variable, tuple(names.get(a, a) for a in several), closure))
        return each

    found = rewritten(query, change)
    return replace(found, returns=tuple(map(item, found.returns)))


def _speakable(item: Item) -> Item:
    """A name that can be quoted."""
    return replace(item, name=ATTRIBUTES[0]) if "`" in column_name(item) else item


@st.composite
def events(draw: st.DrawFn, text: Text, name: str) -> tuple[Event, ...]:
    """Events as one of those who read the stream asks for them."""
    readers = [block for union in text.queries for block in union if name in reads(block)]
    found = draw(streams(draw(st.sampled_from(readers))))
    return tuple(replace(event, id=f"{name} {event.id}") for event in found[:5])


def of_one_kind(text: Text, choices: Choices) -> Text:
    kind = a_kind(choices)
    blocks = tuple(tuple(asked(choices, block, kind) for block in union) for union in text.queries)
    given = {name: tuple(changed(choices, event, kind) for event in events) for name, events in text.given.items()}
    return Text(blocks, given)
