"""`thence check`: can the query be read, and does it mean something?"""

from __future__ import annotations

from pathlib import Path

import click

from thence.cli.queries import read_query, takes_a_query


@click.command()
@takes_a_query
def check(query: Path, language: str | None, namespace: str | None) -> None:
    """Say whether a query can be read and means something. No data is read."""
    read = read_query(query, language, namespace)
    gives = (
        "makes events" if read.constructs else f"gives {' '.join(f'?{name}' for name in read.columns) or 'no columns'}"
    )
    click.echo(f"{query}: {read.language.title}, reads {', '.join(read.streams)}, {gives}")
