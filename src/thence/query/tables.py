"""What the columns of each stream's tables are: by the caller, and by the types that the query names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thence.algebra.patterns import TriplePattern
from thence.algebra.streams import Name, Stream
from thence.algebra.traversal import nodes
from thence.columns.time_reading import TimeReading
from thence.errors import InputError
from thence.interface.dataflow import Dataflow
from thence.interface.tables import Attributes, Table
from thence.io.table_layout import TableLayout, check_columns
from thence.local.inputs import stream_name
from thence.rdf.events import RDF_TYPE, predicate_term
from thence.rdf.terms import IRI


def table_layouts(dataflow: Dataflow, columns: object, types: object, times: TimeReading) -> dict[str, TableLayout]:
    """The layout of each stream's tables."""
    streams = dataflow.streams
    called, said = _columns(columns, streams), _types(types, streams)
    for name in called.keys() & said.keys():
        if "type" in called[name]:
            raise InputError(
                f"The stream {name} has its types from the column {called[name]['type']} and from types=. "
                "Try: one of them"
            )
    return {
        stream.name: TableLayout(
            stream.name,
            called.get(stream.name, {}),
            said.get(stream.name),
            named_types(dataflow, stream.name),
            times,
            named_predicates(dataflow, stream.name),
            dataflow.namespace_of(stream.name),
            reads_time(dataflow, stream.name),
        )
        for stream in streams
    }


def _columns(given: object, streams: Sequence[Stream]) -> dict[str, Mapping[str, str]]:
    """What the columns are called, by stream: one mapping for all of them, or one for each."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f'columns can\'t be {type(given).__name__}. Try: columns={{"time": "ts"}}')
    found: dict[str, Mapping[str, str]]
    if given and all(isinstance(value, Mapping) for value in given.values()):
        found = {stream_name(name, streams): dict(mapping) for name, mapping in given.items()}
    else:
        found = {stream.name: dict(given) for stream in streams}
    for mapping in found.values():
        check_columns(mapping)
    return found


def _types(given: object, streams: Sequence[Stream]) -> dict[str, str]:
    """The type of the rows of each stream for which it is said."""
    if given is None:
        return {}
    named = {stream.name: given for stream in streams} if not isinstance(given, Mapping) else given
    found: dict[str, str] = {}
    for called, kind in named.items():
        name = stream_name(called, streams)
        if isinstance(kind, IRI):
            found[name] = kind.value
        elif isinstance(kind, str) and kind:
            found[name] = kind
        else:
            raise InputError(f'types can\'t be {kind!r:.80}. Try: types={{"{name}": "STOCK"}}')
    return found


def named_types(dataflow: Dataflow, stream: str) -> tuple[str, ...]:
    """The types that a query's patterns over a stream name, as a table has them."""
    return tuple(dict.fromkeys(kind for table in _tables(dataflow, stream) for kind in _types_of(table)))


def _tables(dataflow: Dataflow, stream: str) -> Iterator[Table]:
    return (table for stage in dataflow.stages for table in stage.program.tables if table.stream == stream)


def _types_of(table: Table) -> Iterator[str]:
    if isinstance(table.pattern, Attributes):
        yield from (_written(fit.type) for fit in table.pattern.fits if fit.type is not None)
        return
    for node in nodes(table.pattern):
        if isinstance(node, TriplePattern) and node.predicate == RDF_TYPE and isinstance(node.object, IRI):
            yield node.object.value


def _written(name: Name) -> str:
    return name.local if name.iri is None else name.iri.value


def named_predicates(dataflow: Dataflow, stream: str) -> frozenset[IRI]:
    """The predicates that a query names in its patterns over a stream."""
    found: set[IRI] = set()
    for table in _tables(dataflow, stream):
        if isinstance(table.pattern, Attributes):
            namespace = table.pattern.namespace
            found |= {name.iri or predicate_term(name.local, namespace) for name in table.pattern.names}
        else:
            found |= {node.predicate for node in nodes(table.pattern) if _names_one(node)}  # type: ignore[attr-defined]
    return frozenset(found)


def reads_time(dataflow: Dataflow, stream: str) -> bool:
    """Whether a query reads the time of a stream's events as an attribute."""
    patterns = (table.pattern for table in _tables(dataflow, stream))
    return any(isinstance(each, Attributes) and Name("time") in each.names for each in patterns)


def _names_one(node: object) -> bool:
    return isinstance(node, TriplePattern) and isinstance(node.predicate, IRI)
