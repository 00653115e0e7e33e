"""What an event file holds, column by column: for `thence schema`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.batches import Batch, ColumnBatch
from thence.columns.dictionary import Terms
from thence.columns.value_columns import term_of
from thence.columns.value_kinds import NONE, OTHER
from thence.io.csv_files import csv_header
from thence.io.event_files import is_csv, read_batches, table_schema
from thence.io.table_columns import event_columns, likely_time
from thence.io.table_layout import TableLayout
from thence.rdf.events import DEFAULT_NAMESPACE, RDF_TYPE, BadCell, BadEvent
from thence.rdf.terms import IRI, XSD_STRING, Literal, Term
from thence.rdf.times import Domain, format_time

_EXAMPLES = 3


@dataclass(slots=True)
class SeenColumn:
    """An attribute or a predicate: how many events have it, the types of its values, and a few of these."""

    given: int = 0
    types: dict[str, None] = field(default_factory=dict)
    examples: dict[Term, None] = field(default_factory=dict)

    def see(self, kinds: NDArray[Any], tags: NDArray[Any], bits: NDArray[np.int64], terms: Terms) -> None:
        """Values of some events, of which equal `kinds` have one type."""
        given = np.flatnonzero(tags != NONE)
        for row in np.unique(kinds[given], return_index=True)[1].tolist():
            self.types[_type_of(term_of(int(tags[given[row]]), int(bits[given[row]]), terms))] = None
        for row in given[:100].tolist() if len(self.examples) < _EXAMPLES else ():
            term = term_of(int(tags[row]), int(bits[row]), terms)
            if term is not None and len(self.examples) < _EXAMPLES:
                self.examples[term] = None


@dataclass(slots=True)
class FileSchema:
    """What a file holds. `declared` has the types of a table's columns, None for other files; `parts` which of them are
    parts of events. `columns` are attributes by name, or predicates."""

    path: str
    declared: dict[str, Any] | None
    parts: Mapping[str, str] = field(default_factory=dict)
    events: int = 0
    columns: dict[str, SeenColumn] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    domains: set[Domain] = field(default_factory=set)
    intervals: int = 0
    bad: int = 0
    bad_cells: int = 0
    first_bad: BadEvent | None = None
    first_bad_cell: BadCell | None = None
    lacks_time: bool = False
    """Whether no column is called as the time must be: it is taken from the likeliest one, if there is any."""

    @property
    def times(self) -> str:
        """The kind of the times, and the earliest and the latest."""
        if self.first is None or self.last is None:
            return "none"
        if len(self.domains) > 1:
            return "ticks and dates, of which a query takes one kind"
        (domain,) = self.domains
        kind = "ticks" if domain is Domain.TICKS else "dates"
        return f"{kind}, {format_time(self.first, domain)} to {format_time(self.last, domain)}"

    def _see(self, batch: Batch) -> None:
        self.events += len(batch)
        first, last = int(batch.starts.min()), int(batch.ends.max())
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)
        self.domains |= {Domain(domain) for domain in np.unique(batch.domains).tolist()}
        self.intervals += int((batch.starts != batch.ends).sum())
        for name, kinds, tags, bits in _columns(batch):
            if name == RDF_TYPE:
                self._count_types(batch, tags, bits)
            else:
                column = self.columns.setdefault(str(name), SeenColumn())
                column.see(kinds, tags, bits, batch.terms)
                column.given += _events_with(batch, name, tags)

    def _count_types(self, batch: Batch, tags: NDArray[Any], bits: NDArray[np.int64]) -> None:
        values, firsts, counts = np.unique(bits, return_index=True, return_counts=True)
        for number in range(len(values)):
            term = term_of(int(tags[firsts[number]]), int(values[number]), batch.terms)
            name = "" if term is None else term.value
            self.types[name.removeprefix(DEFAULT_NAMESPACE)] += int(counts[number])


def file_schema(path: str, layout: TableLayout) -> FileSchema:
    """What a file holds, all of which is read. Errors of the file are raised as elsewhere."""
    schema = table_schema(path)
    if schema is None:
        found = FileSchema(path, None)
    else:
        read_as = csv_header(path) if is_csv(path) else schema
        declared = dict(zip(schema.names, schema.types, strict=True))
        lacks_time = layout.columns.get("time", "time") not in schema.names
        if lacks_time:
            likely = likely_time(read_as)
            if likely is None:
                return FileSchema(path, declared, columns={name: SeenColumn() for name in declared}, lacks_time=True)
            layout = replace(layout, columns={**layout.columns, "time": likely})
        parts = event_columns(layout, path, read_as, rdf=not is_csv(path)).parts
        found = FileSchema(path, declared, parts, lacks_time=lacks_time)
    for each in read_batches(path, stream=os.path.basename(path), layout=layout):
        match each:
            case BadCell():
                found.bad_cells += 1
                found.first_bad_cell = found.first_bad_cell or each
            case BadEvent():
                found.bad += 1
                found.first_bad = found.first_bad or each
            case _:
                found._see(each)
    if not found.events:  # of a table, the types are known all the same
        found.columns = {name: SeenColumn() for name in found.declared or ()}
    return found


def _columns(batch: Batch) -> Iterator[tuple[IRI | str, NDArray[Any], NDArray[Any], NDArray[np.int64]]]:
    """The columns of a batch by the names of attributes, or by predicates: one value per event or per triple, with its
    kind."""
    if isinstance(batch, ColumnBatch):
        for predicate in batch.predicates:
            values = batch.column(predicate)
            if values is not None:
                attribute = batch.table.attributes.get(predicate)
                yield predicate if attribute is None else attribute.name, values.tags, values.tags, values.bits
        return
    for predicate in np.unique(batch.predicates).tolist():
        objects = batch.objects[batch.predicates == predicate]
        named = batch.terms[predicate]
        assert isinstance(named, IRI)
        yield named, batch.terms.tags[objects], np.full(len(objects), OTHER, np.uint16), objects.astype(np.int64)


def _events_with(batch: Batch, name: IRI | str, tags: NDArray[Any]) -> int:
    """The number of events that have an attribute or a predicate."""
    if isinstance(batch, ColumnBatch):
        return int((tags != NONE).sum())
    assert isinstance(name, IRI)
    return len(np.unique(batch.event_of_triple[batch.predicates == batch.terms.find(name)]))


def _type_of(term: Term | None) -> str:
    match term:
        case Literal(language=str(language)) if language:
            return "text with a language"
        case Literal(datatype=datatype):
            return "text" if datatype == XSD_STRING else datatype.rpartition("#")[2] or datatype
        case IRI():
            return "IRI"
        case _:
            return "blank node"
