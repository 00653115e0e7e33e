"""What every command that takes a query does with it: read it, and tell its warnings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from thence.query.query import Query

Command = TypeVar("Command", bound=Callable[..., Any])

LANGUAGES = ("spaseq", "ep-sparql", "sase+", "rsep-ql", "tef-sparql")


def takes_a_query(command: Command) -> Command:
    """Adds the argument QUERY and the options that say how it is read."""
    command = click.option("--namespace", metavar="IRI", help="What :name without a PREFIX means.")(command)
    command = click.option(
        "--language",
        type=click.Choice(LANGUAGES, case_sensitive=False),
        help="The query's language; else by the file's ending or the query's keywords.",
    )(command)
    return click.argument("query", metavar="QUERY", type=click.Path(path_type=Path))(command)


def read_query(path: Path, language: str | None, namespace: str | None) -> Query:
    """The query of a file, `-` for standard input; its warnings go to stderr."""
    from thence.query.query import parse

    if str(path) == "-":
        query = parse(sys.stdin.read(), language=language, namespace=namespace)
    else:
        query = parse(path, language=language, namespace=namespace)
    for warning in query.warnings:
        click.echo(f"thence: warning: {warning}", err=True)
    return query
