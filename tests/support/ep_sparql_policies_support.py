"""Shared by several tests: ep sparql policies support."""

from __future__ import annotations

import pyoxigraph as ox

from oracle.ep_sparql_notation import stream, triples
from oracle.ep_sparql_text import turtle
from thence.columns.batches import Batch, encode
from thence.engines.temporal.plan.ep_sparql import compile_query
from thence.interface.operator import NEVER, Environment
from thence.io.background_data import load_background
from thence.lang.ep_sparql.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf import terms
from thence.rdf.events import Event
from thence.runtime import saved_state


def rows(
    query: str,
    events: str,
    policy: str,
    *,
    background: str = "",
    watermarks: tuple[int, ...] = (),
    restart: bool = True,
) -> list[str]:
    """The rows in words: `1-3 x=a y=1 | e1 e2`. Events arrive with the first watermark; the state is saved and restored
    after each."""
    flow = LocalFlow(compile_query(parse(query), policy=policy), Environment(_background(background)))
    batches = {"events": [_batch(events)]}
    found = []
    for watermark in (*watermarks, NEVER):
        for row in flow.feed(batches, watermark):
            stage = [f"{row.stage}:"] if len(flow.hosts) > 1 else []
            values = sorted(f"{name}={_shown(cell)}" for name, cell in row.bindings.items())
            found.append(" ".join([*stage, f"{row.start}-{row.end}", *values, "|", *flow.ids(row)]))
        batches = {}
        if restart:
            _restart(flow)
    return found


def _batch(events: str) -> Batch:
    given = stream(events)
    return encode(
        [Event(start, turtle(triples), end=end, id=name) for name, start, end, triples in given], stream="events"
    )


def _background(text: str) -> Background:
    if not text:
        return NO_BACKGROUND
    store = ox.Store()
    store.load(turtle(triples(text)).encode(), format=ox.RdfFormat.TURTLE)
    return Background(load_background({None: [store]}))


def _shown(cell: object) -> str:
    match cell:
        case terms.IRI(value):
            return value.rpartition("/")[2]
        case terms.Literal(lexical):
            return lexical
        case _:
            raise AssertionError(cell)


def _restart(flow: LocalFlow) -> None:
    for host in flow.hosts:
        fingerprint = host.stage.program.fingerprint()
        state = saved_state.save(*host.snapshot(), fingerprint=fingerprint, shards=1)
        host.restore(*saved_state.restore(state, fingerprint=fingerprint, shards=1))
