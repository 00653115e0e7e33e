"""`--stream [NAME=]PATH` and `--background [IRI=]PATH`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from thence.errors import InputError

if TYPE_CHECKING:
    from thence.query.query import Query


_SMALL = 64 << 20


def stream_paths(arguments: Sequence[str], query: Query) -> dict[str, list[str]]:
    """The paths of each stream. `NAME=` counts only if NAME is a stream of the query, since a path may have a `=`;
    several paths of a stream are merged."""
    found: dict[str, list[str]] = {}
    for argument in arguments:
        name, path = _split(argument, query)
        found.setdefault(name, []).append(path)
    missing = [name for name in query.streams if name not in found]
    if missing:
        raise InputError(f"Nothing is given for the stream {missing[0]}. Try: --stream {missing[0]}=PATH")
    return found


def are_small(arguments: Sequence[str]) -> bool:
    """Whether the files are read in seconds, as far as is known before the query is read."""
    return sum(_bytes(argument) for argument in arguments) < _SMALL


def _bytes(argument: str) -> int:
    paths = (argument, *(argument[at + 1 :] for at, letter in enumerate(argument) if letter == "="))
    found = next((path for path in paths if os.path.exists(path)), None)
    if found is None:
        return 0
    try:
        files = [entry.path for entry in os.scandir(found)] if os.path.isdir(found) else [found]
    except OSError:  # the reader reports it
        return 0
    return sum(os.path.getsize(path) for path in files if os.path.exists(path))


def _split(argument: str, query: Query) -> tuple[str, str]:
    for stream in query.dataflow().streams:
        for name in (stream.name, stream.iri.value, f":{stream.name}", str(stream.iri)):
            if argument.startswith(f"{name}="):
                return stream.name, argument.removeprefix(f"{name}=")
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
    return next((each for each in named if os.path.exists(each[1])), named[0] if named else (None, argument))
