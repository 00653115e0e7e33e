"""`thence demo`: a query over three small streams that ship with the package, and its matches."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

EXAMPLES = Path(__file__).parent.parent / "examples"
STREAMS = ("S1", "S2", "S3")


@click.command()
@click.argument("name", type=click.Choice(("smartgrid",)), default="smartgrid")
def demo(name: str) -> None:
    """Run a query over three small streams of a smart grid, and show its matches."""
    from thence.cli.compiling import compilation_told
    from thence.cli.formats import writer
    from thence.cli.outlets import told
    from thence.local.results import Match
    from thence.query.query import parse

    path = EXAMPLES / f"{name}.spaseq"
    query = parse(path)
    query = replace(query, prefixes={**query.prefixes, "h": "http://smartgrid.org/house/"})
    click.echo(path.read_text(encoding="utf-8"))
    with compilation_told():
        files = {stream: EXAMPLES / f"{name}-{stream}.trig" for stream in STREAMS}
        matching = query.match(files, background=EXAMPLES / f"{name}.ttl")
        table = writer("table", sys.stdout, query)
        for match in matching:
            assert isinstance(match, Match)
            table.write(match)
    table.end()
    click.echo(told(matching.counts))
