"""All matches as one Arrow table: numbers and durations as such, anything else as its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.canonical_terms import NON_CANONICAL
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.row_order import gather
from thence.columns.value_columns import constant, holds_term_id, single_tag, term_of, values_of
from thence.columns.value_kinds import (
    BOOLEAN,
    DATETIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    INTEGER,
    KIND_MASK,
    NONE,
    OTHER,
    SCALE_SHIFT,
)
from thence.interface.output import OPEN_END
from thence.interface.solutions import AnswerValue, Row, Solutions
from thence.jit.pointers import read_columns
from thence.rdf.terms import XSD, Literal
from thence.rdf.times import Domain
from thence.runtime.results import column_names

if TYPE_CHECKING:
    import pyarrow as pa


def python_cell(cell: AnswerValue | None) -> Any:
    """A cell as Python has it: numbers, texts, lists and dicts.

    >>> from thence.rdf.terms import XSD, Literal
    >>> python_cell((Literal("7", "http://www.w3.org/2001/XMLSchema#integer"), None))
    [7, None]
    """
    match cell:
        case tuple():
            return [python_cell(each) for each in cell]
        case Mapping():
            return {name: python_cell(each) for name, each in cell.items()}
        case Literal():
            return cell.python
        case None:
            return None
        case _:
            return cell.value


def _as_texts(cell: Any) -> Any:
    match cell:
        case list():
            return [_as_texts(each) for each in cell]
        case dict():
            return {name: _as_texts(each) for name, each in cell.items()}
        case None:
            return None
        case _:
            return str(cell)


def _texts(cell: AnswerValue | None) -> list[str | None] | None:
    if not isinstance(cell, tuple):
        return None
    return [None if each is None or isinstance(each, Mapping) else each.value for each in cell]


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Some rows of a column; one tag for all of them, if they have one."""

    tag: int | None
    tags: NDArray[Any]
    bits: Ints

    @property
    def kinds(self) -> set[int]:
        """The kinds of values; NONE means unbound."""
        tags = self.tags if self.tag is None else self.tags[:1]
        return set(np.unique(tags & KIND_MASK).tolist()) - {NONE}


@dataclass(slots=True)
class _TableColumn:
    chunks: list[_Chunk] = field(default_factory=list)
    lists: list[Any] | None = None  # for COLLECT


@dataclass(slots=True)
class MatchTable:
    """Matches as they come, column by column; `terms` is the dictionary of values without a canonical form."""

    names: Sequence[str]  # of the columns
    plain: bool = False  # values without a datatype, whose lists and structs keep their types
    numbered: bool = False  # with a column `query`
    terms: Terms = field(default_factory=Terms)
    times: list[tuple[Ints, Ints]] = field(default_factory=list)
    queries: list[Ints] = field(default_factory=list)
    columns: dict[str, _TableColumn] = field(init=False)
    _state: Terms | None = None
    _entered: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # by id there, the id here

    def __post_init__(self) -> None:
        self.columns = {name: _TableColumn() for name in self.names}

    def add(self, solutions: Solutions, order: Ints | None) -> None:
        """Rows in an order; None is the order they have."""
        if solutions.columns is None or solutions.names != tuple(self.names):
            self.add_rows(solutions.rows(order))
            return
        values = solutions.columns
        wanted = [solutions.start, solutions.end, *(column.bits for column in values)]
        if order is not None or not (solutions.is_compact and all(each.flags.c_contiguous for each in wanted)):
            wanted = list(read_columns(wanted, order))  # else kept as they are: a copy would not be smaller
        starts, ends, *bits = wanted
        self.times.append((starts, ends))
        if solutions.queries is not None:
            self.queries.append(solutions.queries if order is None else solutions.queries[order])
        for column, found, own in zip(self.columns.values(), bits, values, strict=True):
            kinds = own.tags
            if single_tag(kinds) is not None or (len(kinds) and (kinds == kinds[0]).all()):
                column.chunks.append(self._chunk(constant(int(kinds[0]), found).tags, found, solutions.terms))
                continue
            ordered = kinds.copy() if order is None else kinds[order]
            column.chunks.append(self._chunk(ordered, found, solutions.terms))

    def _chunk(self, tags: NDArray[Any], bits: Ints, state: Terms) -> _Chunk:
        """Values, with ids of our own dictionary."""
        tag = single_tag(tags)
        if tag is not None:
            return _Chunk(tag, tags, self._moved(bits, state) if holds_term_id(tag) else bits)
        named = holds_term_id(tags)
        moved = bits.copy()  # the matches' own may be others' too
        moved[named] = self._moved(bits[named], state)
        return _Chunk(None, tags, moved)

    def _moved(self, ids: Ints, state: Terms) -> Ints:
        """Ids of the state's dictionary as ids here."""
        if self._state is not state:
            self._state, self._entered = state, np.empty(0, np.int64)
        if len(self._entered) < len(state):
            more = np.full(len(state) - len(self._entered), UNBOUND, np.int64)
            self._entered = np.concatenate([self._entered, more])
        found, is_lacking = gather(self._entered, ids)
        if is_lacking:
            new = np.flatnonzero(np.bincount(ids[found == UNBOUND])).astype(np.int32)
            self._entered[new] = self.terms.import_all(state, new)
            found, _ = gather(self._entered, ids)
        return found

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Rows of any query."""
        made = list(rows)
        starts, ends = [row.start for row in made], [row.end for row in made]
        self.times.append((np.array(starts, np.int64), np.array(ends, np.int64)))
        if self.numbered:
            self.queries.append(np.array([row.query for row in made], np.int64))
        for name, column in self.columns.items():
            cells = [row.bindings.get(name) for row in made]
            if column.lists is not None or any(isinstance(cell, tuple | Mapping) for cell in cells):
                column.lists = column.lists or []
                column.lists += map(python_cell, cells) if self.plain else map(_texts, cells)
                continue
            source, ids = Terms(), np.full(len(cells), UNBOUND, np.int32)
            bound = [(number, cell) for number, cell in enumerate(cells) if cell is not None]
            ids[[number for number, _ in bound]] = source.add_all(cell for _, cell in bound)  # type: ignore[misc]
            values = values_of(ids, source, self.terms)
            column.chunks.append(_Chunk(None, values.tags, values.bits))

    def _array(self, cells: list[Any]) -> pa.Array:
        """Lists of texts; of SASE+ whatever the cells are, which are texts where they are not all alike."""
        import pyarrow as pa

        if not self.plain:
            return pa.array(cells, pa.list_(pa.string()))
        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return pa.array([_as_texts(cell) for cell in cells])

    def table(self, domain: Domain) -> pa.Table:
        """The table of all added matches: `start`, `end`, `query` where it is numbered, and a column for each variable.
        `domain` is that of the times."""
        import pyarrow as pa

        kind = pa.int64() if domain is Domain.TICKS else pa.timestamp("us", "UTC")
        arrays = {
            name: pa.chunked_array(
                [pa.array(pair[side], mask=np.asarray(pair[side] == OPEN_END)).cast(kind) for pair in self.times], kind
            )
            for side, name in enumerate(("start", "end"))
        }
        if self.numbered:
            arrays["query"] = pa.chunked_array([pa.array(each, pa.int32()) for each in self.queries], pa.int32())
        texts = _Texts(self.terms)
        for name, column in zip(column_names(list(self.columns)), self.columns.values(), strict=True):
            if column.lists is not None:
                arrays[name] = pa.chunked_array([self._array(column.lists)])
            else:
                arrays[name] = _typed(column.chunks, texts, plain=self.plain)
        return pa.table(arrays)


def _typed(chunks: Sequence[_Chunk], texts: _Texts, *, plain: bool) -> pa.ChunkedArray:
    """Values as Arrow has them: numbers, booleans or durations, if they are all of one such kind; plain ones also
    decimals, dates and timestamps, as on Spark; else texts."""
    import pyarrow as pa

    kinds = set().union(*(chunk.kinds for chunk in chunks))
    if kinds == {INTEGER}:
        return pa.chunked_array([_numbers(chunk, chunk.bits) for chunk in chunks])
    if kinds == {DOUBLE}:
        return pa.chunked_array([_numbers(chunk, chunk.bits.view(np.float64)) for chunk in chunks])
    if kinds == {BOOLEAN}:
        return pa.chunked_array([_numbers(chunk, chunk.bits != 0) for chunk in chunks])
    if kinds == {DURATION}:
        return pa.chunked_array([_numbers(chunk, chunk.bits.view("m8[us]")) for chunk in chunks])
    found = pa.chunked_array([texts.of(chunk) for chunk in chunks], pa.string())
    kind = _type_of(chunks, kinds, texts) if plain else None
    try:
        return found if kind is None else found.cast(kind)
    except pa.ArrowInvalid:  # a value beyond the type
        return found


def _type_of(chunks: Sequence[_Chunk], kinds: set[int], texts: _Texts) -> pa.DataType | None:
    """The type of values that are not all text, or of one kind of numbers."""
    import pyarrow as pa

    if DECIMAL in kinds and kinds <= {INTEGER, DECIMAL}:
        scale = max(
            int((chunk.tags[chunk.tags & KIND_MASK == DECIMAL] >> SCALE_SHIFT).max(initial=0)) for chunk in chunks
        )
        return pa.decimal128(38, scale)
    if kinds and kinds <= {INTEGER, DECIMAL, DOUBLE}:
        return pa.float64()
    if kinds and kinds <= {OTHER, DATETIME, NON_CANONICAL}:
        datatypes = set().union(*(texts.datatypes(chunk) for chunk in chunks))
        if datatypes == {XSD + "date"}:
            return pa.date32()
        return pa.timestamp("us", "UTC") if datatypes == {XSD + "dateTime"} else None
    return None


def _numbers(chunk: _Chunk, values: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    if chunk.tag is None:
        return pa.array(values, mask=chunk.tags == NONE)
    return pa.array(values) if chunk.tag != NONE else pa.nulls(len(values), pa.from_numpy_dtype(values.dtype))


@dataclass(frozen=True)
class _Texts:
    """Values as texts, each term's made once."""

    terms: Terms

    @cached_property
    def of_terms(self) -> pa.Array:
        import pyarrow as pa

        return pa.array([self.terms[number].value for number in range(len(self.terms))], pa.string())

    def datatypes(self, chunk: _Chunk) -> set[str]:
        """Those of a chunk's literals; other terms have an empty one."""
        tags = chunk.tags
        held = holds_term_id(tags)
        found = {XSD + "dateTime"} if bool(np.any(~held & (tags & KIND_MASK == DATETIME))) else set()
        terms = (self.terms[number] for number in np.unique(chunk.bits[held & (tags != NONE)]).tolist())
        return found | {term.datatype if isinstance(term, Literal) else "" for term in terms}

    def of(self, chunk: _Chunk) -> pa.Array:
        import pyarrow as pa

        if chunk.tag is not None and holds_term_id(chunk.tag):
            return self.of_terms.take(pa.array(chunk.bits))
        none = chunk.tags == NONE
        others = np.flatnonzero(~holds_term_id(chunk.tags) & ~none)
        pairs, where = np.unique(
            np.stack([chunk.tags[others], chunk.bits[others]], axis=1), axis=0, return_inverse=True
        )
        numbers = (term_of(tag, value, self.terms) for tag, value in pairs.tolist())
        texts = pa.array([None if term is None else term.value for term in numbers], pa.string())
        indices = chunk.bits.copy()
        indices[others] = len(self.of_terms) + where.reshape(-1)
        return pa.concat_arrays([self.of_terms, texts]).take(pa.array(indices, mask=none))
