"""Arrow arrays as columns of values, and columns of values as Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.arrays import Ints
from thence.columns.canonical_terms import SHORTEST
from thence.columns.dictionary import Terms
from thence.columns.shared_dictionary import SharedTerms
from thence.columns.value_columns import Tagged, constant, term_of, values_of_terms
from thence.columns.value_kinds import NONE
from thence.rdf.events import value_term
from thence.rdf.terms import XSD, BlankNode, Literal, Term
from thence.rdf.times import Domain, format_time

if TYPE_CHECKING:
    import pyarrow as pa


# Arrow arrays as columns of values: a tag and 64 bits a row, as in `canonical_terms.as_values`.
#
# A type without a fast path becomes terms by `typed_events.value_term`, once for each distinct value; both paths give
# equal pairs for equal terms.

_BEYOND = 10**18
"""Numbers with more digits than 18 are terms: the dictionary gives them no value either."""

_NAN = int(np.float64(np.nan).view(np.int64))
_DAY = 86_400_000_000
_UNITS = {"s": 1_000_000, "ms": 1000, "us": 1}


@dataclass(frozen=True, slots=True, eq=False)
class AttributeColumn:
    """A column of a table. `read` parses its texts, if they are not plain text."""

    name: str
    array: Any
    read: Callable[[str], object] | None = None


def has_values(kind: Any) -> bool:
    """Whether values of an Arrow type can be attributes of typed events."""
    types = pa.types
    if types.is_dictionary(kind):
        return has_values(kind.value_type)
    if types.is_union(kind):
        return all(has_values(kind.field(number).type) for number in range(kind.num_fields))
    known = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, is_text)
    return any(test(kind) for test in (*known, types.is_date, types.is_timestamp, types.is_duration))


def is_text(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def dictionary_encoded(array: Any) -> Any:
    """Text as a dictionary array; anything else as a plain one."""
    if pa.types.is_dictionary(array.type):
        if is_text(array.type.value_type) and not array.dictionary.null_count:
            # a row group's dictionary comes with each of its batches, though they use a part of it
            return array if len(array.dictionary) <= len(array) else _compact(array)
        array = array.dictionary_decode()
    if not is_text(array.type):
        return array
    plain = array.cast(pa.string()) if pa.types.is_string_view(array.type) else array
    return plain.dictionary_encode()


def _compact(array: Any) -> Any:
    """The same texts, in a dictionary without others."""
    used, where = np.unique(indices(array), return_inverse=True)
    mask = ~is_valid(array) if array.null_count else None
    return pa.DictionaryArray.from_arrays(
        pa.array(where.astype(np.int32), mask=mask), array.dictionary.take(pa.array(used))
    )


def tagged_column(column: AttributeColumn, shared: SharedTerms) -> Tagged:
    """The values of a column; texts and values without a canonical form enter the dictionary."""
    if pa.types.is_union(column.array.type):
        return _of_kinds(column, shared)
    array = dictionary_encoded(column.array)
    found = _tagged(AttributeColumn(column.name, array, column.read), shared)
    if not array.null_count:
        return found
    valid = is_valid(array)
    return Tagged(np.where(valid, found.tags, np.uint16(value_kinds.NONE)), np.where(valid, found.bits, 0))


def _of_kinds(column: AttributeColumn, shared: SharedTerms) -> Tagged:
    """The values of a sparse union: in each row, one of its children has a value, or none."""
    array = column.array
    tags, bits = np.full(len(array), NONE, np.uint16), np.zeros(len(array), np.int64)
    for number in range(array.type.num_fields):
        child = tagged_column(AttributeColumn(column.name, array.field(number)), shared)
        given = child.tags != NONE
        tags[given], bits[given] = child.tags[given], child.bits[given]
    return Tagged(tags, bits)


def _tagged(column: AttributeColumn, shared: SharedTerms) -> Tagged:
    array, types = column.array, pa.types
    kind = array.type
    if types.is_dictionary(kind):
        return _texts(column, shared)
    if types.is_null(kind):
        return constant(value_kinds.NONE, np.zeros(len(array), np.int64))
    if types.is_boolean(kind):
        return constant(value_kinds.BOOLEAN, buffer_numbers(array.cast(pa.uint8())).astype(np.int64))
    if types.is_integer(kind):
        return _integers(buffer_numbers(array), shared.terms)
    if types.is_floating(kind):
        return _doubles(buffer_numbers(array))
    if types.is_decimal(kind):
        return _decimals(column, shared.terms)
    if types.is_date32(kind):
        return _days(buffer_numbers(array.view(pa.int32())).astype(np.int64), shared.terms)
    if types.is_date64(kind):
        return _days(buffer_numbers(array.view(pa.int64())) // 86_400_000, shared.terms)
    if types.is_duration(kind):
        return constant(value_kinds.DURATION, microseconds(array).times)
    return _moments(microseconds(array).times, shared.terms)


def _texts(column: AttributeColumn, shared: SharedTerms) -> Tagged:
    def term(text: str) -> Term:
        return value_term(column.name, text if column.read is None else column.read(text))

    if not len(column.array.dictionary):
        return constant(value_kinds.NONE, np.zeros(len(column.array), np.int64))
    ids = shared.ids(column.name, column.array.dictionary, term)
    if column.read is not None:
        return values_of_terms(ids, shared.terms).spread(indices(column.array))
    return constant(value_kinds.STRING, ids).spread(indices(column.array))


def name_column(column: str, array: Any, make: Callable[[Any], Term], shared: SharedTerms) -> Tagged:
    """The values of a column of names, each of which is an IRI or a blank node."""
    array = dictionary_encoded(array)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    if not len(array.dictionary):
        return constant(value_kinds.NONE, np.zeros(len(array), np.int64))
    found = values_of_terms(shared.ids(column, array.dictionary, make), shared.terms).spread(indices(array))
    if not array.null_count:
        return found
    return Tagged(np.where(is_valid(array), found.tags, np.uint16(value_kinds.NONE)), found.bits)


def _integers(numbers: NDArray[Any], terms: Terms) -> Tagged:
    found = constant(value_kinds.INTEGER, numbers.astype(np.int64, copy=False))
    if numbers.dtype.itemsize < 8 or not len(numbers):
        return found
    if numbers.max() < _BEYOND and (numbers.dtype.kind == "u" or numbers.min() > -_BEYOND):
        return found
    beyond = (numbers >= _BEYOND) | (numbers <= -_BEYOND if numbers.dtype.kind == "i" else False)
    return _replaced(found, np.flatnonzero(beyond), numbers[beyond].tolist(), terms)


def _doubles(numbers: NDArray[Any]) -> Tagged:
    doubles = numbers.astype(np.float64, copy=False)
    bits = doubles.view(np.int64)
    if np.isfinite(doubles).all():
        return constant(SHORTEST, bits)
    kinds = np.where(np.isfinite(doubles), np.uint16(SHORTEST), np.uint16(value_kinds.DOUBLE))
    return Tagged(kinds, np.where(np.isnan(doubles), _NAN, bits))  # NaN is one term, whatever its bits


def _decimals(column: AttributeColumn, terms: Terms) -> Tagged:
    """128 bits as 64 where they fit, without zeros at the end."""
    array = column.array
    if array.type.bit_width < 128:
        array = array.cast(pa.decimal128(38, array.type.scale))
    exact = np.zeros(len(array), np.bool_)
    number, scale = np.zeros(len(array), np.int64), np.zeros(len(array), np.int64)
    if array.type.bit_width == 128 and array.type.scale >= 0:
        halves = np.frombuffer(array.buffers()[1] or b"", np.int64).reshape(-1, 2)
        halves = halves[array.offset : array.offset + len(array)]
        number, scale = halves[:, 0].copy(), scale + array.type.scale
        exact = halves[:, 1] == number >> 63
        while (shorter := exact & (scale > 0) & (number % 10 == 0)).any():
            number[shorter] //= 10
            scale[shorter] -= 1
        exact &= (number < _BEYOND) & (number > -_BEYOND) & (scale <= value_kinds.MAX_SCALE)
    if array.null_count:
        exact |= ~is_valid(array)
    found = Tagged(
        (value_kinds.DECIMAL | np.where(exact, scale, 0) << value_kinds.SCALE_SHIFT).astype(np.uint16), number
    )
    slow = np.flatnonzero(~exact)
    return _replaced(found, slow, array.take(pa.array(slow)).to_pylist(), terms) if len(slow) else found


def _replaced(found: Tagged, rows: Ints, values: Sequence[object], terms: Terms) -> Tagged:
    """Some rows by way of terms."""
    slow = values_of_terms(terms.add_all(value_term("", value) for value in values), terms)
    kinds, bits = np.array(found.tags), np.array(found.bits)
    kinds[rows], bits[rows] = slow
    return Tagged(kinds, bits)


def _days(days: Ints, terms: Terms) -> Tagged:
    distinct, where = np.unique(days, return_inverse=True)
    texts = (format_time(day * _DAY, Domain.DATETIME).partition("T")[0] for day in distinct.tolist())
    return values_of_terms(terms.add_all(Literal(text, XSD + "date") for text in texts), terms).spread(where)


def _moments(times: Ints, terms: Terms) -> Tagged:
    distinct, where = np.unique(times, return_inverse=True)
    texts = (format_time(time, Domain.DATETIME) for time in distinct.tolist())
    return values_of_terms(terms.add_all(Literal(text, XSD + "dateTime") for text in texts), terms).spread(where)


class Timestamps(NamedTuple):
    """Timestamps or durations in microseconds, and which of them are not: finer, or out of range."""

    times: Ints
    too_fine: NDArray[np.bool_]
    too_far: NDArray[np.bool_]


def microseconds(array: Any) -> Timestamps:
    """An Arrow array of timestamps or durations; what is null is anything."""
    ticks = buffer_numbers(array.view(pa.int64()))
    nothing = np.zeros(len(ticks), np.bool_)
    if array.type.unit == "ns":
        return Timestamps(ticks // 1000, ticks % 1000 != 0, nothing)
    factor = _UNITS[array.type.unit]
    if factor == 1:
        return Timestamps(ticks, nothing, nothing)
    most = (2**63 - 1) // factor
    return Timestamps(ticks * factor, nothing, (ticks > most) | (ticks < -most))


# Arrow's buffers


def buffer_numbers(array: Any) -> NDArray[Any]:
    """The numbers of an array, without a copy; null rows have arbitrary values."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(len(array), array.type.to_pandas_dtype())
    numbers = np.frombuffer(buffer, array.type.to_pandas_dtype(), count=array.offset + len(array))
    return numbers[array.offset :]


def indices(array: Any) -> NDArray[Any]:
    """The index of each row's value in its dictionary; null rows have an arbitrary index."""
    found = buffer_numbers(array.indices)
    return np.where(is_valid(array), found, 0) if array.null_count else found


def is_valid(array: Any) -> NDArray[np.bool_]:
    valid: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


# Columns of values as Arrow arrays of text or structs; each distinct term is materialised once.


def distinct_values(tags: NDArray[Any], bits: Ints) -> tuple[list[tuple[int, Ints]], Ints]:
    """The distinct values of a column, by tag, and of each row, which of all of them it is; -1 for unbound."""
    import pyarrow as pa

    found: list[tuple[int, Ints]] = []
    where = np.full(len(tags), -1, np.int64)
    alike = bool(len(tags)) and bool((tags == tags[0]).all())
    count = 0
    for tag in tags[:1].tolist() if alike else np.unique(tags).tolist():
        if tag == NONE:
            continue
        rows = slice(None) if alike else np.flatnonzero(tags == tag)
        encoded = pa.array(np.ascontiguousarray(bits[rows])).dictionary_encode()
        where[rows] = encoded.indices.to_numpy() + count
        count += len(encoded.dictionary)
        found.append((tag, encoded.dictionary.to_numpy()))
    return found, where


def _terms_of(tag: int, bits: Ints, terms: Terms) -> list[Term]:
    found = (term_of(tag, value, terms) for value in bits.tolist())
    return [term for term in found if term is not None]


def lexical_column(tags: NDArray[Any], bits: Ints, terms: Terms) -> pa.Array:
    """A column of values as texts, as SPARQL's CSV has them; null for unbound."""
    import pyarrow as pa

    found, where = distinct_values(tags, bits)
    texts = [_texts_of(tag, values, terms) for tag, values in found] or [pa.array([], pa.string())]
    return (texts[0] if len(texts) == 1 else pa.concat_arrays(texts)).take(_indices(where))


def _texts_of(tag: int, bits: Ints, terms: Terms) -> pa.Array:
    import pyarrow as pa

    if tag == SHORTEST:  # nearly all numbers of tables are these, and there may be a distinct one in each row
        return texts_of_doubles(bits.view(np.float64))
    return pa.array([csv_text(term) for term in _terms_of(tag, bits, terms)], pa.string())


def texts_of_doubles(values: NDArray[np.float64]) -> pa.Array:
    """The texts of doubles, as `repr` writes them.

    >>> texts_of_doubles(np.array([99.5, 7.0, 1e300])).to_pylist()
    ['99.5', '7.0', '1e+300']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    size = np.abs(values)
    if not (((size >= 1e-4) & (size < 1e9)) | (size == 0)).all():  # Arrow writes other exponents, from others on
        return pa.array(map(repr, values.tolist()), pa.string())
    texts = pa.array(values).cast(pa.string())
    whole = values == np.floor(values)
    if not whole.any():
        return texts
    return pc.if_else(pa.array(whole), pc.binary_join_element_wise(texts, ".0", ""), texts)


def csv_text(term: Term) -> str:
    return f"_:{term.value}" if isinstance(term, BlankNode) else term.value


def struct_type() -> pa.DataType:
    """The Arrow type of `struct`: as in SPARQL 1.1 Query Results JSON."""
    import pyarrow as pa

    return pa.struct([(name, pa.string()) for name in ("type", "value", "datatype", "language")])


def struct_column(tags: NDArray[Any], bits: Ints, terms: Terms) -> pa.Array:
    """A column of values as structs with type, value, datatype and language; null for unbound."""
    import pyarrow as pa

    found, where = distinct_values(tags, bits)
    listed = [term_struct(term) for tag, values in found for term in _terms_of(tag, values, terms)]
    return pa.array(listed, struct_type()).take(_indices(where))


def term_struct(term: Term) -> dict[str, str | None]:
    """
    >>> term_struct(Literal("chat", language="fr"))["language"]
    'fr'
    """
    kind = "literal" if isinstance(term, Literal) else "bnode" if isinstance(term, BlankNode) else "uri"
    return {
        "type": kind,
        "value": term.value,
        "datatype": term.datatype if isinstance(term, Literal) and not term.language else None,
        "language": (term.language or None) if isinstance(term, Literal) else None,
    }


def _indices(where: Ints) -> pa.Array:
    import pyarrow as pa

    return pa.array(where, pa.int64(), mask=where < 0 if (where < 0).any() else None)
