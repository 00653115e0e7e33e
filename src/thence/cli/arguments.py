"""Arguments and options that commands share: QUERY, --stream, --background."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from thence.errors import InputError

if TYPE_CHECKING:
    from thence.query.query import Query


# The argument QUERY of commands: reads the query and prints its warnings.

Command = TypeVar("Command", bound=Callable[..., Any])


def _language(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The name of a language, checked. The table of languages is read only when one is named: `--help` must be
    quick."""
    if value is None:
        return None
    from thence.query.languages import language_named

    return language_named(value).name


def takes_a_query(command: Command) -> Command:
    """Adds the argument QUERY, or -q with its text, and the options that say how it is read."""

    asked = command  # which is another below

    @wraps(command)
    def with_query(*, query: Path | None, text: str | None, **chosen: Any) -> Any:
        if query is not None and text is not None:
            raise InputError("The query is given twice, as a file and by -q. Try: one of them")
        if query is None and text is None:
            raise click.UsageError("Missing argument 'QUERY'.", click.get_current_context())
        return asked(query=query if text is None else text, **chosen)

    command = cast(Command, with_query)
    command = click.option("-q", "text", metavar="TEXT", help="The query itself, in place of QUERY.")(command)
    command = click.option("--namespace", metavar="IRI", help="The namespace of :name without a PREFIX.")(command)
    command = click.option(
        "--language",
        callback=_language,
        metavar="NAME",
        help="The query's language (spaseq, sase+, …); else by the file's ending or the query's keywords.",
    )(command)
    return click.argument("query", metavar="[QUERY]", required=False, type=click.Path(path_type=Path))(command)


def _report(_: click.Context, __: click.Parameter, value: str | None) -> Any:
    return report_option(value)


def takes_meaning(command: Command) -> Command:
    """Adds the options that a query's answers depend on."""
    command = click.option(
        "--report",
        callback=_report,
        metavar="content|close|non_empty_content|PERIOD|times=T,…",
        help="When to evaluate (RSEP-QL), where the query does not say.",
    )(command)
    command = click.option(
        "--policy",
        metavar="POLICY",
        help="The policy that selects among matches (EP-SPARQL), or a preset (RSEP-QL).",
    )(command)
    command = click.option(
        "--order",
        multiple=True,
        metavar="[STREAM.]COLUMN,…",
        help="Columns or predicates whose values order events of one time; may be repeated, once for each stream.",
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


def order_option(texts: Sequence[str], query: Query) -> dict[str, list[str]] | None:
    """`--order` as `order=` takes it. `STREAM.` counts only if STREAM is a stream of the query, since a column may have
    a dot; it is that of all columns behind it."""
    found: dict[str, list[str]] = {}
    for text in texts:
        stream, dot, columns = text.partition(".")
        named = dot and stream in query.streams
        for each in [stream] if named else query.streams:
            if each in found:
                raise InputError(f"The order of the stream {each} is given twice. Try: --order {each}.COLUMN,COLUMN")
            found[each] = (columns if named else text).split(",")
    return found or None


def read_query(path: Path | str, language: str | None, namespace: str | None) -> Query:
    """The query of a file, `-` for standard input, or of a text; its warnings go to stderr."""
    from thence.query.query import parse

    if isinstance(path, str):
        query = parse(path, language=language, namespace=namespace)
    elif str(path) == "-":
        query = parse(sys.stdin.read(), language=language, namespace=namespace)
    else:
        query = parse(path, language=language, namespace=namespace)
    for warning in query.warnings:
        click.echo(f"thence: warning: {warning}", err=True)
    return query


def takes_tables(command: Command) -> Command:
    """Adds the options that say what the columns of tables are."""
    for name, metavar, help in (
        ("--time-format", "FORMAT", "The format of times that are neither ISO 8601 nor ticks: '%d/%m/%Y %H:%M:%S'."),
        ("--time-zone", "ZONE", "The zone of times that say none: America/New_York; else UTC."),
    ):
        command = click.option(name, metavar=metavar, help=help)(command)
    command = click.option(
        "--time-unit", type=click.Choice(("s", "ms", "us", "ns")), help="Integers are times since 1970 in this unit."
    )(command)
    command = click.option(
        "--type", "types", multiple=True, metavar="[NAME=]TYPE", help="The type of the rows of a stream's tables."
    )(command)
    return click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="[NAME.]time=COLUMN",
        help="What a table calls time, type, end, id, subject; may be repeated.",
    )(command)


def table_columns(arguments: Sequence[str], query: Query) -> dict[str, dict[str, str]] | None:
    """`--column [NAME.]time=ts` as `columns=` takes it."""
    found: dict[str, dict[str, str]] = {}
    for argument in arguments:
        stream, ours, theirs = _column(argument)
        for name in [stream] if stream else query.streams:
            found.setdefault(name, {})[ours] = theirs
    return found or None


def column_names(arguments: Sequence[str]) -> dict[str, str]:
    """`--column time=ts`, where there is no query."""
    return {ours: theirs for _, ours, theirs in map(_column, arguments)}


def _column(argument: str) -> tuple[str, str, str]:
    """The stream, our name for a column, and its own."""
    named, equals, theirs = argument.partition("=")
    stream, _, ours = named.rpartition(".")
    if not equals or not ours or not theirs:
        raise InputError(f"--column can't be {argument:.80}. Try: --column time=ts")
    return stream, ours, theirs


def table_types(arguments: Sequence[str], query: Query) -> dict[str, str] | None:
    """`--type [NAME=]TYPE` as `types=` takes it."""
    found: dict[str, str] = {}
    for argument in arguments:
        named = next((each for each in _named(argument, query)), None)
        name, equals, _ = argument.partition("=")
        if named is None and equals and ":" not in name:
            from thence.local.inputs import stream_name

            stream_name(name, query.dataflow().streams)  # which says what may have been meant
        found.update({named[0]: named[1]} if named else dict.fromkeys(query.streams, argument))
    return found or None


def _named(argument: str, query: Query) -> Iterator[tuple[str, str]]:
    """A stream, and what is said of it."""
    for stream in query.dataflow().streams:
        for name in (stream.name, stream.iri.value, f":{stream.name}", str(stream.iri)):
            if argument.startswith(f"{name}="):
                yield stream.name, argument.removeprefix(f"{name}=")


# `--stream [NAME=]PATH` and `--background [IRI=]PATH`.


def stream_paths(arguments: Sequence[str], query: Query) -> dict[str, list[str]]:
    """The paths of each stream. `NAME=` counts only if NAME is a stream of the query, since a path may have a `=`;
    several paths of a stream are merged."""
    found: dict[str, list[str]] = {}
    for argument in arguments:
        name, path = _split(argument, query)
        found.setdefault(name, []).append(path)
    missing = [name for name in query.streams if name not in found]
    if missing:
        raise InputError(f"No input is given for the stream {missing[0]}. Try: --stream {missing[0]}=PATH")
    return found


def _split(argument: str, query: Query) -> tuple[str, str]:
    for named in _named(argument, query):
        return named
    if len(query.streams) == 1:
        return query.streams[0], _alone(argument, query)
    from thence.local.inputs import stream_name

    name, equals, _ = argument.partition("=")
    if equals:
        stream_name(name, query.dataflow().streams)  # which says what may have been meant
    names = " ".join(f"--stream {stream}=PATH" for stream in query.streams)
    raise InputError(f"The query reads {len(query.streams)} streams, so {argument} needs the name of one. Try: {names}")


def _alone(argument: str, query: Query) -> str:
    """A path without a name; what looks like a name that the query lacks is no file either."""
    from thence.local.inputs import stream_name

    name, equals, path = argument.partition("=")
    if equals and not os.path.exists(argument) and os.path.exists(path):
        stream_name(name, query.dataflow().streams)
    return argument


def background_paths(arguments: Sequence[str]) -> dict[str | None, list[str]] | None:
    """Background files by the name of their graph, which is an IRI; both may have a `=`."""
    found: dict[str | None, list[str]] = {}
    for argument in arguments:
        name, path = _graph(argument)
        found.setdefault(name, []).append(path)
    return found or None


def _graph(argument: str) -> tuple[str | None, str]:
    if os.path.exists(argument):
        return None, argument
    splits = [(argument[:at], argument[at + 1 :]) for at, sign in enumerate(argument) if sign == "="]
    named = [(name.strip("<>"), path) for name, path in splits if ":" in name]
    bare = [(name, path) for name, path in splits if ":" not in name and os.path.exists(path)]
    there = (each for each in (*named, *bare) if os.path.exists(each[1]))
    return next(there, named[0] if named else (None, argument))
