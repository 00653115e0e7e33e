"""The argument QUERY of commands: reads the query and prints its warnings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from thence.query.query import Query

Command = TypeVar("Command", bound=Callable[..., Any])


def _language(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The name of a language, checked. The table of languages is read only when one is named: `--help` must be
    quick."""
    if value is None:
        return None
    from thence.query.languages import language_named

    return language_named(value).name


def takes_a_query(command: Command) -> Command:
    """Adds the argument QUERY and the options that say how it is read."""
    command = click.option("--namespace", metavar="IRI", help="What :name without a PREFIX means.")(command)
    command = click.option(
        "--language",
        callback=_language,
        metavar="NAME",
        help="The query's language (spaseq, sase+, …); else by the file's ending or the query's keywords.",
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
