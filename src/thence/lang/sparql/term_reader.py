"""Terms: IRIs, literals, blank nodes and variables as they are written in SPARQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count

from lark import Token

from thence.algebra.expressions import Variable
from thence.lang.syntax import offset
from thence.lang.text import Text
from thence.lang.tree_reader import TreeReader
from thence.lang.words import name
from thence.rdf.iris import is_absolute, resolve
from thence.rdf.terms import IRI, PROV, RDF, RDFS, XSD, BlankNode, Literal

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OWN_LABEL = re.compile(r"_:(b[0-9]+)")
_NUMBERS = {"INTEGER": XSD + "integer", "DECIMAL": XSD + "decimal", "DOUBLE": XSD + "double"}
_WELL_KNOWN = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "prov": PROV,
    "owl": "http://www.w3.org/2002/07/owl#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "sosa": "http://www.w3.org/ns/sosa/",
}


class TermReader(TreeReader):
    """Prologue and terms (4.1 of the standard)."""

    def __init__(self, text: Text, *, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.base = base
        self.prefixes = dict(prefixes or {})
        self._labels = _labels(text.read)
        self.labelled: dict[BlankNode, int] = {}  # where each label stands last

    # Prologue

    def prologue(self, *_: None) -> None:
        """Its declarations have done their work when they were read."""

    def base_decl(self, iri: Token) -> None:
        self.base = self._resolve(iri)

    def prefix_decl(self, prefix: Token, iri: Token) -> None:
        self.prefixes[prefix[:-1]] = self._resolve(iri)

    # Terms

    def var(self, token: Token) -> Variable:
        return Variable(token[1:])

    def iri(self, written: Token | IRI) -> IRI:
        return written if isinstance(written, IRI) else IRI(self._resolve(written))

    def a(self, _: Token) -> IRI:
        return IRI(RDF + "type")

    def prefixed_name(self, token: Token) -> IRI:
        prefix, _, local = token.partition(":")
        if prefix not in self.prefixes:
            known = _WELL_KNOWN.get(prefix, "http://example.org/")
            reason = f'The prefix "{prefix}:" is not defined.'
            raise self.error(reason, at=offset(token), hint=f"PREFIX {prefix}: <{known}>")
        return IRI(self.prefixes[prefix] + _ESCAPED.sub(r"\1", local))

    def string(self, token: Token) -> str:
        quotes = 3 if token[:3] in ('"""', "'''") else 1
        return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), token[quotes:-quotes])

    def rdf_literal(self, value: str, kind: Token | IRI | None = None) -> Literal:
        match kind:
            case None:
                return Literal(value)
            case IRI():
                return Literal(value, kind.value)
            case _:
                return Literal(value, language=kind[1:])

    def numeric_literal_unsigned(self, token: Token) -> Literal:
        return Literal(str(token), _NUMBERS[name(token.type).partition("_")[0]])

    numeric_literal_positive = numeric_literal_unsigned
    numeric_literal_negative = numeric_literal_unsigned

    def boolean_literal(self, token: Token) -> Literal:
        return Literal(token.lower(), XSD + "boolean")

    def nil(self) -> IRI:
        return IRI(RDF + "nil")

    def blank_node(self, label: Token | None = None) -> BlankNode:
        if label is None:
            return self.anonymous()
        node = BlankNode(label[2:])
        self.labelled[node] = offset(label)
        return node

    def anonymous(self) -> BlankNode:
        """A blank node with a label that stands nowhere in the text: the same text always gives the same labels."""
        return BlankNode(next(self._labels))

    def _resolve(self, token: Token) -> str:
        reference = token[1:-1]
        if is_absolute(reference):
            return reference
        if self.base is None:
            reason = f"The IRI <{reference}> is relative, and there is no base to resolve it against."
            raise self.error(reason, at=offset(token), hint="BASE <http://example.org/>")
        return resolve(reference, self.base)


def _labels(text: str) -> Iterator[str]:
    taken = set(_OWN_LABEL.findall(text))
    return (label for label in (f"b{number}" for number in count()) if label not in taken)
