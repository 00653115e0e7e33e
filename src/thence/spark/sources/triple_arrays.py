"""Arrays of triples, one a row, as N-Triples: structs of `s`, `p` and `o`, each the text of a term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thence.columns.arrow_values import is_text

_IRI = r"<[^<>\s]*>"
_LABEL = r"_:[^<>\"\s]+"
_LITERAL = r'"(?:[^"\\\n\r]|\\[^\n\r])*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?'
_POSITIONS = {
    "s": ("subject", f"^(?:{_IRI}|{_LABEL})$", "<http://…> or _:label"),
    "p": ("predicate", f"^{_IRI}$", "<http://…>"),
    "o": ("object", f"^(?:{_IRI}|{_LABEL}|{_LITERAL})$", '<http://…>, _:label or "text"'),
}
"""What each field of a triple is called, what it may look like, and how one writes it. What looks so is one term,
wherever it is written: it can't end a line, or begin a comment."""


def are_triples(kind: Any) -> bool:
    """Whether an Arrow type is that of an array of triples."""
    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind)) or not types.is_struct(kind.value_type):
        return False
    fields = {field.name: field.type for field in kind.value_type}
    return all(name in fields and is_text(fields[name]) for name in _POSITIONS)


def triples_as_documents(array: Any, faults: dict[int, str]) -> Any:
    """The documents of some rows, as an Arrow array of bytes; `faults` has by row why there is none."""
    for row in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
        faults.setdefault(row, 'no graph: "graph" is empty')
    rows = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
    triples = array.flatten()
    fields = dict(zip((field.name for field in triples.type), triples.flatten(), strict=True))
    parts = []
    for name, (called, pattern, cure) in _POSITIONS.items():
        part = fields[name].cast(pa.binary())
        fits = pc.fill_null(pc.match_substring_regex(part, pattern), False).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(~fits)
        _, firsts = np.unique(rows[wrong], return_index=True)  # one reason a row does
        for index in wrong[firsts].tolist():
            text = part[index].as_py()
            shown = "null" if text is None else f'"{text[:320].decode("utf-8", "replace"):.80}"'
            faults.setdefault(int(rows[index]), f"{shown} is no {called}. Try: {cure}, as in N-Triples")
        parts.append(part)
    lines = pc.binary_join_element_wise(*parts, pa.scalar(b".\n"), pa.scalar(b" "))
    counts = np.bincount(rows, minlength=len(array))
    ends = np.concatenate([[0], np.cumsum(pc.fill_null(pc.binary_length(lines), 0).to_numpy(zero_copy_only=False))])
    bounds = ends[np.concatenate([[0], np.cumsum(counts)])].astype(np.int32)
    joined = b"".join(line for line in lines.to_pylist() if line is not None)
    return pa.BinaryArray.from_buffers(pa.binary(), len(array), [None, pa.py_buffer(bounds), pa.py_buffer(joined)])
