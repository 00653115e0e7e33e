"""The output of a stage as record batches: one row per match and per problem."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.arrow_values import csv_text, lexical_column, struct_column, struct_type, term_struct
from thence.columns.dictionary import Terms
from thence.columns.value_columns import term_of
from thence.columns.value_kinds import DOUBLE, DURATION, INTEGER, KIND_MASK
from thence.columns.value_types import Atom, Fields, Several, Type, Types, ValueKind
from thence.errors import InputError
from thence.interface.dataflow import Stage
from thence.interface.output import OPEN_END, ColumnTypes, Rows
from thence.interface.solutions import AnswerValue, Solutions
from thence.rdf.documents import Format, serialize
from thence.rdf.events import BadCell, BadEvent, Event
from thence.rdf.terms import Term
from thence.rdf.times import Domain
from thence.runtime.host import Host, TimedOut
from thence.runtime.results import RESERVED_COLUMNS, column_names

# Columns of a DataFrame, built of cells or of values: each value as its column's type has it.

_ARROW = {
    ValueKind.BOOLEAN: pa.bool_(),
    ValueKind.TIMESTAMP: pa.timestamp("us", "UTC"),
    ValueKind.DATE: pa.date32(),
    ValueKind.DURATION: pa.duration("us"),
    ValueKind.STRING: pa.string(),
    ValueKind.UNKNOWN: pa.string(),
}
_INTEGERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_DOUBLES = {16: pa.float16(), 32: pa.float32(), 64: pa.float64()}


def arrow_type(kind: Type, leaf: pa.DataType | None = None) -> pa.DataType:
    """A type as Arrow has it; with `leaf`, each single value is of that type."""
    match kind:
        case Several(of=of):
            return pa.list_(arrow_type(of, leaf))
        case Fields(fields=fields):
            return pa.struct([(name, arrow_type(of, leaf)) for name, of in fields])
        case Atom() if leaf is not None:
            return leaf
        case Atom(kind=ValueKind.INTEGER, bits=bits):
            return _INTEGERS[bits]
        case Atom(kind=ValueKind.DOUBLE, bits=bits):
            return _DOUBLES[bits]
        case Atom(kind=ValueKind.DECIMAL, digits=digits, scale=scale):
            return pa.decimal128(digits, scale)
        case Atom():
            return _ARROW[kind.kind]


def arrow_types(
    types: ColumnTypes, attributes: Types | None, leaf: pa.DataType, *, texts: Collection[str] = ()
) -> dict[str, pa.DataType]:
    """The Arrow types of columns, by name. Each single value is a `leaf` where attributes have no types, and in the
    columns `texts`."""
    found = types.resolve(attributes)
    return {
        name: arrow_type(kind, leaf if attributes is None or name in texts else None) for name, kind in found.items()
    }


def array_of(cells: list[AnswerValue | None], kind: pa.DataType, leaf: Callable[[Term], Any] | None) -> pa.Array:
    """A column of cells; with `leaf`, each value as that makes it, else as the type has it."""
    made = [_made(cell, kind, leaf) for cell in cells]
    try:
        return pa.array(made, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise InputError(f"A value of the answer does not fit into its column's type, {kind}: {error}") from None


def _made(cell: Any, kind: pa.DataType, leaf: Callable[[Term], Any] | None) -> Any:
    match cell:
        case None:
            return None
        case tuple():
            return [_made(each, kind.value_type, leaf) for each in cell]
        case Mapping():
            return {name: _made(each, kind.field(name).type, leaf) for name, each in cell.items()}
    if leaf is not None:
        return leaf(cell)
    if pa.types.is_string(kind):
        return cell.value
    found = cell.python
    if pa.types.is_floating(kind) and isinstance(found, int | Decimal):
        return float(found)
    if pa.types.is_decimal(kind) and isinstance(found, float):
        return Decimal(
            repr(found)
        )  # a key, as equality compares it: a decimal of so few digits that its double is exact
    return found


def typed_array(tags: NDArray[Any], bits: NDArray[np.int64], terms: Terms, kind: pa.DataType) -> pa.Array:
    """An Arrow array of the given type. Numbers of one kind are converted as a whole, other values one by one."""
    kinds = np.unique(tags & KIND_MASK).tolist()
    if kinds == [DOUBLE] and pa.types.is_floating(kind):
        return pa.array(np.ascontiguousarray(bits).view(np.float64)).cast(kind)
    if kinds == [INTEGER] and pa.types.is_integer(kind):
        return pa.array(np.ascontiguousarray(bits)).cast(kind)
    if kinds == [DURATION] and pa.types.is_duration(kind):
        return pa.array(np.ascontiguousarray(bits)).cast(kind)
    if pa.types.is_string(kind):
        return lexical_column(tags, bits, terms)
    cells: list[AnswerValue | None] = [
        term_of(tag, value, terms) for tag, value in zip(tags.tolist(), bits.tolist(), strict=True)
    ]
    return array_of(cells, kind, None)


# The output of a stage, as record batches: a row for each match, and one for each problem.

PROBLEM_COLUMNS = ("problem", "reason", "event", "stream")
INNER = tuple(f"?{name}" for name in PROBLEM_COLUMNS)
"""The same before a user sees them: names that no variable has."""
HIDDEN = ("?certain", "?end", "?place")
"""The sort key of rows. The place is a row's start, or its rank if the operator has ranked it."""


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A row of `problems`."""

    problem: str
    reason: str
    event: str | None
    stream: str


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Writes what a stage emits. `terms` is "text" for lexical values, or "struct" for whole terms. Each column costs
    Spark time: without `problems`, a problem's row has only its kind, to be counted, and without `ordered` rows lack
    the columns that they are ordered by."""

    stage: Stage
    domain: Domain
    terms: str = "text"
    problems: bool = False
    ordered: bool = True
    attributes: Types | None = None  # of the input, where it has types
    texts: frozenset[str] = frozenset()  # columns that are text, since other rows of a UNION have other types there

    @property
    def columns(self) -> dict[str, tuple[str, pa.DataType]]:
        """An answer's columns by their names in the DataFrame: their names in the query, and their types. None where
        events are emitted."""
        output = self.stage.program.output
        if self.stage.makes_events:
            return {}
        assert isinstance(output, Rows)
        cell = struct_type() if self.terms == "struct" else pa.string()
        attributes = self.attributes if self.terms == "text" else None
        found = arrow_types(output.types, attributes, cell, texts=self.texts)
        taken = (*RESERVED_COLUMNS, *PROBLEM_COLUMNS) if self.problems else RESERVED_COLUMNS
        return dict(zip(column_names(list(found), taken=taken), found.items(), strict=True))

    @property
    def reported(self) -> tuple[str, ...]:
        """The columns of problems."""
        return PROBLEM_COLUMNS if self.problems else PROBLEM_COLUMNS[:1]

    def schema(self) -> pa.Schema:
        time = pa.int64() if self.domain is Domain.TICKS else pa.timestamp("us", "UTC")
        if self.stage.makes_events:  # as `dataframe` reads them
            fields = [("time", time), ("end", time), ("id", pa.string()), ("value", pa.string())]
        else:
            fields = [("start", time), ("end", time)]
        fields[2:2] = [("query", pa.int32())] if self.stage.numbers_queries else []
        fields += [(name, kind) for name, (_, kind) in self.columns.items()]
        fields += [("match_id", pa.string()), ("events", pa.list_(pa.string()))]
        fields += [(name, pa.string()) for name in INNER[: len(self.reported)]]
        return pa.schema([*fields, *((name, pa.int64()) for name in HIDDEN if self.ordered)])

    def rows(self, solutions: Solutions, host: Host) -> pa.RecordBatch:
        """The rows of some solutions."""
        names, events = host.ids(solutions)
        offsets = pa.array(solutions.events.get().offsets.astype(np.int32))
        lists = pa.ListArray.from_arrays(offsets, events.to_arrow())
        cells = self._computed(solutions) if solutions.columns is None else self._columns(solutions)
        order = (solutions.certain, solutions.end, _places(solutions))
        return self._batch((solutions.start, solutions.end), solutions.queries, cells, names.to_arrow(), lists, order)

    def events(self, found: Iterable[tuple[Solutions, int, str, Event]], host: Host) -> Iterator[pa.RecordBatch]:
        """The events that rows make, as N-Triples."""
        made = list(found)
        if not made:
            return
        refs = [solutions.events.get() for solutions, _, _, _ in made]
        ids = [
            host.log.ids(lists.refs[lists.offsets[number] : lists.offsets[number + 1]]).to_list()
            for lists, (_, number, _, _) in zip(refs, made, strict=True)
        ]
        times = [(int(s.certain[n]), int(s.end[n]), int(_places(s)[n])) for s, n, _, _ in made]
        order = tuple(np.array(column, np.int64) for column in zip(*times, strict=True))
        values = [serialize(event.triples, Format.N_TRIPLES).decode() for _, _, _, event in made]
        cells = [pa.array([event.id for _, _, _, event in made], pa.string()), pa.array(values, pa.string())]
        names = pa.array([name for _, _, name, _ in made], pa.string())
        between = [np.array([getattr(event, side) for *_, event in made], np.int64) for side in ("start", "end")]
        numbers = [None if s.queries is None else s.queries[n] for s, n, _, _ in made]
        queries = None if None in numbers else np.array(numbers, np.int64)
        yield self._batch(between, queries, cells, names, pa.array(ids, pa.list_(pa.string())), order)

    def _columns(self, solutions: Solutions) -> list[Any]:
        build = struct_column if self.terms == "struct" else lexical_column
        terms, found = solutions.terms, []
        assert solutions.columns is not None
        own = dict(zip(solutions.names, solutions.columns, strict=True))
        for name, kind in self.columns.values():
            tags, bits = own[name].tags, own[name].bits
            found.append(typed_array(tags, bits, terms, kind) if self._is_typed else build(tags, bits, terms))
        return found

    def _computed(self, solutions: Solutions) -> list[Any]:
        leaf = None if self._is_typed else self._term
        rows = [solutions.bindings(number) for number in range(len(solutions))]
        return [array_of([row.get(name) for row in rows], kind, leaf) for name, kind in self.columns.values()]

    @property
    def _is_typed(self) -> bool:
        """Whether values keep the types of the input's columns."""
        output = self.stage.program.output
        return self.terms == "text" and self.attributes is not None and isinstance(output, Rows) and output.plain

    def _term(self, term: Term) -> Any:
        return term_struct(term) if self.terms == "struct" else csv_text(term)

    def _batch(
        self,
        between: Sequence[NDArray[np.int64]],
        queries: NDArray[np.int64] | None,
        cells: list[Any],
        names: Any,
        events: Any,
        order: Sequence[NDArray[np.int64]],
    ) -> pa.RecordBatch:
        schema = self.schema()
        time = schema.field("end").type
        times = [pa.array(np.ascontiguousarray(each), mask=each == OPEN_END).cast(time) for each in between]
        if self.stage.numbers_queries:
            times.append(pa.array(queries, pa.int32()))
        nothing = [pa.nulls(len(names), pa.string())] * len(self.reported)
        hidden = [pa.array(np.ascontiguousarray(each)) for each in order if self.ordered]
        return pa.RecordBatch.from_arrays([*times, *cells, names, events, *nothing, *hidden], schema=schema)

    def problem_rows(self, listed: Iterable[ProblemRow]) -> pa.RecordBatch:
        """Rows of problems: all other columns are null."""
        names = list(zip(INNER, self.reported, strict=False))
        rows = [{inner: getattr(each, name) for inner, name in names} for each in listed]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


def _places(solutions: Solutions) -> NDArray[np.int64]:
    return solutions.start if solutions.rank is None else solutions.rank


def problem_row(found: BadEvent, stream: str) -> ProblemRow:
    """The row of a bad event, or of a bad cell, whose line is in its reason: its event has no other."""
    reason = f"line {found.line}, {found.reason}" if isinstance(found, BadCell) else found.reason
    return ProblemRow(found.problem, reason, found.text, stream)


def timed_out_rows(found: Iterable[TimedOut]) -> list[ProblemRow]:
    """Partial matches that timed out, reported with their last events."""
    return [ProblemRow("timed_out", each.reason, each.ids[-1], each.stream) for each in found]
