"""TEF-SPARQL run by the workers of Spark without Spark: cases, keys and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import thence
from oracle.tef_sparql import GivenEvent, Row, TooManySteps
from oracle.tef_sparql_cases import LIMIT, Case, random_cases, whole
from oracle.tef_sparql_text import text
from oracle.terms import Blank
from support.comparable_terms import NAMESPACE, comparable_term, store_of
from support.ep_sparql_runs import spark_term
from support.shards import Pipeline
from support.tef_engine import document
from thence.interface.output import OPEN_END
from thence.interface.tables import SUBJECT
from thence.io.background_data import load_background
from thence.match.background import NO_BACKGROUND, Background
from thence.query.languages import CompileOptions
from thence.query.options import order_names

RESERVED = ("start", "end", "match_id", "events", "certain", "problem", "reason", "event", "stream", "query")


def seeded_cases(seed: int, *, telling: int, others: int) -> Iterator[Case]:
    """Cases with many events of one time, the same for the same seed; `telling` of them have other rows if these come
    in another order."""
    random = Random(seed)
    for case in random_cases(seed):
        divisor = random.choice((2, 4, 9))
        events = [each._replace(start=each.start // divisor, end=each.end // divisor) for each in case.events]
        case = replace(case, events=tuple(events))
        if not case.program.statements or not events:
            continue
        try:
            if is_telling(case) and telling:
                telling -= 1
                yield case
            elif others:
                others -= 1
                yield case
        except TooManySteps:
            continue
        if not telling and not others:
            return


@cache
def cases_with_a_key(seed: int, count: int) -> tuple[Case, ...]:
    """Cases that fall apart by key, and have rows or facts of several."""
    found: list[Case] = []
    drawn = 0
    for case in random_cases(seed):
        if case.program.statements and case.events:
            drawn += 1
            if program_of(case).shard_key.names and len(keys_of(case)) > 1:
                found.append(case)
        if len(found) == count:
            break
    assert drawn < 20 * count  # they are not rare
    return tuple(found)


def program_of(case: Case) -> Any:
    (stage,) = thence.parse(text(case.program), language="tef-sparql").dataflow().stages
    return stage.program


def keys_of(case: Case) -> set[object]:
    """The keys of the triples that have one."""
    places = {predicate.value: 0 if at == SUBJECT else 2 for predicate, at in program_of(case).key_positions}
    triples = [triple for each in case.events for triple in each.triples]
    return {triple[places[name]] for triple in triples if (name := NAMESPACE + triple[1].name) in places}  # type: ignore[union-attr]


def is_telling(case: Case) -> bool:
    turned = replace(case, events=case.events[::-1])
    return comparable(whole(case).rows) != comparable(whole(turned).rows)


def stream_of(query: thence.Query, event: GivenEvent) -> str:
    return event.stream or query.algebra.streams[0].name  # type: ignore[attr-defined]


def comparable(rows: Iterable[Row]) -> Counter[tuple[object, ...]]:
    return Counter(
        (row[0], row[1], row[2], tuple((name, comparable_term(term)) for name, term in sorted(row[3]))) for row in rows
    )


def shown(rows: Iterable[Mapping[str, Any]], events: Sequence[GivenEvent]) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        if row["problem"] is None:
            cells = {name.rstrip("_"): cell for name, cell in row.items() if name not in RESERVED and cell is not None}
            terms = tuple((name, spark_term(cell, events)) for name, cell in sorted(cells.items()))
            found[row.get("query", 1), row["start"], row["end"], terms] += 1
    return found


def has_blank_nodes(case: Case) -> bool:
    return any(isinstance(term, Blank) for each in case.events for triple in each.triples for term in triple)


def by_id(case: Case, random: Random) -> Case:
    """The same events, whose ids order them otherwise than their positions."""
    names = random.sample(range(100, 1000), len(case.events))
    events = [each._replace(id=f"e{name}") for each, name in zip(case.events, names, strict=True)]
    return replace(case, events=tuple(sorted(events, key=lambda each: each.id)))


def tef_pipeline(
    case: Case,
    events: Sequence[GivenEvent],
    shards: int,
    *,
    positions: bool,
    lateness: int = 0,
    order: tuple[str, ...] = (),
) -> tuple[thence.Query, Pipeline]:
    query = thence.parse(text(case.program), language="tef-sparql")
    (stage,) = query.dataflow(CompileOptions(order=order_names(order or None))).stages
    placed = tuple(case.events.index(each) for each in events) if positions else None
    background = Background(load_background(store_of(case.background))) if case.background else NO_BACKGROUND
    given = [(stream_of(query, each), engine_event(each)) for each in events]
    shards = shards if stage.program.shard_key.names else 1  # as on Spark
    made = Pipeline(
        stage.program,
        given,
        shards,
        background,
        lateness=lateness,
        operator=stage.operator,
        positions=placed,
        max_steps=4 * LIMIT,
    )
    return query, made


def engine_event(event: GivenEvent) -> thence.Event:
    return thence.Event(event.start, document(event.triples), end=event.end, id=event.id)


def in_one_process(query: thence.Query, case: Case, order: tuple[str, ...] = ()) -> Counter[tuple[object, ...]]:
    streams = {stream.name: [] for stream in query.algebra.streams}  # type: ignore[attr-defined, var-annotated]
    for each in case.events:
        streams[stream_of(query, each)].append(engine_event(each))
    background = store_of(case.background) if case.background else None
    found = query.match(streams, background=background, max_steps=4 * LIMIT, order=order or None)
    return matched_ids(found)


def pushed(
    query: thence.Query, case: Case, events: Sequence[GivenEvent], order: tuple[str, ...]
) -> Counter[tuple[object, ...]]:
    """One by one, with a new engine restored in the middle."""
    background = store_of(case.background) if case.background else None
    found: list[object] = []
    engine = query.engine(background=background, max_steps=4 * LIMIT, order=order)
    for number, each in enumerate(events):
        if number == len(events) // 2:
            restored = query.engine(background=background, max_steps=4 * LIMIT, order=order)
            engine = restored.restore(engine.save())
        found += engine.push(stream_of(query, each), engine_event(each))
    return matched_ids([*found, *engine.close()])


def matched_ids(found: Iterable[object]) -> Counter[tuple[object, ...]]:
    return Counter(
        (each.start, each.end, each.id, tuple(event.id for event in each.events))
        for each in found
        if isinstance(each, thence.Match)
    )


def with_ids(rows: Iterable[Mapping[str, Any]]) -> Counter[tuple[object, ...]]:
    return Counter(
        (row["start"], None if row["end"] == OPEN_END else row["end"], row["match_id"], tuple(row["events"]))
        for row in rows
        if row["problem"] is None
    )
