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


def _report(_: click.Context, __: click.Parameter, value: str | None) -> Any:
    return report_option(value)


def takes_meaning(command: Command) -> Command:
    """Adds the options that a query's answers depend on."""
    command = click.option(
        "--report",
        callback=_report,
        metavar="content|close|PERIOD|times=T,…",
        help="When to evaluate (RSEP-QL), where the query does not say.",
    )(command)
    command = click.option(
        "--policy",
        metavar="POLICY",
        help="Which of the possible matches there are (EP-SPARQL), or a preset (RSEP-QL).",
    )(command)
    return click.option(
        "--reasoning", type=click.Choice(("rdfs",)), help="Add what background and events entail (EP-SPARQL)."
    )(command)


def report_option(text: str | None) -> Any:
    """`--report` as `report=` takes it.

    >>> report_option("times=5,10"), report_option("10s")
    ([5, 10], '10s')
    """
    if text is None or not text.startswith("times="):
        return text
    listed = text.removeprefix("times=").split(",")
    return [int(each) if each.strip().lstrip("-").isdigit() else each.strip() for each in listed]


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
