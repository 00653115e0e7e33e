"""The W3C's tests of N-Triples, N-Quads, Turtle and TriG, through `parse`, and what events are written in
through their own readers too."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pyoxigraph as ox
import pytest

from thence.columns.dictionary import UNBOUND
from thence.errors import RdfError
from thence.io.nquads_lines import scan_quads
from thence.io.trig import trig_chunks
from thence.rdf.documents import Format, parse, to_ox_quad
from thence.rdf.events import BadEvent
from thence.rdf.terms import Quad
from w3c.manifest import Entry, File, entries, needs_data, parameters

pytestmark = pytest.mark.usefixtures("however_many")

SUITES = ("rdf-n-triples", "rdf-n-quads", "rdf-turtle", "rdf-trig")
TESTS = tuple(entry for suite in SUITES for entry in entries(f"rdf/rdf11/{suite}/manifest.ttl"))
POSITIVE = tuple(entry for entry in TESTS if entry.type.endswith("PositiveSyntax"))
NEGATIVE = tuple(entry for entry in TESTS if "Negative" in entry.type)
EVALUATION = tuple(entry for entry in TESTS if entry.type.endswith("Eval") and entry not in NEGATIVE)
LEGAL_TRIG = tuple(entry for entry in (*POSITIVE, *EVALUATION) if entry.folder.endswith("rdf-trig"))
ILLEGAL_TRIG = tuple(entry for entry in NEGATIVE if entry.folder.endswith("rdf-trig"))
LEGAL_LINES = tuple(entry for entry in POSITIVE if entry.folder.endswith(("rdf-n-triples", "rdf-n-quads")))
ILLEGAL_LINES = tuple(entry for entry in NEGATIVE if entry.folder.endswith(("rdf-n-triples", "rdf-n-quads")))


def read(file: File) -> list[Quad]:
    return list(parse(file.path.read_bytes(), Format.of(file.path), base=file.iri))


def read_stream(file: File) -> list[Quad]:
    with file.path.open("rb") as stream:
        return list(parse(stream, Format.of(file.path), base=file.iri))


def read_chunks(file: File, chunk: int) -> list[bytes | BadEvent]:
    return list(trig_chunks(io.BytesIO(file.path.read_bytes()), base=file.iri, chunk=chunk))


def canonical(quads: Iterable[Quad | ox.Quad]) -> ox.Dataset:
    dataset = ox.Dataset(quad if isinstance(quad, ox.Quad) else to_ox_quad(quad) for quad in quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.mark.parametrize("entry", parameters((*POSITIVE, *EVALUATION)))
def test_a_legal_document_is_read_at_once_and_from_a_stream(entry: Entry) -> None:
    assert read_stream(entry.action) == read(entry.action)


@pytest.mark.parametrize("entry", parameters(NEGATIVE))
def test_an_illegal_document_is_refused(entry: Entry) -> None:
    with pytest.raises(RdfError):
        read(entry.action)
    with pytest.raises(RdfError):
        read_stream(entry.action)


@pytest.mark.parametrize("entry", parameters(EVALUATION))
def test_a_document_means_what_it_should(entry: Entry) -> None:
    assert entry.result is not None
    assert canonical(read(entry.action)) == canonical(read(entry.result))


@pytest.mark.numba
@pytest.mark.parametrize("entry", parameters(LEGAL_LINES))
def test_lines_are_scanned_into_the_same_quads(entry: Entry) -> None:
    quads = scan_quads(entry.action.path.read_bytes())
    columns = (quads.subjects, quads.predicates, quads.objects, quads.graphs)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    assert not quads.errors
    assert [Quad(*(quads.terms[i] if i != UNBOUND else None for i in row)) for row in rows] == read(entry.action)


@pytest.mark.numba
@pytest.mark.parametrize("entry", parameters(ILLEGAL_LINES))
def test_an_illegal_line_is_an_error_of_the_scanner(entry: Entry) -> None:
    assert scan_quads(entry.action.path.read_bytes()).errors


@pytest.mark.parametrize("entry", parameters(LEGAL_TRIG))
def test_an_event_file_is_read_in_pieces_of_any_size(entry: Entry) -> None:
    expected = canonical(read(entry.action))
    for chunk in (1, 7, 1 << 16):
        chunks = read_chunks(entry.action, chunk)
        nquads = b"".join(chunk for chunk in chunks if isinstance(chunk, bytes))
        assert not [chunk for chunk in chunks if isinstance(chunk, BadEvent)]
        assert canonical(ox.parse(nquads, ox.RdfFormat.N_QUADS)) == expected


@pytest.mark.parametrize("entry", parameters(ILLEGAL_TRIG))
def test_an_illegal_event_file_has_a_bad_event(entry: Entry) -> None:
    for chunk in (1, 7, 1 << 16):
        assert any(isinstance(chunk, BadEvent) for chunk in read_chunks(entry.action, chunk))


@needs_data
def test_the_suites_are_all_there(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            f"\nW3C RDF 1.1 (N-Triples, N-Quads, Turtle, TriG): {len(POSITIVE)} positive syntax tests and "
            f"{len(EVALUATION)} evaluation tests pass, {len(NEGATIVE)} negative syntax tests are refused"
        )
    assert (len(POSITIVE), len(EVALUATION), len(NEGATIVE)) == (266, 288, 272)
