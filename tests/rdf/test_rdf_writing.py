"""Writing RDF: what is written is read as the same, and what is not RDF is not written."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.errors import InputError, RdfError
from thence.rdf.documents import Format, parse, serialize, to_ox_quad
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Quad, Term, Triple

S, P = IRI("http://e/s"), IRI("http://e/p")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
iris = st.sampled_from([S, P, IRI("http://e/é?x=1&y=%20#z"), IRI("urn:x")])
blank_nodes = st.sampled_from([BlankNode("b"), BlankNode("b1.2-c"), BlankNode("anon0")])
literals = st.one_of(
    st.builds(Literal, text),
    st.builds(Literal, text, st.sampled_from([XSD + "integer", XSD + "double", "http://e/type"])),
    st.builds(lambda value, language: Literal(value, language=language), text, st.sampled_from(["en", "de-AT"])),
)
subjects: st.SearchStrategy[Term] = iris | blank_nodes
triples = st.builds(Triple, subjects, iris, subjects | literals)


def canonical(quads: list[Quad]) -> ox.Dataset:
    dataset = ox.Dataset(map(to_ox_quad, quads))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.mark.parametrize("format", Format)
@given(data=st.data())
def test_what_is_written_is_read_as_the_same(format: Format, data: st.DataObject) -> None:
    names = st.none() | subjects if format.has_graphs else st.none()
    quads = [Quad(*triple, data.draw(names)) for triple in data.draw(st.lists(triples, max_size=5))]
    written = serialize(quads, format, prefixes={"e": "http://e/"})
    assert canonical(list(parse(written, format))) == canonical(quads)


def test_triples_and_quads_are_written_with_the_prefixes_that_are_given() -> None:
    document = serialize([Triple(S, P, Literal("01", XSD + "integer"))], Format.TURTLE, prefixes={"e": "http://e/"})
    assert document == b"@prefix e: <http://e/> .\ne:s e:p 01 .\n"
    assert serialize([Quad(S, P, S, S)], Format.N_QUADS) == b"<http://e/s> <http://e/p> <http://e/s> <http://e/s> .\n"
    assert serialize([], Format.TRIG) == b""


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (Triple(IRI("no iri"), P, S), "is not an RDF term"),
        (Triple(IRI("http://e/>"), P, S), "is not an RDF term"),
        (Triple(S, P, Literal("x", "no iri")), "is not an RDF term"),
        (Triple(S, P, Literal("x", language="no tag")), "is not an RDF term"),
        (Triple(S, P, Literal("\ud800")), "is not an RDF term"),
        (Triple(BlankNode("a b"), P, S), "is not an RDF term"),
        (Triple(Literal("x"), P, S), "is not a triple: only its object may be a literal"),
        (Triple(S, BlankNode("b"), S), "its predicate must be an IRI"),
        (Quad(S, P, S, Literal("g")), "is not a triple"),
    ],
)
def test_what_is_no_rdf_is_not_written(statement: Triple | Quad, reason: str) -> None:
    with pytest.raises(RdfError) as refused:
        serialize([statement], Format.N_QUADS)
    assert reason in str(refused.value)
    str(refused.value).encode()


def test_a_named_graph_needs_a_format_that_has_them() -> None:
    with pytest.raises(InputError, match=r"can't be written in a format without graphs\. Try: TriG"):
        serialize([Quad(S, P, S, S)], Format.TURTLE)
    with pytest.raises(InputError, match="the prefixes can't be written"):
        serialize([Triple(S, P, S)], Format.TURTLE, prefixes={"e": "no iri"})
