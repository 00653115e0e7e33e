"""EP-SPARQL in one process: instances of a class with 40,080 subclasses, beside no reasoning, and beside owlrl where
it is installed.

Usage: python bench/ep_sparql_reasoning.py [--events 50000] [--classes 40080] [--single 1000] [--repeat 3] [--quick]

Contenders take turns, and each one's best CPU time counts. The hierarchy is $THENCE_DATA/vascular_plants, or else a
generated one of the same size and depth. `--quick` only shows that it runs: its figures mean nothing.
"""

from __future__ import annotations

import gzip
import os
import random
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stocks.contenders import CONSOLE, Time, agreeing, measured, show
from temporal.flows import EX, TOGETHER, Fed, better, cut, flow_of, options, whole
from thence.columns.batches import Batch
from thence.io.background_data import load_background
from thence.local.flow import LocalFlow
from thence.match.background import Background
from thence.rdf.events import Event

PLANTS = "http://example.org/plants#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUB_CLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
TOP = PLANTS + "Tracheobionta"
INSTANCES = f"SELECT ?plant WHERE {{ ?plant a <{TOP}> }}"
ANY = "SELECT ?plant WHERE { ?plant a ?class }"
OWLRL_CLASSES, OWLRL_TRIPLES = 1_000, 100
"""owlrl closes the whole graph each time, and takes minutes for all classes."""


def hierarchy(classes: int) -> tuple[str, list[tuple[str, str]]]:
    """(class, superclass) of classes below Tracheobionta, and where they come from; a superclass comes first."""
    path = Path(os.environ.get("THENCE_DATA", "")) / "vascular_plants" / "subclass_40080.nt.gz"
    if os.environ.get("THENCE_DATA") and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [line.split() for line in file]
        return "vascular plants", _below("Tracheobionta", [(each[0][1:-1], each[2][1:-1]) for each in lines])[:classes]
    draw = random.Random(7)
    levels = [["Tracheobionta"]]
    found = []
    for level, size in enumerate((1, 4, 40, 400, 4_000, 15_000, 20_635), 1):  # 40,080 together
        names = [f"C{level}_{number}" for number in range(size)]
        found += [(PLANTS + name, PLANTS + draw.choice(levels[-1])) for name in names]
        levels.append(names)
    return "generated", found[:classes]


def _below(top: str, links: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The links below a class, superclasses first."""
    under: dict[str, list[str]] = {}
    for name, above in links:
        under.setdefault(above, []).append(name)
    found, seen, waiting = [], {PLANTS + top}, [PLANTS + top]
    for above in waiting:
        for name in under.get(above, ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
                found.append((name, above))
    return found


def instances(classes: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Plants, each with its class."""
    draw = random.Random(7)
    return [(f"{EX}plant/{number}", draw.choice(classes)) for number in range(count)]


def typed(plants: Iterable[tuple[str, str]]) -> list[Event]:
    """An event for each plant, of one triple."""
    return [Event(number, f"<{plant}> <{RDF_TYPE}> <{name}> .") for number, (plant, name) in enumerate(plants)]


def schema_of(links: Iterable[tuple[str, str]], folder: Path) -> Background:
    path = folder / "hierarchy.nt"
    path.write_text("".join(f"<{name}> <{SUB_CLASS}> <{above}> .\n" for name, above in links), encoding="utf-8")
    return Background(load_background(path))


def reasoning(options: Namespace) -> None:
    source, links = hierarchy(options.classes)
    with tempfile.TemporaryDirectory() as folder:
        schema = schema_of(links, Path(folder))
        start = time.process_time()
        flow_of(INSTANCES, schema, reasoning="rdfs")
        loading = time.process_time() - start
        CONSOLE.print(f"reasoning: {len(links):,} classes ({source}), closed and loaded in {loading:.1f} s CPU")
        below = [name for name, _ in links]
        for count, together in ((options.events, TOGETHER), (min(options.single, options.events), 1)):
            inferred = cut(typed(instances(below, count)), together)
            named = cut(typed(instances([TOP], count)), together)
            runs = {
                "with reasoning": Reasoned(INSTANCES, inferred, schema),
                "without, any class": Reasoned(ANY, inferred),
                "without, of that class": Reasoned(INSTANCES, named),
            }
            times = agreeing(in_turns(runs, options.repeat))
            assert times["with reasoning"].found == count
            how = "one at a time" if together == 1 else f"in batches of {together:,}"
            show(f"{count:,} triples, {how}", times, count)
            best, *others = (each.cpu for each in times.values())
            ratios = ", ".join(f"{best / other - 1:+.0%}" for other in others)
            CONSOLE.print(f"{1e6 * best / count:.1f} µs a triple; beside none: {ratios} (aim: less than +20 %)")
        beside_owlrl(links[:OWLRL_CLASSES], Path(folder))


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A query over triples, with reasoning if there is a schema."""

    text: str
    batches: Sequence[Batch]
    schema: Background | None = None

    def flow(self) -> LocalFlow:
        if self.schema is None:
            return flow_of(self.text)
        return flow_of(self.text, self.schema, reasoning="rdfs")


def in_turns(runs: Mapping[str, Reasoned], repeat: int) -> dict[str, Time]:
    """The feeding of each run, without the loading of its background."""
    best = {name: Time() for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            best[name], _ = better(best[name], run.flow(), run.batches)
    return best


def beside_owlrl(links: Sequence[tuple[str, str]], folder: Path) -> None:
    """From a schema in memory to the instances of the class, where owlrl starts from nothing and so do we."""
    try:
        import owlrl  # type: ignore[import-not-found, unused-ignore]
        import rdflib
    except ImportError:
        CONSOLE.print("owlrl: it is not installed (it is in the extra dev)")
        return
    plants = instances([name for name, _ in links], OWLRL_TRIPLES)

    def by_owlrl() -> list[Any]:
        graph = rdflib.Graph()
        for name, above in links:
            graph.add((rdflib.URIRef(name), rdflib.RDFS.subClassOf, rdflib.URIRef(above)))
        for plant, name in plants:
            graph.add((rdflib.URIRef(plant), rdflib.RDF.type, rdflib.URIRef(name)))
        owlrl.RDFSClosure.RDFS_Semantics(graph, False, False, True).closure()
        return list(graph.subjects(rdflib.RDF.type, rdflib.URIRef(TOP)))

    schema = schema_of(links, folder)

    def by_us() -> Fed:
        schema.derived.clear()
        return whole(flow_of(INSTANCES, schema, reasoning="rdfs"), cut(typed(plants)))

    contenders: dict[str, Callable[[], Sized]] = {"ours": by_us, "rdflib and owlrl": by_owlrl}
    times = agreeing(measured(contenders, 2))
    show(f"{len(links):,} classes and {OWLRL_TRIPLES} triples, closing included", times, OWLRL_TRIPLES)


def main() -> None:
    quick = {"events": 2_000, "classes": 2_000, "single": 50}
    reasoning(
        options(
            __doc__,
            quick,
            ("events", 50_000, "triples"),
            ("classes", 40_080, "of the hierarchy"),
            ("single", 1_000, "triples that are fed one at a time"),
        )
    )


if __name__ == "__main__":
    main()
