"""RSEP-QL by its definitions: Dell'Aglio, Dao-Tran, Calbimonte, Le Phuoc, Della Valle, "A query model to capture event
pattern matching in RDF stream processing query languages", with the rules RS-1 to RS-70. All events are known.

`rows` gives the rows of a SELECT or an ASK, `constructed` the events of a CONSTRUCT, `instants` the times of the
evaluations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias, assert_never

from oracle.ep_sparql_data import own_blanks
from oracle.graphs import only
from oracle.rsep_ql_events import EventEvaluation, EventMapping, StreamEvent, consumes, contents
from oracle.rsep_ql_query import (
    Ask,
    At,
    Construct,
    Every,
    Match,
    OnClose,
    OnContent,
    OnNonEmpty,
    Output,
    Pattern,
    Policy,
    Query,
    Report,
    Select,
    Seq,
    every,
    numbered,
    template_names,
)
from oracle.rsep_ql_sparql import Bag, Evaluation, Snapshot, Solution
from oracle.terms import Blank, Graph, Iri, Literal, Term, Triple, Var, boolean

GivenEvent: TypeAlias = tuple[str, str, int, int, Iterable[Triple]]
"""An input event: (stream, id, start, end, triples)."""

GivenGraph: TypeAlias = Iterable[Triple] | Iterable[tuple[int, Iterable[Triple]]]
"""A graph, or its versions: (time, triples) (RS-5)."""

GivenReport: TypeAlias = str | int | Sequence[int]
"""The option `report`: "content", "close", "non_empty_content", a length, or a list of times (RS-16)."""

Row: TypeAlias = tuple[int, tuple[tuple[str, Term], ...], tuple[str, ...]]
"""The time of the evaluation, bindings by name, and the ids of `match.events` (RS-48, RS-56)."""

Constructed: TypeAlias = tuple[int, Graph]
"""The time of the evaluation and the event's triples, their blank nodes as `canonical` names them (RS-53)."""


def rows(
    query: Query,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    named: Mapping[str, GivenGraph] | None = None,
    report: GivenReport | None = None,
    preset: str | None = None,
    advance: Iterable[int] = (),
) -> list[Row]:
    """The rows of all evaluations, by time; within one evaluation as ORDER BY says, and ties by the columns' terms.

    An event is listed once for each EVENT that it fills. The rules leave three lists of events open. Of IStream's rows
    with equal bindings the last ones of the answer are emitted, with their events. DStream's have those of the previous
    answer's. Rows that LIMIT and OFFSET can't tell apart are taken in the order in which they were found.
    """
    found = answers(query, events, background, named=named, report=report, preset=preset, advance=advance)
    return [(t, bindings(solution), solution.listed) for t, bag in found for solution in bag]


def bindings(solution: Solution) -> tuple[tuple[str, Term], ...]:
    return tuple(sorted(solution.mapping, key=lambda pair: pair[0]))


def constructed(
    query: Query,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    named: Mapping[str, GivenGraph] | None = None,
    report: GivenReport | None = None,
    preset: str | None = None,
    advance: Iterable[int] = (),
) -> list[Constructed]:
    """One event per evaluation with the union of its rows' triples; none if that is empty (RS-53)."""
    form = query.form
    assert isinstance(form, Construct)
    found = answers(query, events, background, named=named, report=report, preset=preset, advance=advance)
    made = [(t, canonical(triple for number, row in enumerate(bag) for triple in instances(form.template, row, number)))
            for t, bag in found]  # fmt: skip
    return [(t, triples) for t, triples in made if triples]


def answers(
    query: Query,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    named: Mapping[str, GivenGraph] | None = None,
    report: GivenReport | None = None,
    preset: str | None = None,
    advance: Iterable[int] = (),
) -> list[tuple[int, Bag]]:
    """What each evaluation emits: its answer after RStream, IStream or DStream (RS-50 to RS-52, RS-54)."""
    settled = settle(query, report=report, preset=preset)
    stream = stream_events(settled, events)
    dataset = Dataset(settled, frozenset(background), {iri: versions(graph) for iri, graph in (named or {}).items()})
    consumed: dict[int, frozenset[StreamEvent]] = {}
    previous: Bag = []
    emitted = []
    for t in instants(settled, stream, advance):
        answer, consumed = evaluation(settled, dataset, stream, consumed, t)
        emitted.append((t, output(settled.output, answer, previous)))
        previous = answer
    return emitted


# What is left open is filled


@dataclass(frozen=True)
class Preset:
    """A row of the paper's Table 1; its LND is the identity window (RS-57, RS-58)."""

    policy: Policy | None
    report: Report
    output: Output


PRESETS = {
    "ep-sparql-unrestricted": Preset(None, OnContent(), Output.ISTREAM),
    "ep-sparql-chronological": Preset(Policy.CHRONOLOGICAL, OnContent(), Output.RSTREAM),
    "ep-sparql-recent": Preset(Policy.RECENT, OnContent(), Output.RSTREAM),
    "c-sparql": Preset(Policy.NAIVE, OnClose(), Output.RSTREAM),
}


def settle(query: Query, *, report: GivenReport | None = None, preset: str | None = None) -> Query:
    """The query with its MATCHes numbered, and with a report policy, an output and policies of SEQ.

    The clause overrides the option, the option the preset, the preset the default (RS-17, RS-60).
    """
    chosen = None if preset is None else PRESETS[preset]
    filled = query if chosen is None or chosen.policy is None else replace(query, form=_bare(query.form, chosen.policy))
    reported = query.report or given_report(report) or (chosen.report if chosen else None) or default_report(query)
    emitted = query.output or (chosen.output if chosen else Output.RSTREAM)
    return numbered(replace(filled, report=reported, output=emitted))


def _bare(node: Any, policy: Policy) -> Any:
    """Every bare SEQ with a policy."""
    if isinstance(node, tuple):
        return tuple(_bare(each, policy) for each in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    inside = replace(node, **{field.name: _bare(getattr(node, field.name), policy) for field in fields(node)})
    return replace(inside, policy=inside.policy or policy) if isinstance(inside, Seq) else inside


def given_report(report: GivenReport | None) -> Report | None:
    match report:
        case None:
            return None
        case "content":
            return OnContent()
        case "close":
            return OnClose()
        case "non_empty_content":
            return OnNonEmpty()
        case int():
            return Every(report)
        case str():
            raise ValueError(report)
        case _:
            return At(tuple(report))


def default_report(query: Query) -> Report:
    """Close if every window has SLIDE, else content (RS-17)."""
    return OnClose() if len(query.slides) == len(query.windows) else OnContent()


# Input


def stream_events(query: Query, events: Iterable[GivenEvent]) -> tuple[StreamEvent, ...]:
    """The events of the declared streams, with their own blank nodes (C-4, RS-25)."""
    return tuple(
        StreamEvent(stream, position, id, start, end, own_blanks(id, triples))
        for position, (stream, id, start, end, triples) in enumerate(events)
        if stream in query.streams
    )


Versions: TypeAlias = tuple[tuple[float, Graph], ...]
"""A time-varying graph (Definition 2): what it is, and since when."""


def versions(graph: GivenGraph) -> Versions:
    """A graph without versions is the same at all times."""
    entries: list[Any] = list(graph)
    if all(len(entry) == 2 for entry in entries):
        return tuple((time, frozenset(triples)) for time, triples in entries)
    return ((float("-inf"), frozenset(entries)),)


@dataclass(frozen=True)
class Dataset:
    """The default graph and the named time-varying graphs of SDS (RS-1 to RS-5)."""

    query: Query
    background: Graph
    named: Mapping[str, Versions]

    def graph(self, iri: str, t: int) -> Graph:
        """Ḡ(t): the newest version not after t, or the empty graph (RS-5)."""
        known = [(time, triples) for time, triples in self.named[iri] if time <= t]
        return max(known, key=lambda version: version[0])[1] if known else frozenset()

    def at(self, t: int) -> Snapshot:
        """The default graph is the merge of the FROM graphs; without FROM, the unnamed background (RS-4)."""
        merged: Graph = frozenset().union(*(self.graph(iri, t) for iri in self.query.graphs))
        default = merged if self.query.graphs else self.background
        graphs = {iri: self.graph(iri, t) for iri in self.query.named_graphs}
        return Snapshot(self.query.time_term(t), default, graphs, events=self.query.events)


# Evaluation instants


def instants(query: Query, events: Sequence[StreamEvent], advance: Iterable[int] = ()) -> list[int]:
    """ET. All events known, an evaluation sees those with end ≤ t (RS-14)."""
    advance = tuple(advance)
    ends = [event.end for event in events]
    times = [*ends, *advance]  # a time given to `advance` counts like an event's for close and periodic (RS-21)
    match query.report:
        case OnContent():
            return sorted(set(ends))  # RS-18
        case OnClose():
            return sorted({t for slide in query.slides for t in multiples(slide, times)})  # RS-19
        case OnNonEmpty():  # RS-70
            closing = instants(replace(query, report=OnClose()), events, advance)
            return [t for t in closing if any(contents(query, tuple(events), t).values())]
        case Every(period):
            return multiples(period, times)
        case At(listed):
            return sorted(set(listed))  # RS-22
        case None:
            raise ValueError("no report policy")
        case _:
            assert_never(query.report)


def multiples(step: int, times: Sequence[int]) -> list[int]:
    """From the first multiple ≥ the first time to the first ≥ the last time (RS-20).

    >>> multiples(2, [3, 7]), multiples(5, [3, 7]), multiples(2, [-3])
    ([4, 6, 8], [5, 10], [-2])
    """
    if not times:
        return []
    first, last = (-(-time // step) * step for time in (min(times), max(times)))
    return list(range(first, last + 1, step))


# One evaluation

Consumed: TypeAlias = Mapping[int, frozenset[StreamEvent]]
"""By the MATCH's number, the whole events that are invisible to it (RS-45, RS-46)."""


def evaluation(
    query: Query, dataset: Dataset, events: tuple[StreamEvent, ...], consumed: Consumed, t: int
) -> tuple[Bag, dict[int, frozenset[StreamEvent]]]:
    """The answer at t, and what is consumed after it. Each MATCH is evaluated once, wherever it stands (RS-47)."""
    windows = contents(query, events, t)
    snapshot = dataset.at(t)
    matches: dict[int, Bag] = {}
    after = dict(consumed)
    for match in every(Match, query.form):
        hidden = consumed.get(match.number, frozenset())
        visible = {name: tuple(event for event in held if event not in hidden) for name, held in windows.items()}
        found = EventEvaluation(query, snapshot, visible).pattern(match.pattern)
        matches[match.number] = [solution(mapping, match.number) for mapping in found]
        if consumes(match.pattern):
            after[match.number] = hidden.union(*(mapping.events for mapping in found))  # RS-44
    merged = {name: frozenset().union(*(event.graph for event in held)) for name, held in windows.items()}
    snapshot = replace(snapshot, windows=merged, matches=matches)
    return answer(query, snapshot), after


def solution(mapping: EventMapping, number: int) -> Solution:
    """(8): without its times."""
    return Solution(mapping.mapping, ((number, tuple(event.id for event in mapping.events)),))


def answer(query: Query, snapshot: Snapshot) -> Bag:
    """The rows of the query form: of CONSTRUCT, over the template's variables (RS-54)."""
    found = Evaluation(snapshot, snapshot.default)
    match query.form:
        case Select():
            return found.select(query.form)
        case Construct(template, where):
            names = frozenset(template_names(template))
            return [replace(each, mapping=only(each.mapping, names)) for each in found.group(where)]
        case Ask(where):
            return [Solution(frozenset({("ask", boolean(bool(found.group(where))))}))]  # RS-68
        case _:
            assert_never(query.form)


# Output


def output(kind: Output | None, answer: Bag, previous: Bag) -> Bag:
    match kind:
        case None | Output.RSTREAM:
            return answer
        case Output.ISTREAM:
            return difference(answer, previous)
        case Output.DSTREAM:
            return difference(previous, answer)
        case _:
            assert_never(kind)


def difference(left: Bag, right: Bag) -> Bag:
    """The bag difference by bindings (RS-51); of equal rows the last ones stay."""
    counts = Counter(solution.mapping for solution in right)
    found = []
    for each in left:
        if counts[each.mapping]:
            counts[each.mapping] -= 1
        else:
            found.append(each)
    return found


def instances(template: Iterable[Pattern], row: Solution, number: int) -> list[Triple]:
    """The template's triples for one row, which has blank nodes of its own; without those that are no triples."""
    mapping = dict(row.mapping)
    found: list[Triple] = []
    for pattern in template:
        assert isinstance(pattern.predicate, Var | Iri)
        s, p, o = (
            mapping.get(slot.name)
            if isinstance(slot, Var)
            else Blank(slot.label, f"row {number}")
            if isinstance(slot, Blank)
            else slot
            for slot in (pattern.subject, pattern.predicate, pattern.object)
        )
        if s is not None and o is not None and isinstance(p, Iri) and not isinstance(s, Literal):
            found.append((s, p, o))
    return found


def canonical(triples: Iterable[Triple]) -> Graph:
    """The graph with its blank nodes renamed, so that isomorphic graphs are equal.

    Colours are refined; where nodes stay alike, one is taken first. That is right where alike nodes are exchangeable:
    in what small templates make, which has no cycles of blank nodes.
    """
    graph = frozenset(triples)
    colours = {term: 0 for triple in graph for term in triple if isinstance(term, Blank)}
    while True:
        colours = refined(graph, colours)
        alike = [colour for colour, count in Counter(colours.values()).items() if count > 1]
        if not alike:
            break
        chosen = min((term for term in colours if colours[term] == min(alike)), key=repr)
        colours = {term: 2 * colour + (term != chosen) for term, colour in colours.items()}

    def renamed(term: Term) -> Term:
        return Blank(f"c{colours[term]}") if isinstance(term, Blank) else term

    return frozenset((renamed(s), renamed(p), renamed(o)) for s, p, o in graph)


def refined(graph: Graph, colours: dict[Blank, int]) -> dict[Blank, int]:
    """Colours that tell apart what the triples of two nodes tell apart."""

    def seen(term: Term, node: Blank) -> str:
        return "self" if term == node else f"blank {colours[term]:6}" if isinstance(term, Blank) else repr(term)

    while True:
        signatures = {
            node: (
                colour,
                tuple(sorted(tuple(seen(term, node) for term in triple) for triple in graph if node in triple)),
            )
            for node, colour in colours.items()
        }
        names = {signature: number for number, signature in enumerate(sorted(set(signatures.values())))}
        finer = {node: names[signature] for node, signature in signatures.items()}
        if len(names) == len(set(colours.values())):
            return finer
        colours = finer
