"""RDF terms (RDF 1.1 Concepts, section 3), and relative IRIs against a base (RFC 3986, section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

# RDF terms (RDF 1.1 Concepts, section 3). `==` compares terms, never values: `"1"` and `"01"` are two integers.

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
PROV = "http://www.w3.org/ns/prov#"

XSD_STRING = XSD + "string"
RDF_LANG_STRING = RDF + "langString"

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


@dataclass(frozen=True, slots=True)
class IRI:
    """An IRI, without its angle brackets.

    >>> print(IRI("http://example.org/house"))
    <http://example.org/house>
    """

    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"

    @property
    def python(self) -> str:
        """Its text."""
        return self.value


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node, identified by a label within its own graph.

    >>> print(BlankNode("b0"))
    _:b0
    """

    value: str

    def __str__(self) -> str:
        return f"_:{self.value}"

    @property
    def python(self) -> str:
        """Its label."""
        return self.value


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal: lexical form, datatype's IRI, and a language tag (in lower case) where the datatype is rdf:langString.

    >>> print(Literal("21.50", XSD + "decimal"), Literal("chat", language="FR"), Literal('say "hi"'))
    "21.50"^^<http://www.w3.org/2001/XMLSchema#decimal> "chat"@fr "say \\"hi\\""
    """

    value: str
    datatype: str = XSD_STRING
    language: str | None = None

    def __post_init__(self) -> None:
        if self.language is not None:
            object.__setattr__(self, "language", self.language.lower())
            object.__setattr__(self, "datatype", RDF_LANG_STRING)

    def __str__(self) -> str:
        """The canonical N-Triples text."""
        quoted = f'"{self.value.translate(_ESCAPES)}"'
        if self.language is not None:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    @property
    def python(self) -> object:
        """The value as a Python object (see `thence.rdf.values.python`); the lexical form if there is no value."""
        from thence.rdf.values import python  # values import terms

        return python(self)


Term: TypeAlias = IRI | BlankNode | Literal


class Triple(NamedTuple):
    subject: Term
    predicate: Term
    object: Term


def triples_of(terms: Iterable[Term]) -> tuple[Triple, ...]:
    """Triples, from a list of subjects, predicates and objects in turn."""
    listed = tuple(terms)
    return tuple(Triple(*listed[place : place + 3]) for place in range(0, len(listed), 3))


class Quad(NamedTuple):
    subject: Term
    predicate: Term
    object: Term
    graph: Term | None  # None: the default graph


# RFC 3986, appendix B; but what can't be a scheme (`2020-01-01T00:`) is left in the path
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_absolute(iri: str) -> bool:
    """Whether the IRI has a scheme.

    >>> is_absolute("urn:x"), is_absolute("data.ttl"), is_absolute("//host/x")
    (True, False, False)
    """
    return _ABSOLUTE.match(iri) is not None


def resolve(reference: str, base: str) -> str:
    """The IRI that a reference means. An IRI with a scheme is unchanged, because IRIs are compared letter by letter.

    >>> resolve("../g?y#s", "http://a/b/c/d;p?q")
    'http://a/b/g?y#s'
    """
    if is_absolute(reference):
        return reference
    scheme, base_authority, base_path, base_query, _ = _split(base)
    _, authority, path, query, fragment = _split(reference)
    if authority is None:
        authority = base_authority
        if path:
            path = _remove_dot_segments(path if path.startswith("/") else _merge(path, base_authority, base_path))
        else:
            path, query = base_path, base_query if query is None else query
    else:
        path = _remove_dot_segments(path)
    return _join(scheme, authority, path, query, fragment)


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(iri)
    assert found is not None  # every string has these parts
    return found[1], found[2], found[3], found[4], found[5]


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    parts = (
        "" if scheme is None else f"{scheme}:",
        "" if authority is None else f"//{authority}",
        path,
        "" if query is None else f"?{query}",
        "" if fragment is None else f"#{fragment}",
    )
    return "".join(parts)


def _merge(path: str, base_authority: str | None, base_path: str) -> str:
    if base_authority is not None and not base_path:
        return f"/{path}"
    return base_path[: base_path.rfind("/") + 1] + path


def _remove_dot_segments(path: str) -> str:
    """The path without dot segments (RFC 3986, 5.2.4), segment by segment."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0] != ""):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
