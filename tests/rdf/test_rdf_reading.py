"""Reading RDF: five formats, lexical forms as written, places in errors, files plain and gzipped, stores."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from thence.errors import InputError, LimitError, Place, RdfError
from thence.io.background_data import from_store, nquads_of
from thence.io.gunzip import open_input
from thence.rdf.documents import BlankNodeLabels, Format, parse, rdf_11, to_ox_quad
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Quad

S, P, G = (IRI(f"http://e/{name}") for name in "spg")
DOCUMENTS = {
    Format.N_TRIPLES: '<http://e/s> <http://e/p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    Format.N_QUADS: '<http://e/s> <http://e/p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e/g> .',
    Format.TURTLE: "@prefix : <http://e/> . :s :p 01 .",
    Format.TRIG: "@prefix : <http://e/> . :g { :s :p 01 }",
    Format.JSON_LD: '{"@id": "http://e/g", "@graph": {"@id": "http://e/s", "http://e/p": '
    '{"@value": "01", "@type": "http://www.w3.org/2001/XMLSchema#integer"}}}',
}


@pytest.mark.parametrize("format", Format)
def test_every_format_is_read_from_text_bytes_and_streams(format: Format) -> None:
    text = DOCUMENTS[format]
    expected = [Quad(S, P, Literal("01", XSD + "integer"), G if format.has_graphs else None)]
    assert list(parse(text, format)) == expected
    assert list(parse(text.encode(), format)) == expected
    assert list(parse(io.BytesIO(text.encode()), format)) == expected
    assert list(parse(b"\xef\xbb\xbf" + text.encode(), format)) == expected
    assert list(parse(text.replace(" ", "\r\n") if format is Format.TURTLE else text + "\r\n", format)) == expected


@pytest.mark.parametrize("form", ["01", "+1", "1.50", ".5", "1e0", "1.0E+00", "true"])
def test_lexical_forms_stay_as_written(form: str) -> None:
    (quad,) = parse(f"<x:s> <x:p> {form} .", Format.TURTLE)
    assert quad.object.value == form


def test_language_tags_are_in_lower_case() -> None:
    (quad,) = parse('<x:s> <x:p> "chat"@FR-be .', Format.TURTLE)
    assert quad.object == Literal("chat", language="fr-be")


def test_relative_iris_need_a_base() -> None:
    assert [quad.object for quad in parse("<s> <p> <o> .", Format.TURTLE, base="http://e/x")] == [IRI("http://e/o")]
    with pytest.raises(RdfError, match="No scheme found"):
        list(parse("<s> <p> <o> .", Format.TURTLE))
    with pytest.raises(InputError, match="is not a base IRI"):
        list(parse("<s> <p> <o> .", Format.TURTLE, base="not an IRI"))


def test_blank_nodes_keep_their_labels_and_anonymous_ones_are_numbered() -> None:
    text = "_:x <x:p> [ <x:p> ( 1 ) ] , _:anon0 ."
    first, second = list(parse(text, Format.TURTLE)), list(parse(text, Format.TURTLE))
    assert first == second
    labels = {term.value for quad in first for term in quad if isinstance(term, BlankNode)}
    assert labels == {"x", "anon0", "anon1", "anon2"}


def test_labels_in_lines_are_never_changed() -> None:
    label = "d684ec134b6e42bc190808778ab5dd7c"
    (quad,) = parse(f"_:{label} <x:p> _:anon7 .", Format.N_QUADS)
    assert quad == Quad(BlankNode(label), IRI("x:p"), BlankNode("anon7"), None)


@pytest.mark.parametrize(
    ("text", "format", "place", "reason"),
    [
        ("<x:s> <x:p> 1 .\n<x:s> <x:p> ] .", Format.TURTLE, (2, 13), "] is not a valid RDF object"),
        ("<x:s> <x:é> 'é' , ] .", Format.TURTLE, (1, 19), "] is not a valid RDF object"),
        ("<x:s> <x:p> <x:o> .\n<x:s> <x: p> <x:o> .", Format.N_QUADS, (2, 7), "Invalid IRI code point ' '"),
        ("<x:s> <x:p> <<( <x:s> <x:p> 1 )>> .", Format.TURTLE, (1, 13), "RDF 1.2 is not supported"),
        ("<< <x:s> <x:p> 1 >> <x:p> 1 .", Format.TURTLE, (1, 1), "RDF 1.2 is not supported"),
        ("<x:s> <x:p>\n 1 {| <x:p> 1 |} .", Format.TURTLE, (2, 4), "RDF 1.2 is not supported"),
        ("<x:s> <x:p> <x:o> ~ <x:r> .", Format.TRIG, (1, 19), "RDF 1.2 is not supported"),
        ("<x:s> <x:p> <<( <x:s> <x:p> <x:o> )>> .", Format.N_TRIPLES, (1, 13), "RDF 1.2 is not supported"),
        ('<x:s> <x:p> "x"@en--ltr .', Format.N_TRIPLES, None, "without base directions"),
        ('{"@context": "http://e/c", "p": 1}', Format.JSON_LD, None, "a remote context, which is never fetched"),
        ('{"a": 1,}', Format.JSON_LD, (1, 9), ""),
    ],
)
def test_an_error_tells_its_place_and_its_reason(
    text: str, format: Format, place: tuple[int, int] | None, reason: str
) -> None:
    for data in (text, io.BytesIO(text.encode())):
        with pytest.raises(RdfError) as refused:
            list(parse(data, format, source="f"))
        assert reason in refused.value.reason
        assert refused.value.place == (Place(*place, "f") if place else None)
        assert (refused.value.line, refused.value.column) == (place or (None, None))


def test_what_stands_before_an_error_is_read() -> None:
    quads = parse("<x:s> <x:p> 1, 2 . ]", Format.TURTLE)
    assert [next(quads).object.value for _ in range(2)] == ["1", "2"]
    with pytest.raises(RdfError):
        next(quads)


def test_a_tilde_or_a_double_bracket_in_a_string_or_an_iri_does_no_harm() -> None:
    assert len(list(parse("<http://e/~x> <x:p> '<<', '~', '{|', 'a--b' . # << ~", Format.TURTLE))) == 4


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.nt", Format.N_TRIPLES),
        ("a.nq.gz", Format.N_QUADS),
        ("a.b.TTL", Format.TURTLE),
        ("a.n3", Format.TURTLE),
        ("dir.nq/a.trig", Format.TRIG),
        ("a.jsonld.gz", Format.JSON_LD),
    ],
)
def test_a_file_name_tells_the_format(name: str, format: Format) -> None:
    assert Format.of(name) is Format.of(Path(name)) is format


def test_an_unknown_ending_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"a\.rdf: the ending is not that of an RDF format\. Try: \.nt, \.nq, \.ttl, "):
        Format.of("a.rdf")


def test_plain_and_gzipped_files_are_opened(tmp_path: Path) -> None:
    text = b"x" * 100_000 + b"end"
    plain, packed, members = (tmp_path / name for name in ("a.nq", "b.nq.gz", "c.nq.gz"))
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    members.write_bytes(gzip.compress(text[:5000]) + gzip.compress(b"") + gzip.compress(text[5000:]) + b"\0" * 20)
    for path in (plain, packed, members, str(packed)):
        with open_input(path) as file:
            assert file.read() == text
    (tmp_path / "empty.gz").write_bytes(b"")
    with open_input(tmp_path / "empty.gz") as file:
        assert file.read() == b""


def test_what_can_not_be_opened_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.nq: no such file"):
        open_input(tmp_path / "missing.nq")
    with pytest.raises(InputError, match="is a folder, not a file"):
        open_input(tmp_path)
    (tmp_path / "plain.nq.gz").write_bytes(b"<x:s> <x:p> <x:o> .")
    with pytest.raises(
        InputError, match=r"plain\.nq\.gz is not a gzip file, or a damaged one\. Try: a name without \.gz"
    ):
        open_input(tmp_path / "plain.nq.gz")
    (tmp_path / "cut.nq.gz").write_bytes(gzip.compress(b"<x:s> <x:p> <x:o> .")[:-9])
    with open_input(tmp_path / "cut.nq.gz") as file, pytest.raises(InputError, match="ends in the middle"):
        file.read()


def test_a_small_file_may_be_as_repetitive_as_it_likes(tmp_path: Path) -> None:
    path = tmp_path / "a.nq.gz"
    path.write_bytes(gzip.compress(b"\n" * 1_000_000))
    with open_input(path) as file:
        assert len(file.read()) == 1_000_000
    with (
        open_input(path, limits=Limits(event_bytes=1000)) as file,
        pytest.raises(LimitError, match="more than 200 times"),
    ):
        file.read()


QUADS = [
    Quad(S, P, Literal("01", XSD + "integer"), None),
    Quad(S, P, Literal("chat", language="fr"), G),
    Quad(BlankNode("b"), P, BlankNode("c"), G),
    Quad(S, P, Literal("x"), BlankNode("h")),
]


def test_a_pyoxigraph_store_or_dataset_gives_its_quads() -> None:
    nquads = "".join(" ".join(map(str, filter(None, quad))) + " .\n" for quad in QUADS[1:])
    for store in (ox.Store(), ox.Dataset()):
        for quad in ox.parse(nquads, ox.RdfFormat.N_QUADS):
            store.add(quad)
        assert set(from_store(store)) == set(QUADS[1:])


def test_an_rdflib_graph_or_dataset_gives_its_quads() -> None:
    dataset = rdflib.Dataset()
    s, p, g = (rdflib.URIRef(term.value) for term in (S, P, G))
    dataset.default_graph.add((s, p, rdflib.Literal("01", datatype=rdflib.XSD.integer, normalize=False)))
    dataset.graph(g).add((s, p, rdflib.Literal("chat", lang="fr")))
    dataset.graph(g).add((rdflib.BNode("b"), p, rdflib.BNode("c")))
    dataset.graph(rdflib.BNode("h")).add((s, p, rdflib.Literal("x")))
    assert set(from_store(dataset)) == set(QUADS)
    assert set(from_store(dataset.graph(g))) == {quad._replace(graph=None) for quad in QUADS[1:3]}


def test_anything_else_is_no_store() -> None:
    with pytest.raises(
        InputError, match=r"dict is not a store\. Try: an rdflib Graph or Dataset, or a pyoxigraph Store"
    ):
        list(from_store({}))


def test_files_and_stores_become_n_quads_in_pieces_of_whole_lines(tmp_path: Path) -> None:
    for format, text in DOCUMENTS.items():
        path = tmp_path / ("a" + format.endings[0])
        path.write_text(text + "\n")
        pieces = list(nquads_of(path))
        assert all(piece.endswith(b"\n") for piece in pieces)
        assert list(parse(b"".join(pieces), Format.N_QUADS)) == list(parse(text, format))
    store = ox.Store()
    store.extend(ox.parse(DOCUMENTS[Format.TRIG], ox.RdfFormat.TRIG))
    assert len(list(parse(b"".join(nquads_of(store)), Format.N_QUADS))) == 1


def test_a_faulty_file_is_an_error_with_its_name_and_place(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<x:s> <x:p> 1 .\n<x:s> ] .")
    with pytest.raises(RdfError) as refused:
        list(nquads_of(path))
    assert str(refused.value).startswith(f"{path}:2:7: ")
    path.write_text('<x:s> <x:p> "x"@en--ltr .')
    with pytest.raises(RdfError, match="base directions"):
        list(nquads_of(path))


LABELS = [
    "d684ec134b6e42bc190808778ab5dd7c",
    "d684ec134b6e42bc1908",
    "anon0",
    "anon7",
    "anon7x",
    "anon",
    "house",
    "d684",
]
NODES = st.sampled_from(LABELS).map(BlankNode)
IRIS = st.sampled_from(["x:_:anon0", "x:p--ltr", "x:<<"]).map(lambda value: IRI(value.replace("<", "%3C")))
TEXTS = st.lists(
    st.sampled_from([*(f"_:{label} " for label in LABELS), '"', "\\", "\n", " ", '"@en--ltr ', "\n_:anon0 ", " <<( "])
)
LITERALS = TEXTS.map("".join).flatmap(lambda text: st.sampled_from([Literal(text), Literal(text, language="en-x-b")]))
WRITTEN = st.builds(Quad, NODES | IRIS, IRIS, NODES | IRIS | LITERALS, st.none() | NODES | IRIS)


@given(st.lists(WRITTEN, min_size=1, max_size=8))
def test_labels_are_made_steady_in_the_nodes_of_written_quads_and_nowhere_else(quads: list[Quad]) -> None:
    labels, expected = BlankNodeLabels(), []
    for quad in quads:
        terms = (BlankNode(labels.of(term.value)) if isinstance(term, BlankNode) else term for term in quad)
        expected.append(Quad(*terms))  # type: ignore[arg-type]
    made = rdf_11(ox.serialize(map(to_ox_quad, quads), format=ox.RdfFormat.N_QUADS), BlankNodeLabels())
    assert list(parse(made, Format.N_QUADS)) == expected


@pytest.mark.parametrize(
    ("object", "refused"),
    [
        ('"x"@en--ltr', True),
        ('"a \\" b"@en-GB--rtl', True),
        ("<<( <x:s> <x:p> <x:o> )>>", True),
        ('"a"@en <x:g--ltr>', False),
        ('"\\"@en--ltr"', False),
        ('" <<( "', False),
        ("<x:a--b>", False),
    ],
)
def test_what_only_rdf_12_has_is_refused_in_written_quads(object: str, refused: bool) -> None:
    line = f"<x:s> <x:p> {object} .\n".encode()
    if refused:
        with pytest.raises(RdfError, match=r"RDF 1\.2 is not supported"):
            rdf_11(line, BlankNodeLabels())
    else:
        assert rdf_11(line, BlankNodeLabels()) == line
