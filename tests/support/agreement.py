"""Answers as multisets of (event, mapping), from either evaluator, and the cases that they are compared on."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from strategies.choices import Choices, seeded
from strategies.expressions import NOW, Language
from strategies.graphs import a_background, as_nquads, some_events
from strategies.patterns import Maker
from strategies.terms import THEMES, Theme, a_world
from thence.algebra.expressions import Variable
from thence.algebra.patterns import Pattern
from thence.algebra.show import show
from thence.columns.batches import EventBatch, encode
from thence.columns.dictionary import UNBOUND
from thence.io.background_data import BackgroundData, load_background
from thence.match.background import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.match.solution_table import SolutionTable
from thence.match.solve import solutions
from thence.rdf.events import Event
from thence.rdf.terms import BlankNode, Quad, Term, Triple

CONTEXT = Context(now=NOW, base="http://example.org/base/")

Answers = Counter[tuple[int, frozenset[tuple[str, Term]]]]
"""How often each mapping is an answer in each event; what is unbound is left out."""


def answers_in(table: SolutionTable, batch: EventBatch) -> Answers:
    assert table.events is not None
    assert (table.events[1:] >= table.events[:-1]).all() or not len(table), "rows are ordered by event"
    names = [name for name in table.columns if isinstance(name, Variable)]
    assert len(names) == len(table.columns), "a blank node of a pattern is not part of an answer"
    rows = zip(*(table.columns[name].tolist() for name in names), strict=True) if names else iter([()] * len(table))
    return Counter(
        (event, frozenset((name.name, batch.terms[i]) for name, i in zip(names, row, strict=True) if i != UNBOUND))
        for event, row in zip(table.events.tolist(), rows, strict=True)
    )


def answers(pattern: Pattern, batch: EventBatch, background: Background = NO_BACKGROUND, *, vectorise: bool) -> Answers:
    table = solutions(pattern, batch, background=background, context=CONTEXT, vectorise=vectorise)
    return answers_in(table, batch)


def answers_over(pattern: Pattern, batches: Sequence[EventBatch], *, vectorise: bool) -> Answers:
    """Of several batches, events counted through, their blank nodes relabelled."""
    found: Answers = Counter()
    first = 0
    for batch in batches:
        for (event, mapping), times in answers(pattern, batch, vectorise=vectorise).items():
            found[first + event, frozenset((name, relabelled(term)) for name, term in mapping)] += times
        first += len(batch)
    return found


def relabelled(term: Term) -> Term:
    """A blank node by the label that it had before it was made its event's own."""
    return BlankNode(re.sub(r"^stream_\d+_", "", term.value)) if isinstance(term, BlankNode) else term


@dataclass(frozen=True)
class Case:
    """A pattern, the events it is asked of, and the background's quads."""

    pattern: Pattern
    events: tuple[Event, ...]
    quads: tuple[Quad, ...] = ()

    def __repr__(self) -> str:
        events = "\n".join(
            f"# event {i}\n" + "\n".join(" ".join(map(str, triple)) + " ." for triple in event.triples)
            for i, event in enumerate(self.events)
        )
        background = f"\n# background\n{as_nquads(self.quads).decode()}" if self.quads else ""
        return f"\n{show(self.pattern)}\n{events}{background}\n{self.pattern!r}"

    @property
    def batch(self) -> EventBatch:
        """Encoded anew: what one evaluator adds to the dictionary, the other doesn't see."""
        return encode(self.events)

    @property
    def background(self) -> Background:
        return Background(background_of(self.quads))

    def answers(self, *, vectorise: bool) -> Answers:
        return answers(self.pattern, self.batch, self.background, vectorise=vectorise)


def background_of(quads: Sequence[Quad]) -> BackgroundData:
    """The quads as background data, by way of a pyoxigraph dataset, which keeps literals as they are."""
    import pyoxigraph as ox

    from thence.rdf.documents import to_ox_quad

    return load_background(ox.Dataset(map(to_ox_quad, quads))) if quads else BackgroundData()


def cases(
    *,
    themes: tuple[Theme, ...] = THEMES,
    background: bool = False,
    depth: int | None = None,
    language: Language | None = None,
    most: int = 6,
) -> st.SearchStrategy[Case]:
    """A pattern over one to four events of up to `most` triples; of `smaller.smallest` if it is to be read."""

    def case(choices: Choices) -> Case:
        world = a_world(choices, themes)
        events = some_events(choices, world, most=most)
        quads = a_background(choices, world) if background else []
        triples = [triple for event in events for triple in event.triples]
        spoken = language and dataclasses.replace(language, world=world)
        maker = Maker(choices, world, triples, [Triple(*quad[:3]) for quad in quads], spoken)
        return Case(maker.whole(depth), tuple(events), tuple(quads))

    return seeded(case)
