"""Many small Turtle texts parsed as one TriG document: a call of the RDF library costs more than a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import ThenceError
from thence.io.nquads_lines import scan_quads
from thence.rdf.documents import BOM, GENERATED, Format, as_nquads
from thence.rdf.limits import Limits

_FEW = 4
"""Texts that are parsed one by one, once it is known that one of them is wrong."""

# A text can be a part of a document if it can't end its graph, declare a prefix, open a string of several lines, or
# hide what follows behind a `#`; if it ends as Turtle must; and if its blank nodes have labels that stay as they are.
_LABELS = GENERATED.encode() + rb"|anon[0-9]"
_APART = re.compile(rb"[{}\[(]|<<|\"\"\"|'''|(?i:prefix|base|version)[\s<\"']|_:(?:" + _LABELS + rb")|" + BOM)
_SIGNS = (b"{", b"}", b"[", b"(", b"<<", b'"""', b"'''", b"prefix", b"base", b"version", b"_:", BOM)
"""Without any of these, nothing of `_APART` is in a text."""
_IRI = re.compile(rb"<[^<>\s]*>")


def parts(texts: Sequence[bytes]) -> list[int]:
    """The numbers of the Turtle texts that mean the same as the content of a graph in TriG.

    >>> parts([b"<u:a> <u:b#c> 7 .", b"<u:a> <u:b> 7 } <u:g> {", b"<u:a> <u:b> 7 # ."])
    [0]
    """
    all_are = _are_tame(b"\n".join(texts))  # mostly so, and quicker than a look at each
    return [number for number, text in enumerate(texts) if _has_end(text) and (all_are or _is_part(text))]


def _are_tame(texts: bytes) -> bool:
    lower = texts.lower()
    if any(sign in lower for sign in _SIGNS):
        return False
    return b"#" not in texts or b"#" not in _IRI.sub(b"", texts)


def _is_part(text: bytes) -> bool:
    return not _APART.search(text) and (b"#" not in text or b"#" not in _IRI.sub(b"", text))


def _has_end(text: bytes) -> bool:
    stripped = text.rstrip()
    return not stripped or stripped.endswith(b".")


def triples_of(texts: Sequence[bytes], terms: Terms, limits: Limits) -> tuple[NDArray[np.int32], list[int]]:
    """The triples of some texts that can be parts: columns of the text's number, subject, predicate and object, in
    order; and the numbers of texts that must be parsed alone, because something may be wrong with them."""
    found: list[NDArray[np.int32]] = []
    alone: list[int] = []
    together = max(1, limits.nesting)  # so many brackets need no look at how deep they are
    waiting = [(first, min(first + together, len(texts))) for first in reversed(range(0, len(texts), together))]
    while waiting:
        first, last = waiting.pop()
        try:
            quads = _quads(texts[first:last], terms, limits)
        except ThenceError:
            quads = None
        if quads is not None:
            quads[0] += first
            found.append(quads)
        elif last - first <= _FEW:
            alone += range(first, last)
        else:
            middle = (first + last) // 2
            waiting += [(middle, last), (first, middle)]
    return np.concatenate([np.empty((4, 0), np.int32), *found], axis=1), alone


def _quads(texts: Sequence[bytes], terms: Terms, limits: Limits) -> NDArray[np.int32] | None:
    document = b"".join(b"<%s%d> {\n%s\n}\n" % (_GRAPH, number, text) for number, text in enumerate(texts))
    quads = scan_quads(as_nquads(document, Format.TRIG, limits=limits), terms=terms)
    if quads.errors or (quads.graphs == UNBOUND).any():
        return None
    graphs, where = np.unique(quads.graphs, return_inverse=True)
    numbers = [int(text[len(_GRAPH) + 1 : -1]) for text in terms.texts(graphs)]
    owners = np.array(numbers, np.int32)[where]
    return np.stack([owners, quads.subjects, quads.predicates, quads.objects])


_GRAPH = b"urn:x-thence:"
