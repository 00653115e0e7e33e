"""Kinds of predicates in TEF-SPARQL: inferred and checked (TEF-1 to TEF-16)."""

from __future__ import annotations

from thence.algebra.tef_sparql import TefFile
from thence.program.facts.kind_checks import checked
from thence.program.facts.kind_inference import Inference
from thence.program.facts.kind_table import Kinds, asks_now, now_comparison
from thence.rdf.terms import IRI

__all__ = ["Kinds", "asks_now", "now_comparison", "predicate_kinds"]


def predicate_kinds(file: TefFile, background_predicates: frozenset[IRI] | None = frozenset()) -> Kinds:
    """The kinds of a file's predicates, or a QueryError that says where in the text it is.

    `background_predicates` are those that the background has. None says that it is not known yet: then a clash that a
    background may resolve is no error (TEF-16).

    >>> from thence.lang.tef_sparql.parser import parse
    >>> kinds = predicate_kinds(parse("CONSTRUCT ?p liveIn ?x WHERE (SINCE ?p bornIn ?x) UNION (UNTIL ?p leaves ?x)"))
    >>> kinds.of(IRI("http://example.org/liveIn")), kinds.of(IRI("http://example.org/bornIn"))
    (<Kind.FACT: 'fact'>, <Kind.EVENT: 'event'>)
    """
    kinds = Inference(file, background_predicates or frozenset()).kinds()
    return checked(file, kinds, background_is_known=background_predicates is not None)
