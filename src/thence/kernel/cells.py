"""Columns of values as columns of terms, each distinct one made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.program.values import term_of
from thence.rdf.dictionary import Terms
from thence.rdf.tags import NONE
from thence.rdf.terms import BlankNode, Literal, Term

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def distinct_terms(tags: NDArray[Any], bits: Ints, terms: Terms) -> tuple[list[Term], Ints]:
    """The distinct terms of a column of values, and of each row, which it is; -1 for unbound."""
    import pyarrow as pa

    found: list[Term] = []
    where = np.full(len(tags), -1, np.int64)
    alike = bool(len(tags)) and bool((tags == tags[0]).all())
    for tag in tags[:1].tolist() if alike else np.unique(tags).tolist():
        if tag == NONE:
            continue
        rows = slice(None) if alike else np.flatnonzero(tags == tag)
        encoded = pa.array(np.ascontiguousarray(bits[rows])).dictionary_encode()
        where[rows] = encoded.indices.to_numpy() + len(found)
        made = (term_of(tag, value, terms) for value in encoded.dictionary.to_pylist())
        found += [term for term in made if term is not None]
    return found, where


def lexical(tags: NDArray[Any], bits: Ints, terms: Terms) -> pa.Array:
    """A column of values as texts, as SPARQL's CSV has them; null for unbound."""
    import pyarrow as pa

    found, where = distinct_terms(tags, bits, terms)
    return pa.array([csv_text(term) for term in found], pa.string()).take(_indices(where))


def csv_text(term: Term) -> str:
    return f"_:{term.value}" if isinstance(term, BlankNode) else term.value


def struct_type() -> pa.DataType:
    """What `struct` makes: as in SPARQL 1.1 Query Results JSON."""
    import pyarrow as pa

    return pa.struct([(name, pa.string()) for name in ("type", "value", "datatype", "language")])


def structs(tags: NDArray[Any], bits: Ints, terms: Terms) -> pa.Array:
    """A column of values as structs that tell terms whole; null for unbound."""
    import pyarrow as pa

    found, where = distinct_terms(tags, bits, terms)
    return pa.array([described(term) for term in found], struct_type()).take(_indices(where))


def described(term: Term) -> dict[str, str | None]:
    """
    >>> described(Literal("chat", language="fr"))["language"]
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
