"""Question 2 of the SPAseQ paper (Section 8.2): what the size of the background costs.

Usage: python bench/background.py [--events 300000] [--repeat 5]

The same stock events, the same query with a GRAPH block, and a knowledge base about companies (name, address, site and
phone, as in the paper) of 10 thousand to a million triples. Loading it is timed apart. Beside what the optimiser makes
of the query (the block is joined with complete matches) the block stays in its place, joined with every event. All
times are CPU time, as the paper has it.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from thence.algebra.spaseq import SequenceQuery
from thence.columns.batches import EventBatch, encode
from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.plan import rules as optimize
from thence.engines.automaton.plan.rules import RULES, late_graph
from thence.engines.automaton.plan.spaseq import plan
from thence.interface.dataflow import one_stage
from thence.interface.operator import Environment
from thence.io.background_data import load_background
from thence.lang.spaseq.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import Background
from thence.rdf.events import Event
from thence.rdf.terms import IRI

SIZES = (10_000, 100_000, 1_000_000)
COMPANIES = 110
EX = "http://example.org/"
QUERY = """
PREFIX : <http://example.org/>
SELECT ?company ?p1 ?p2 ?name ?phone
WITHIN 200 TICKS
FROM STREAM S <http://example.org/s>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?company :price ?p1 . ?company :volume ?v1 GRAPH :kb { ?company :name ?name ; :phone ?phone } }
  DEFINE GPM B ON S { ?company :price ?p2 FILTER(?p2 > ?p1 + 90) }
}
"""


def stock_events(count: int, seed: int = 7) -> EventBatch:
    """One event a tick: a company's price and volume."""
    draw = random.Random(seed)
    made = (
        f"<{EX}company/{draw.randrange(COMPANIES)}> <{EX}price> {draw.randrange(100)} ; <{EX}volume> {number} ."
        for number in range(count)
    )
    return encode([Event(number, graph, id=str(number)) for number, graph in enumerate(made)])


def knowledge_base(path: Path, triples: int) -> None:
    """Four triples a company; the events are about the first ones."""
    with path.open("w") as file:
        for number in range(triples // 4):
            company = f"<{EX}company/{number}>"
            file.write(f'{company} <{EX}name> "Company {number}" .\n')
            file.write(f'{company} <{EX}address> "{number} Main Street" .\n')
            file.write(f"{company} <{EX}site> <{EX}site/{number}> .\n")
            file.write(f'{company} <{EX}phone> "{number:07}" .\n')


def loaded(triples: int) -> tuple[Background, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kb.nt"
        knowledge_base(path, triples)
        start = time.process_time()
        data = load_background({IRI(EX + "kb"): path})
        return Background(data), time.process_time() - start


def run(query: SequenceQuery, events: EventBatch, background: Background) -> tuple[float, int]:
    """Seconds and rows. Whatever is made of the background for this query is made anew."""
    start = time.process_time()
    runner = LocalFlow(one_stage(plan(query), AutomatonOperator()), Environment(Background(background.data)))
    rows = sum(1 for _ in runner.run({"S": [events]}))
    return time.process_time() - start, rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=300_000)
    arguments.add_argument("--repeat", type=int, default=5)
    options = arguments.parse_args()
    query, events = parse(QUERY), stock_events(options.events)
    in_its_place = tuple(rule for rule in RULES if rule is not late_graph)
    run(query, stock_events(100), loaded(400)[0])  # compile before the clock runs
    sizes = [(size, *loaded(size)) for size in SIZES]
    late: dict[int, list[float]] = {size: [] for size in SIZES}
    early: dict[int, list[float]] = {size: [] for size in SIZES}
    found = set()
    for _ in range(options.repeat):  # in turn, so that a busy machine is busy for all of them
        for size, background, _ in sizes:
            seconds, rows = run(query, events, background)
            late[size].append(seconds)
            with patch.object(optimize, "RULES", in_its_place):
                seconds, same = run(query, events, background)
            early[size].append(seconds)
            found |= {rows, same}
    assert len(found) == 1, "the block's place, or the size of the background, changed the answer"
    print(f"{options.events:,} events, {found.pop():,} rows")
    print(f"{'triples':>10}{'loading, s':>12}{'at the end, s':>15}{'ratio':>8}{'in its place, s':>17}")
    for size, _, loading in sizes:
        ratio = min(late[size]) / min(late[SIZES[0]])
        print(f"{size:10,}{loading:12.2f}{min(late[size]):15.2f}{ratio:8.2f}{min(early[size]):17.2f}")


if __name__ == "__main__":
    main()
