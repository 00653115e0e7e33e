"""`thence check` and `thence explain`: can a query be read, and how would it be run?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thence.cli.arguments import order_option, read_query, takes_a_query, takes_meaning
from thence.cli.result_formats import is_plain

if TYPE_CHECKING:
    from thence.query.query import Query


# `thence check`: can the query be read, and does it mean something?


@click.command()
@takes_a_query
def check(query: Path | str, language: str | None, namespace: str | None) -> None:
    """Check a query's syntax and meaning. No data is read."""
    read = read_query(query, language, namespace)
    place = query if isinstance(query, Path) else "query"
    click.echo(f"{place}: {read.language.title}, reads {', '.join(read.streams)}, {_given(read)}")


def _given(query: Query) -> str:
    if query.constructs:
        return "makes events"
    if is_plain(query):
        return f"gives {', '.join(query.columns)}"
    return f"gives {' '.join(f'?{name}' for name in query.columns) or 'no columns'}"


@click.command()
@takes_a_query
@click.option("--format", type=click.Choice(("text", "mermaid", "svg", "json")), default="text", show_default=True)
@click.option("--optimise/--no-optimise", default=True, help="Explain the query as it runs without optimisation.")
@takes_meaning
def explain(
    query: Path | str,
    language: str | None,
    namespace: str | None,
    format: str,
    optimise: bool,
    order: tuple[str, ...],
    **meaning: Any,
) -> None:
    """Show how a query is run: algebra, automaton, key, window, and where each filter acts."""
    read = read_query(query, language, namespace)
    click.echo(read.explain(format, optimise=optimise, order=order_option(order, read), **meaning))
