"""Columns of values as Arrow arrays of text or structs; each distinct term is materialised once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import Terms
from thence.columns.tagged_values import SHORTEST
from thence.columns.term_values import term_of
from thence.columns.value_kinds import NONE
from thence.rdf.terms import BlankNode, Literal, Term

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


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
    """As `repr` writes them.

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
    """What `struct` makes: as in SPARQL 1.1 Query Results JSON."""
    import pyarrow as pa

    return pa.struct([(name, pa.string()) for name in ("type", "value", "datatype", "language")])


def struct_column(tags: NDArray[Any], bits: Ints, terms: Terms) -> pa.Array:
    """A column of values as structs that tell terms whole; null for unbound."""
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
