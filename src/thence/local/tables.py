"""All matches as one Arrow table: numbers as numbers, anything else as its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.sequences import SelectRows, SequenceQuery
from thence.kernel.projection import Row
from thence.kernel.sequence import Matches
from thence.local.columns import column_names
from thence.program.sequence import SequenceProgram
from thence.program.values import term_of, values_of
from thence.rdf.dictionary import UNBOUND, Terms
from thence.rdf.tags import BOOLEAN, DOUBLE, INTEGER, KIND_MASK, NONE
from thence.rdf.terms import Term
from thence.rdf.times import Domain
from thence.rdf.value_columns import names_a_term

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def is_plain(query: SequenceQuery) -> bool:
    """Whether every row is a match's own variables, so that columns need not be made row by row."""
    form = query.form
    return isinstance(form, SelectRows) and not form.distinct and all(c.expression is None for c in form.columns)


@dataclass(slots=True)
class _Column:
    tags: list[Ints] = field(default_factory=list)
    bits: list[Ints] = field(default_factory=list)
    lists: list[Any] | None = None  # for COLLECT


@dataclass(slots=True)
class Collected:
    """Matches as they come, column by column; `terms` is the dictionary of what has no value of its own."""

    program: SequenceProgram
    domain: Domain
    terms: Terms = field(default_factory=Terms)
    times: list[tuple[Ints, Ints]] = field(default_factory=list)
    columns: dict[str, _Column] = field(init=False)

    def __post_init__(self) -> None:
        form = self.program.query.form
        names = [column.variable.name for column in form.columns] if isinstance(form, SelectRows) else []
        self.columns = {name: _Column() for name in names}

    def add_matches(self, matches: Matches, state: Terms) -> None:
        """Matches of a plain query; `state` is the dictionary of their values."""
        self.times.append((matches.first, matches.last))
        for name, column in self.columns.items():
            number = self.program.outputs.index(Variable(name))
            tags = matches.tags[:, number]
            column.tags.append(tags)
            column.bits.append(self._entered(tags, matches.bits[:, number], state))

    def join(self, chunks: int) -> None:
        """Make one chunk of the last so many."""
        starts, ends = (np.concatenate([pair[side] for pair in self.times[-chunks:]]) for side in (0, 1))
        self.times[-chunks:] = [(starts, ends)]
        for column in self.columns.values():
            column.tags[-chunks:] = [np.concatenate(column.tags[-chunks:])]
            column.bits[-chunks:] = [np.concatenate(column.bits[-chunks:])]

    def reorder(self, order: Ints) -> None:
        """Put the rows of the last chunk into an order."""
        starts, ends = self.times[-1]
        self.times[-1] = starts[order], ends[order]
        for column in self.columns.values():
            column.tags[-1] = column.tags[-1][order]
            column.bits[-1] = column.bits[-1][order]

    def bindings(self, row: int) -> dict[str, Term]:
        """What a row of the last chunk binds."""
        cells = (
            (name, term_of(int(column.tags[-1][row]), int(column.bits[-1][row]), self.terms))
            for name, column in self.columns.items()
        )
        return {name: term for name, term in cells if term is not None}

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Rows of any query."""
        made = list(rows)
        starts, ends = [row.start for row in made], [row.end for row in made]
        self.times.append((np.array(starts, np.int64), np.array(ends, np.int64)))
        for name, column in self.columns.items():
            cells = [row.bindings.get(name) for row in made]
            if column.lists is not None or any(isinstance(cell, tuple) for cell in cells):
                column.lists = column.lists or []
                column.lists += [[t.value for t in cell] if isinstance(cell, tuple) else None for cell in cells]
                continue
            source, ids = Terms(), np.full(len(cells), UNBOUND, np.int32)
            bound = [(number, cell) for number, cell in enumerate(cells) if cell is not None]
            ids[[number for number, _ in bound]] = source.add_all(cell for _, cell in bound)  # type: ignore[misc]
            values = values_of(ids, source, self.terms)
            column.tags.append(values.tags.astype(np.int64))
            column.bits.append(values.bits)

    def _entered(self, tags: Ints, bits: Ints, state: Terms) -> Ints:
        """The bits, with ids of our own dictionary."""
        alike = bool(len(tags)) and (tags == tags[0]).all()  # the most frequent case, and the cheapest
        if alike and not names_a_term(int(tags[0])):
            return bits
        named = names_a_term(tags) & (tags != NONE)
        if not named.any():
            return bits
        used = np.zeros(len(state), np.bool_)
        used[bits[named]] = True
        ids = np.flatnonzero(used)
        moved = np.empty(len(state), np.int64)
        moved[ids] = self.terms.import_all(state, ids.astype(np.int32))
        if named.all():
            entered: Ints = moved[bits]
            return entered
        bits = bits.copy()
        bits[named] = moved[bits[named]]
        return bits

    def table(self) -> pa.Table:
        """All that was added: `start`, `end`, and a column for each variable."""
        import pyarrow as pa

        kind = pa.int64() if self.domain is Domain.TICKS else pa.timestamp("us", "UTC")
        starts, ends = (_together([pair[side] for pair in self.times]) for side in (0, 1))
        arrays = {"start": pa.array(starts).cast(kind), "end": pa.array(ends).cast(kind)}
        for name, column in zip(column_names(list(self.columns)), self.columns.values(), strict=True):
            if column.lists is not None:
                arrays[name] = pa.array(column.lists, pa.list_(pa.string()))
            else:
                arrays[name] = typed_array(_together(column.tags), _together(column.bits), self.terms)
        return pa.table(arrays)


def _together(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def typed_array(tags: Ints, bits: Ints, terms: Terms) -> pa.Array:
    """Values as an Arrow array: of numbers or booleans, if they are all of one such kind, else of texts."""
    import pyarrow as pa

    unbound = tags == NONE
    mask = unbound if unbound.any() else None
    alike = len(tags) and (tags == tags[0]).all()
    kinds = set(np.unique((tags[:1] if alike else tags) & KIND_MASK).tolist()) - {NONE}
    if kinds == {INTEGER}:
        return pa.array(bits, pa.int64(), mask=mask)
    if kinds == {DOUBLE}:
        return pa.array(bits.view(np.float64), pa.float64(), mask=mask)
    if kinds == {BOOLEAN}:
        return pa.array(bits != 0, pa.bool_(), mask=mask)
    return _texts(tags, bits, terms)


def _texts(tags: Ints, bits: Ints, terms: Terms) -> pa.Array:
    """Values as texts, each distinct one made once."""
    import pyarrow as pa

    indices = np.full(len(tags), -1, np.int64)
    named = names_a_term(tags) & (tags != NONE)
    ids = np.flatnonzero(np.bincount(bits[named], minlength=1))
    texts = [terms[number].value for number in ids.tolist()]
    places = np.zeros(int(ids[-1]) + 1 if len(ids) else 0, np.int64)
    places[ids] = np.arange(len(ids))
    indices[named] = places[bits[named]]
    others = np.flatnonzero(~named & (tags != NONE))
    if len(others):
        pairs, where = np.unique(np.stack([tags[others], bits[others]], axis=1), axis=0, return_inverse=True)
        indices[others] = len(texts) + where.reshape(-1)
        found = (term_of(tag, value, terms) for tag, value in pairs.tolist())
        texts += [term.value for term in found if term is not None]
    array = pa.array(indices, pa.int64(), mask=indices < 0)
    return pa.DictionaryArray.from_arrays(array, pa.array(texts, pa.string())).cast(pa.string())
