"""A push engine as bytes, and back: all that it keeps between two pushes, in the sealed envelope of saved states."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple
from decimal import InvalidOperation
from heapq import heapify
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.batches import EventBatch, encode
from thence.errors import InputError
from thence.interface.extracted import ArrivedBatch
from thence.interface.saved_arrays import require
from thence.local.flow import LocalFlow
from thence.rdf.events import Event
from thence.rdf.times import Domain
from thence.runtime import saved_state
from thence.runtime.results import Counts
from thence.runtime.saved_state import restored_events, saved_events

if TYPE_CHECKING:
    from thence.local.engine import Engine


def save_engine(engine: Engine) -> bytes:
    """An engine between two pushes."""
    flow, watermark = engine.answers.flow, engine.watermark
    hosts = [host.snapshot() for host in flow.hosts]  # first, since it evicts
    refs = _needed(flow)
    held = [_held(engine, ref) for ref in refs]
    listed, arrays = saved_events([*(event for _, event in held), *(event for *_, event in engine.waiting)])
    head = {
        "watermark": [watermark.latest, watermark.now, watermark.began],
        "domain": [None if engine.domain.domain is None else engine.domain.domain.value, engine.domain.settled_by],
        "counts": list(astuple(engine.counts)),
        "order": [engine.order, engine.pushed, engine.fed, engine.come_to],
        "flow": [flow.derived, flow.latest, flow.log.next_ref],
        "held": [[ref, *place] for ref, (place, _) in zip(refs, held, strict=True)],
        "waiting": [[order, name] for _, order, name, _ in engine.waiting],
        "beyond": [[*key, [_refs(each) for each in parts]] for key, parts in flow.waiting.items()],
        "events": listed,
        "hosts": [own for own, _ in hosts],
    }
    every = [*arrays, *(array for _, own in hosts for array in own)]
    return saved_state.save(head, every, fingerprint=_fingerprint(flow), shards=1)


def unsealed_engine(engine: Engine, saved: bytes) -> tuple[dict[str, Any], ArrayReader]:
    """The saved state of an engine of the same query. InputError if the bytes are something else."""
    if not isinstance(saved, bytes | bytearray | memoryview):
        raise InputError(
            f"An engine is restored from bytes, not {type(saved).__name__}. Try: the bytes of engine.save()"
        )
    return saved_state.restore(
        bytes(saved), fingerprint=_fingerprint(engine.answers.flow), shards=1, source=saved_state.ENGINE
    )


def restore_engine(engine: Engine, head: dict[str, Any], arrays: ArrayReader) -> None:
    """Continue in a new engine. InputError if that cannot have been saved."""
    try:
        _restore(engine, head, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssertionError, InvalidOperation):
        require(False, "its head is malformed")


def _fingerprint(flow: LocalFlow) -> str:
    """The fingerprint of an engine: of the programs of all its stages. With `history` it differs, since facts that were
    evicted cannot be restored."""
    programs = [host.stage.program.fingerprint() for host in flow.hosts]
    kept = ["history" for host in flow.hosts if host.environment.keeps_history]
    return hashlib.sha256(" ".join(["engine", *programs, *kept]).encode()).hexdigest()


def _refs(part: ArrivedBatch) -> list[int]:
    return [part.first_ref, len(part.batch)]


def _needed(flow: LocalFlow) -> list[int]:
    """The refs of the events that later rows may have, and of derived ones that a stage has yet to read."""
    held = [host.held() for host in flow.hosts]
    held += [np.arange(first, first + count) for parts in flow.waiting.values() for first, count in map(_refs, parts)]
    return np.unique(np.concatenate(held)).tolist()  # type: ignore[no-any-return]


def _held(engine: Engine, ref: int) -> tuple[list[Any], Event]:
    """An event that the log knows: its stream and position, whether it was given as an object, and the event."""
    arrived = engine.answers.flow.log.find(ref)
    assert isinstance(arrived.batch, EventBatch)
    place = ref - arrived.first_ref
    known = engine.answers.objects.get(id(arrived.batch.terms))
    position = int(arrived.batch.positions[place])
    if known is None:
        return [arrived.stream, position, False], arrived.batch.event(place)
    whole, objects = known
    return [arrived.stream, position, True], objects[position - int(whole.positions[0])]


def _restore(engine: Engine, head: dict[str, Any], arrays: ArrayReader) -> None:
    flow, watermark = engine.answers.flow, engine.watermark
    events = restored_events(head["events"], arrays)
    held, waiting = head["held"], head["waiting"]
    require(len(held) + len(waiting) == len(events), "the positions of its events are incomplete")
    _restore_domain(engine, *head["domain"])
    watermark.latest, watermark.now, watermark.began = head["watermark"]
    require(watermark.latest.keys() <= set(watermark.streams), "its watermark belongs to other streams")
    require(all(map(_is_time, [*watermark.latest.values(), *head["watermark"][1:]])), "its watermark is malformed")
    fits = len(head["counts"]) in (5, 6)  # earlier releases had no bad cells
    require(fits and all(type(each) is int for each in head["counts"]), "its counts are malformed")
    engine.answers.counts = Counts(*head["counts"])
    engine.order, engine.pushed, engine.fed, engine.come_to = head["order"]
    _check_counts(engine)
    engine.waiting = [
        (event.end, int(order), _stream(engine, name), event)
        for (order, name), event in zip(waiting, events[len(held) :], strict=True)
    ]
    heapify(engine.waiting)
    _restore_flow(flow, head, arrays)
    _restore_log(engine, held, events)
    known = np.array([ref for ref, *_ in held], np.int64)
    require(np.isin(_needed_by_hosts(flow), known).all(), "an event is missing")
    for number, stream, parts in head["beyond"]:
        require(stream in flow.dataflow.derived, "its derived streams belong to another query")
        refs = [ref for first, count in parts for ref in range(first, first + count) if count <= len(known)]
        require(np.isin(refs, known).all(), "a derived event is missing")
        flow.waiting[int(number), stream] = [flow.log.find(ref) for ref in refs]


def _restore_domain(engine: Engine, domain: int | None, settled_by: str) -> None:
    if domain is None:
        return
    require(isinstance(settled_by, str), "its kind of time is malformed")
    engine.domain.begin("of the saved engine", Domain(domain))  # an error, if the options say otherwise
    engine.domain.settled_by = settled_by


def _restore_flow(flow: LocalFlow, head: dict[str, Any], arrays: ArrayReader) -> None:
    derived, latest, next_ref = head["flow"]
    require(type(derived) is int and _is_time(latest), "expected integers in its head")
    flow.derived, flow.latest = derived, latest
    require(len(head["hosts"]) == len(flow.hosts), "its stages belong to another query")
    for host, own in zip(flow.hosts, head["hosts"], strict=True):
        require(own["next_ref"] == next_ref, "its stages stopped at different events")
        host.restore(own, arrays)


def _restore_log(engine: Engine, held: Sequence[Any], events: Sequence[Event]) -> None:
    """A batch for each event, which is where it was."""
    log, before = engine.answers.flow.log, -1
    for (ref, stream, position, is_given), event in zip(held, events, strict=False):
        require(type(ref) is int and before < ref < log.next_ref, "its events are out of order")
        require(isinstance(stream, str) and type(position) is int, "an event lacks its stream")
        batch = encode([event], stream=stream, first=position, labelled=not is_given)
        if is_given:
            engine.answers.remember(batch, [event])
        log.batches.append(ArrivedBatch(stream, batch, ref))
        before = ref


def _needed_by_hosts(flow: LocalFlow) -> NDArray[np.int64]:
    return np.concatenate([host.held() for host in flow.hosts])


def _check_counts(engine: Engine) -> None:
    names = {stream.name for stream in engine.streams}
    for counts in (engine.pushed, engine.fed):
        require(
            counts.keys() <= names and all(type(each) is int for each in counts.values()), "its streams are unknown"
        )
    require(type(engine.order) is int and _is_time(engine.come_to), "expected integers in its head")


def _stream(engine: Engine, name: object) -> str:
    require(any(stream.name == name for stream in engine.streams), "an event belongs to an unknown stream")
    return str(name)


def _is_time(found: object) -> bool:
    return found is None or (type(found) is int and -(2**63) <= found < 2**63)
