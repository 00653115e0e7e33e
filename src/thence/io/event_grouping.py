"""Quads → events: a named graph is an event, and `prov:` triples about it are its time.

An event's quads are consecutive, its time among them or directly before or after, in the graph itself or in the default
graph. So each quad has an *owner*, its graph or the graph whose time it gives, and an event is a run of quads with one
owner. A time alone is an event too, whose graph is empty.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.columns.batches import EventBatch, localise_blank_nodes
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.hashing import without_duplicates
from thence.columns.value_kinds import BLANK, DATETIME, INTEGER, KIND_MASK
from thence.errors import InputError
from thence.io.nquads_lines import QuadColumns
from thence.io.trig_splitter import LineOrigins
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, PROV, Literal
from thence.rdf.times import Domain, parse_time

GENERATED = IRI(PROV + "generatedAtTime")
STARTED = IRI(PROV + "startedAtTime")
ENDED = IRI(PROV + "endedAtTime")

_STRAY = -2  # owner of a triple in the default graph that tells no time

UNKNOWN = -3
"""Owner of an unreadable line whose graph is unknown."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An event that was closed before its end was seen: it is too large, or too much that is not a quad follows it.
    Further quads of its graph are dropped. They are reported for `reason`; it is empty if the event was reported."""

    graph: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class EventGroup:
    batch: EventBatch
    bad: list[BadEvent]
    rest: int  # where in the data the last event starts, which may go on in what follows
    lines: int  # how many lines stand before it
    skipping: Skipped | None  # the last event, if it was closed early
    gap: bool  # whether something stands directly before it that can't be read and may be any graph's


@dataclass(slots=True, eq=False)
class _Runs:
    """Runs of quads with one owner: run r is `bounds[r]:bounds[r+1]`."""

    bounds: NDArray[np.int64]
    of_quad: NDArray[np.int64]
    owners: NDArray[np.int32]
    faults: dict[int, str]  # by run: why it is not an event

    def __len__(self) -> int:
        return len(self.owners)


def group_events(
    quads: QuadColumns,
    data: bytes,
    *,
    stream: str,
    limits: Limits,
    first_line: int,
    last: bool,
    skipping: Skipped | None,
    gaps: Iterable[int] = (),
    torn: str | None = None,
    origins: LineOrigins | None = None,
) -> EventGroup:
    """The events in some quads. Unless these are the `last`, the final run is left for next time. `gaps` are the lines
    directly after something unreadable. If the lines were derived from others, `origins` has those."""
    owners, tells_time = owners_of(quads)
    runs = _runs(owners)
    content = ~tells_time & (quads.subjects != UNBOUND)
    too_large = _too_large(quads, runs, content, limits)
    final = len(runs) if last else _first_open(runs)
    skip_next: Skipped | None = None
    if skipping:
        final, skip_next = _pass_over(quads, runs, skipping, final, last=last)
    if not skip_next and final < len(runs) and too_large[final]:
        skip_next = Skipped(quads.terms.text_of(int(runs.owners[final])), "")
        final += 1
    rest = int(quads.spans[quads.lines[runs.bounds[final]]]) if final < len(runs) else len(data)
    behind = rest if skip_next or final == len(runs) else int(quads.spans[quads.lines[runs.bounds[final + 1] - 1] + 1])
    if len(data) - behind > limits.event_bytes:  # comments and unknown lines
        skip_next = skip_next or Skipped(quads.terms.text_of(int(runs.owners[final])), limits.describe_event())
        final, rest = len(runs), len(data)
    if torn is not None and len(runs):
        runs.faults[len(runs) - 1] = torn
    _judge(quads, runs, too_large, limits)
    around = _gaps(quads, runs, (line - first_line for line in gaps))
    _judge_times_alone(runs, content, around)
    starts, ends, domains = _times(quads, runs, tells_time, final)
    good = np.ones(len(runs), np.bool_)
    good[list(runs.faults)] = False
    errors = sorted(quads.errors)
    bad = [
        _bad_event(quads, runs, run, data, stream, first_line, reason, [] if too_large[run] else errors, origins)
        for run, reason in sorted(runs.faults.items())
        if run < final and reason
    ]
    if torn is not None and not len(runs):
        bad.append(BadEvent(stream, first_line, torn, ""))
    chosen = np.flatnonzero(good[:final])
    batch = _batch(quads, runs, content, chosen, starts, ends, domains, stream, first_line, origins)
    lines = int(np.searchsorted(quads.spans, rest))
    return EventGroup(batch, bad, rest, lines, skip_next, bool(around[final]))


def owners_of(quads: QuadColumns) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Each quad's owner (UNKNOWN if it cannot be determined), and whether the quad gives its owner's time."""
    times = quads.terms.find_all([GENERATED, STARTED, ENDED])
    of_time = np.isin(quads.predicates, times[times >= 0])
    in_default = quads.graphs == UNBOUND
    owners = np.where(in_default, np.where(of_time, quads.subjects, _STRAY), quads.graphs).astype(np.int32)
    tells_time = of_time & (quads.subjects == owners)
    if quads.errors:
        lost = np.flatnonzero((quads.subjects == UNBOUND) & in_default)
        owners[lost] = UNKNOWN
        known = np.flatnonzero(owners != UNKNOWN)
        after = np.searchsorted(known, lost)
        within = (after > 0) & (after < len(known))
        lost, after = lost[within], after[within]
        around = owners[known[after]]
        owners[lost] = np.where(around == owners[known[after - 1]], around, UNKNOWN)
    return owners, tells_time


def _first_open(runs: _Runs) -> int:
    """The run that may go on in what follows: the last one, or the one before lines whose graph is not yet known."""
    known = np.flatnonzero(runs.owners != UNKNOWN)
    return int(known[-1]) if len(known) and runs.owners[known[-1]] >= 0 else len(runs)


def _pass_over(
    quads: QuadColumns, runs: _Runs, skipping: Skipped, final: int, *, last: bool
) -> tuple[int, Skipped | None]:
    """Skip further quads of a closed event: (the first run that is left for next time, what to skip then). Lines at the
    end whose graph is not known are left, too: more of the event may follow them."""
    known = int(np.argmax(np.append(runs.owners != UNKNOWN, True)))
    if known == len(runs):
        return (final if last else 0), skipping
    if runs.owners[known] < 0 or quads.terms.text_of(int(runs.owners[known])) != skipping.graph:
        return final, None
    runs.faults[known] = skipping.reason
    if not skipping.reason:
        runs.faults.update(dict.fromkeys(range(known), ""))
    return (known + 1, Skipped(skipping.graph, "")) if final == known else (final, None)


def _runs(owners: NDArray[np.int32]) -> _Runs:
    changes = np.ones(len(owners), np.bool_)
    # strays and unknown lines stand each for itself
    changes[1:] = (owners[1:] != owners[:-1]) | (owners[1:] < 0)
    first = np.flatnonzero(changes)
    bounds = np.append(first, len(owners)).astype(np.int64)
    return _Runs(bounds, np.cumsum(changes) - 1, owners[first], {})


def _too_large(quads: QuadColumns, runs: _Runs, content: NDArray[np.bool_], limits: Limits) -> NDArray[np.bool_]:
    """Whether each run is larger than an event may be."""
    counts = np.bincount(runs.of_quad[content], minlength=len(runs))
    sizes = quads.spans[quads.lines[runs.bounds[1:] - 1] + 1] - quads.spans[quads.lines[runs.bounds[:-1]]]
    found: NDArray[np.bool_] = (counts > limits.event_triples) | (sizes > limits.event_bytes)
    return found


def _judge(quads: QuadColumns, runs: _Runs, too_large: NDArray[np.bool_], limits: Limits) -> None:
    """Note the runs that are not events, whatever their time."""
    for run in np.flatnonzero(too_large).tolist():
        runs.faults.setdefault(run, limits.describe_event())
    for line, reason in quads.errors.items():
        quad = int(np.searchsorted(quads.lines, line))
        runs.faults.setdefault(int(runs.of_quad[quad]), reason)
    for run in np.flatnonzero(runs.owners == _STRAY).tolist():
        runs.faults.setdefault(run, "a triple outside any graph that does not give a graph's time")


def _gaps(quads: QuadColumns, runs: _Runs, lines: Iterable[int]) -> NDArray[np.bool_]:
    """Whether there is something unreadable before each run, and after the last, that may belong to any graph."""
    found = np.zeros(len(runs) + 1, np.bool_)
    lost = np.flatnonzero(runs.owners == UNKNOWN)
    found[lost] = found[lost + 1] = True
    before = np.searchsorted(quads.lines, np.fromiter(lines, np.int64))
    found[np.flatnonzero(np.isin(runs.bounds, before))] = True
    return found


def _judge_times_alone(runs: _Runs, content: NDArray[np.bool_], gaps: NDArray[np.bool_]) -> None:
    """A time alone is an empty graph's, but not beside something that can't be read: that may be its graph."""
    counts = np.bincount(runs.of_quad[content], minlength=len(runs))
    for run in np.flatnonzero((counts == 0) & (runs.owners >= 0) & (gaps[:-1] | gaps[1:])).tolist():
        runs.faults.setdefault(run, "a time without a graph, next to a line that can't be read")


def _times(
    quads: QuadColumns, runs: _Runs, tells_time: NDArray[np.bool_], final: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Start, end and domain of each run; runs without a clear time are noted."""
    times = {iri: _times_by_run(quads, runs, tells_time, iri) for iri in (GENERATED, STARTED, ENDED)}
    (point, point_domain), (start, start_domain), (end, end_domain) = times.values()
    interval = (start_domain != _NO_TIME) | (end_domain != _NO_TIME)
    starts = np.where(interval, start, point)
    ends = np.where(interval, end, point)
    domains = np.where(interval, start_domain, point_domain)
    missing = interval & ((start_domain == _NO_TIME) | (end_domain == _NO_TIME))
    for run in np.flatnonzero(missing[:final]).tolist():
        runs.faults.setdefault(run, "an interval needs both prov:startedAtTime and prov:endedAtTime")
    for run in np.flatnonzero((interval & ~missing & (start_domain != end_domain))[:final]).tolist():
        runs.faults.setdefault(run, "its start and its end are of different kinds: a tick and a date")
    for run in np.flatnonzero((domains == _NO_TIME)[:final]).tolist():
        runs.faults.setdefault(run, "no time: prov:generatedAtTime is missing")
    for run in np.flatnonzero((ends < starts)[:final]).tolist():
        runs.faults.setdefault(run, "it ends before it starts")
    return starts, ends, domains


_NO_TIME = np.uint8(255)


def _times_by_run(
    quads: QuadColumns, runs: _Runs, tells_time: NDArray[np.bool_], predicate: IRI
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The times that one of the time predicates gives each run, and their domains."""
    times = np.zeros(len(runs), np.int64)
    domains = np.full(len(runs), _NO_TIME, np.uint8)
    rows = np.flatnonzero(tells_time & (quads.predicates == quads.terms.find(predicate)))
    if not len(rows):
        return times, domains
    objects = quads.objects[rows]
    kinds = quads.terms.tags[objects] & KIND_MASK
    values = quads.terms.bits[objects].copy()
    of_row = np.where(kinds == INTEGER, Domain.TICKS.value, Domain.DATETIME.value).astype(np.uint8)
    for i in np.flatnonzero((kinds != INTEGER) & (kinds != DATETIME)).tolist():
        _slow_time(quads.terms, int(objects[i]), i, int(runs.of_quad[rows[i]]), values, of_row, runs.faults)
    run = runs.of_quad[rows]
    times[run[::-1]] = values[::-1]  # the first of several stays
    domains[run[::-1]] = of_row[::-1]
    for i in np.flatnonzero((times[run] != values) | (domains[run] != of_row)).tolist():
        runs.faults.setdefault(int(run[i]), f"two different values of prov:{predicate.value.removeprefix(PROV)}")
    return times, domains


def _slow_time(
    terms: Terms,
    index: int,
    row: int,
    run: int,
    values: NDArray[np.int64],
    domains: NDArray[np.uint8],
    faults: dict[int, str],
) -> None:
    """A time that the columns do not hold: text of another form, or no time at all."""
    try:
        time, domain = parse_time(terms[index])
        values[row], domains[row] = time, domain.value
    except InputError as error:
        faults.setdefault(run, str(error))


def _bad_event(
    quads: QuadColumns,
    runs: _Runs,
    run: int,
    data: bytes,
    stream: str,
    first_line: int,
    reason: str,
    errors: list[int],
    origins: LineOrigins | None,
) -> BadEvent:
    first, last = quads.lines[runs.bounds[run]], quads.lines[runs.bounds[run + 1] - 1]
    if origins:
        begins, ends = first_line + int(first), first_line + int(last)
        return BadEvent(stream, origins.place(begins).line, reason, origins.text(begins, ends))
    begin, end = int(quads.spans[first]), int(quads.spans[last + 1])
    faulty = bisect_left(errors, int(first))
    line = errors[faulty] if faulty < len(errors) and errors[faulty] <= last else int(first)
    text = data[begin : min(end, begin + BadEvent.LONGEST + 1)].decode("utf-8", "replace")
    return BadEvent(stream, first_line + line, reason, text)


def _batch(
    quads: QuadColumns,
    runs: _Runs,
    content: NDArray[np.bool_],
    chosen: NDArray[np.int64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    domains: NDArray[np.uint8],
    stream: str,
    first_line: int,
    origins: LineOrigins | None,
) -> EventBatch:
    number = np.full(len(runs), -1, np.int64)
    number[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(content & (number[runs.of_quad] >= 0))
    event = number[runs.of_quad[rows]]
    columns = [column[rows] for column in (quads.subjects, quads.predicates, quads.objects)]
    offsets = _offsets(event, len(chosen))
    keep = without_duplicates(offsets, *columns)
    if not keep.all():
        columns = [column[keep] for column in columns]
        offsets = _offsets(event[keep], len(chosen))
    positions = first_line + quads.lines[runs.bounds[chosen]]
    ids = runs.owners[chosen].copy()
    blank = np.flatnonzero((quads.terms.tags[ids] & KIND_MASK) == BLANK)
    ids[blank] = quads.terms.add_all(
        Literal(f"{stream}:{origins.name(line) if origins else line}") for line in positions[blank].tolist()
    )
    localise_blank_nodes(quads.terms, offsets, columns[0], columns[2], positions, stream)
    return EventBatch(
        terms=quads.terms,
        offsets=offsets,
        subjects=columns[0],
        predicates=columns[1],
        objects=columns[2],
        starts=starts[chosen],
        ends=ends[chosen],
        domains=domains[chosen],
        ids=ids,
        positions=positions,
    )


def _offsets(event: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(event, minlength=count), out=offsets[1:])
    return offsets
