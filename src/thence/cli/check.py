"""`thence check`: can the query be read, and does it mean something?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from thence.cli.query_argument import read_query, takes_a_query
from thence.cli.result_formats import is_plain

if TYPE_CHECKING:
    from thence.query.query import Query


@click.command()
@takes_a_query
def check(query: Path, language: str | None, namespace: str | None) -> None:
    """Say whether a query can be read and means something. No data is read."""
    read = read_query(query, language, namespace)
    click.echo(f"{query}: {read.language.title}, reads {', '.join(read.streams)}, {_given(read)}")


def _given(query: Query) -> str:
    if query.constructs:
        return "makes events"
    if is_plain(query):
        return f"gives {', '.join(query.columns)}"
    return f"gives {' '.join(f'?{name}' for name in query.columns) or 'no columns'}"
