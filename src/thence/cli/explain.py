"""`thence explain`: how a query would be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from thence.cli.query_argument import read_query, takes_a_query, takes_meaning


@click.command()
@takes_a_query
@click.option("--format", type=click.Choice(("text", "mermaid", "svg", "json")), default="text", show_default=True)
@click.option("--optimise/--no-optimise", default=True, help="Explain the query as it runs without optimisation.")
@takes_meaning
def explain(
    query: Path, language: str | None, namespace: str | None, format: str, optimise: bool, **meaning: Any
) -> None:
    """Show how a query is run: algebra, automaton, key, window, and where each filter acts."""
    click.echo(read_query(query, language, namespace).explain(format, optimise=optimise, **meaning))
