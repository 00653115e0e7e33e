"""RDF terms (RDF 1.1 Concepts, section 3). `==` compares terms, never values: `"1"` and `"01"` are two integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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
    """A blank node, known by a label that means something in its own graph only.

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
        """N-Triples, canonical."""
        quoted = f'"{self.value.translate(_ESCAPES)}"'
        if self.language is not None:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == XSD_STRING else f"{quoted}^^<{self.datatype}>"

    @property
    def python(self) -> object:
        """The value as Python has it (see `thence.rdf.values.python`); the lexical form where there is no value."""
        from thence.rdf.values import python  # values stand on terms

        return python(self)


Term: TypeAlias = IRI | BlankNode | Literal


class Triple(NamedTuple):
    subject: Term
    predicate: Term
    object: Term


class Quad(NamedTuple):
    subject: Term
    predicate: Term
    object: Term
    graph: Term | None  # None: the default graph
