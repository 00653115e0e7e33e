"""`thence demo`: a query over small streams that ship with the package, and its matches."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True, slots=True)
class Demo:
    """Files of the package: a query, the events of its streams, what GRAPH reads; `prefixes` are for the table."""

    query: str
    streams: Mapping[str, str]
    background: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)


DEMOS = {
    "smartgrid": Demo(
        "smartgrid.spaseq",
        {stream: f"smartgrid-{stream}.trig" for stream in ("S1", "S2", "S3")},
        background="smartgrid.ttl",
        prefixes={"h": "http://smartgrid.org/house/"},
    ),
    "stocks": Demo("stocks.sase", {"events": "stocks.csv"}),
    "tsunami": Demo("tsunami/tsunami.epsparql", {"events": "tsunami/readings.csv"}),
    "city": Demo(
        "city/parking.rsepql",
        {stream: f"city/{stream}.csv" for stream in ("traffic", "parking")},
        background="city/city.ttl",
    ),
    "viewers": Demo(
        "tef_sparql/viewers.tefsparql",
        {"events": "tef_sparql/viewers.trig"},
        background="tef_sparql/channels.ttl",
    ),
}


@click.command()
@click.argument("name", type=click.Choice(tuple(DEMOS)), default="smartgrid")
def demo(name: str) -> None:
    """Run a query over small streams, and show its matches: of a smart grid (RDF, in SPAseQ), of stocks (a table, in
    SASE+), of the sea's height (a table, in EP-SPARQL), of a city's traffic (tables, in RSEP-QL), or of who watches
    television (RDF, in TEF-SPARQL)."""
    from thence.cli.compile_notice import compile_notice
    from thence.cli.result_formats import writer
    from thence.cli.run_output import counts_sentence
    from thence.query.query import parse
    from thence.runtime.results import Match

    shown = DEMOS[name]
    query = parse(EXAMPLES / shown.query)
    query = replace(query, prefixes={**query.prefixes, **shown.prefixes})
    click.echo((EXAMPLES / shown.query).read_text(encoding="utf-8"))
    with compile_notice():
        files = {stream: EXAMPLES / file for stream, file in shown.streams.items()}
        matching = query.match(files, background=shown.background and EXAMPLES / shown.background)
        table = writer("table", sys.stdout, query)
        for match in matching:
            assert isinstance(match, Match)
            table.write(match)
    table.end()
    click.echo(counts_sentence(matching.counts))
