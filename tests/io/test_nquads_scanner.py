"""The scanner of plain N-Quads lines gives what the RDF library gives, line by line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thence.errors import RdfError
from thence.io.nquads_lines import scan_quads
from thence.rdf.documents import Format, parse
from thence.rdf.terms import Quad, Term

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("however_many")]

XSD = "http://www.w3.org/2001/XMLSchema#"

pieces = st.sampled_from(
    [
        "http://example.org/a",
        "http://h:80/p?q=1#f",
        "urn:x:y",
        "x:",
        "http://",
        "rel",
        "a:b c",
        "http://h/%41",
        "http://h/%4",
        "é:é",
        "http://é/",
        "a:b#c#d",
        "http://[::1]/",
        "http://u@h/",
        "http://h:8a/",
        ":",
        "1:a",
        "a:<",
        "a:\\u0041",
        "a:{}",
        "a:'()",
        "http://h?x#y",
        "a://",
        "a:b>c",
    ]
)
iris = st.one_of(pieces, st.text("abh:/#?%.é \\<>{}@", max_size=8)).map(lambda text: f"<{text}>")
labels = st.text("ab1_.-:é ", max_size=4).map(lambda text: f"_:{text}")
strings = st.text(st.sampled_from('ab"\\\t\né\U0001f600\x00\x01\x7f\r '), max_size=6).map(lambda text: f'"{text}"')
escaped = st.sampled_from([r'"\n"', r'"\u0041"', r'"\U0001F600"', r'"\x"', r'"\""', r'"\ud800"', '"'])
suffixes = st.sampled_from(
    [
        "",
        "@en",
        "@EN",
        "@en-US",
        "@en-us",
        "@zh-hans",
        "@",
        "@e",
        "@abcdefghi",
        "@en-",
        "@1",
        f"^^<{XSD}integer>",
        f"^^<{XSD}string>",
        "^^<x>",
        "^^",
        "^<x:y>",
        "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
        "@en--ltr",
    ]
)
literals = st.builds(lambda text, suffix: text + suffix, st.one_of(strings, escaped), suffixes)
terms = st.one_of(iris, labels, literals)
gaps = st.sampled_from([" ", "  ", "\t", "", " \t "])
ends = st.sampled_from([".", " .", " . ", ".\r", " . # comment", "", "..", " . <a:b>", ".#", "\t.\t"])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    shape = draw(st.sampled_from(["valid", "any", "empty"]))
    if shape == "empty":
        return draw(st.sampled_from([b"", b" ", b"# comment", b"\t# <a:b> <a:c> <a:d> .", b"\r"]))
    parts = [iris, iris, terms, iris] if shape == "valid" else [terms, terms, terms, terms, terms]
    count = draw(st.integers(3, 4)) if shape == "valid" else draw(st.integers(0, 5))
    text = "".join(draw(part) + draw(gaps) for part in parts[:count]) + draw(ends)
    return text.replace("\n", "").encode()


def by_the_library(line: bytes) -> list[Quad] | None:
    """The quads of a line, or None if it is no N-Quads."""
    try:
        return list(parse(line, Format.N_QUADS))
    except RdfError:
        return None


def scanned(data: bytes) -> list[tuple[int, tuple[Term | None, ...]]]:
    quads = scan_quads(data)
    rows = zip(quads.lines, quads.subjects, quads.predicates, quads.objects, quads.graphs, strict=True)
    return [
        (int(line), tuple(None if i < 0 else quads.terms[int(i)] for i in ids))
        for line, *ids in rows
        if int(line) not in quads.errors
    ]


@given(st.lists(lines(), max_size=6))
@example([b'<a:b> <a:c> "\xff" .'])
@example([b'<a:b> <a:c> "\xed\xa0\x80" <g:h> .', '<a:b> <a:c> "é" .'.encode()])
@example([b'<a:b> <a:c> "1"^^<a:b> <a:g> .', b'<a:b> <a:c> "1"^^<a:b> <a:g'])
def test_a_scanned_line_is_what_the_library_reads(listed: list[bytes]) -> None:
    expected = []
    for number, line in enumerate(listed):
        quads = by_the_library(line)
        if quads is not None and len(quads) == 1:
            expected.append((number, tuple(quads[0])))
    data = b"".join(line + b"\n" for line in listed)
    assert scanned(data) == expected


@given(st.lists(lines(), max_size=6))
def test_what_the_library_refuses_is_an_error_of_its_line(listed: list[bytes]) -> None:
    quads = scan_quads(b"".join(line + b"\n" for line in listed))
    for number, line in enumerate(listed):
        found = by_the_library(line)
        assert (number in quads.errors) == (found is None or len(found) > 1)


@pytest.mark.parametrize(
    "line",
    [
        b'<http://example.org/a> <http://example.org/b#c> "12"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:g> .\n',
        b"_:b0 <http://example.org/b?x=1&y> _:b1 .\r\n",
        '<a:b> <a:c> "naïve"@en <http://example.org:8080/g> .\n'.encode(),
    ],
)
def test_ordinary_lines_do_not_go_to_the_library(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.io.nquads_lines.SMALL", 0)
    monkeypatch.setattr("thence.io.nquads_lines.parse", None)
    assert len(scanned(line)) == 1


def test_the_dictionary_grows_while_scanning() -> None:
    data = b"".join(f'<a:s{i}> <a:p{i}> "{i}" <a:g{i}> .\n'.encode() for i in range(5000))
    found = scanned(data)
    assert len(found) == 5000
    assert [str(term) for term in found[4321][1]] == ["<a:s4321>", "<a:p4321>", '"4321"', "<a:g4321>"]
