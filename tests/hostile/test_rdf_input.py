"""Hostile RDF documents of every format: bounded time and memory, and a clear error."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from hostile.made import MiB, made
from thence.errors import InputError, LimitError, RdfError, ThenceError
from thence.io.background_data import nquads_of
from thence.io.gunzip import open_input
from thence.rdf.documents import Format, parse

pytestmark = pytest.mark.usefixtures("bounded")

LINES = (Format.N_TRIPLES, Format.N_QUADS)
TURTLES = (Format.TURTLE, Format.TRIG)


def refuse(format: Format, *parts: bytes | Iterable[bytes]) -> str:
    """Why a document is refused, which it is from a stream and, if it is not too long, from memory too."""
    with pytest.raises((RdfError, LimitError)) as refused:
        for _ in parse(made(*parts), format):
            pass
    if all(isinstance(part, bytes) for part in parts):
        with pytest.raises((RdfError, LimitError)):
            list(parse(b"".join(part for part in parts if isinstance(part, bytes)), format))
    assert len(str(refused.value)) < 500
    return str(refused.value)


@pytest.mark.parametrize("format", [*LINES, *TURTLES])
def test_a_literal_of_50_mb(format: Format) -> None:
    assert "longer than 16 MiB" in refuse(format, b'<x:s> <x:p> "', [b"x" * MiB] * 50, b'" .')


def test_json_ld_with_a_literal_of_50_mb() -> None:
    assert "longer than 16 MiB" in refuse(Format.JSON_LD, b'{"http://e/p": "', [b"x" * MiB] * 50, b'"}')


@pytest.mark.parametrize("format", Format)
def test_a_line_without_end(format: Format) -> None:
    refuse(format, [b"x" * MiB] * 50)


@pytest.mark.parametrize("format", [*LINES, *TURTLES])
def test_many_triples_pass_through(format: Format) -> None:
    lines = (b"".join(b"<x:s> <x:p> <x:%d> .\n" % i for i in range(k, k + 1000)) for k in range(0, 10**5, 1000))
    assert sum(1 for _ in parse(made(lines), format)) == 10**5


@pytest.mark.parametrize("opening", [b"[ <x:p> ", b"( ", b"<<( <x:s> <x:p> ", b"{ ", b"<< "])
@pytest.mark.parametrize("depth", [1000, 10**6])
@pytest.mark.parametrize("format", [*LINES, *TURTLES])
def test_nesting_without_end(opening: bytes, depth: int, format: Format) -> None:
    refuse(format, b"<x:s> <x:p> " + opening * depth)
    refuse(format, b"<x:s> <x:p> '' . <x:s> <x:p> " + opening * depth + b"1")


def test_nesting_that_hides_behind_a_fault() -> None:
    deep = b"<x:s> <x:p> " + b"<<( <x:s> <x:p> " * 200_000
    for fault in (b"<x:s> <x:p> <x:^`|{}> .\n", b"<x:s> <x:p> '\\q' .\n", b"] .\n", b"<x:s> <x:p> '\n' .\n", b"..\n"):
        for format in (*LINES, *TURTLES):
            refuse(format, fault + deep)


@pytest.mark.parametrize("opening", [b"[", b'{"http://e/p":', b'{"@list":[', b'{"@reverse":{"http://e/p":'])
@pytest.mark.parametrize("depth", [1000, 20_000, 10**6])
def test_json_ld_nested_without_end(opening: bytes, depth: int) -> None:
    assert refuse(Format.JSON_LD, b'{"http://e/p":' + opening * depth) == "brackets nested more than 200 deep"


@pytest.mark.parametrize(
    "context", [b'"http://e.invalid/c"', b'["http://e.invalid/c"]', b'{"@import": "http://e.invalid/c"}']
)
def test_json_ld_with_a_remote_context(context: bytes) -> None:
    assert "a remote context, which is never fetched" in refuse(
        Format.JSON_LD, b'{"@context": ' + context + b', "p": 1}'
    )


@pytest.mark.parametrize("format", [*LINES, *TURTLES])
@pytest.mark.parametrize(
    "term",
    [
        b'"\xff\xfe"',
        b'"\xed\xa0\x80"',
        b'"\\ud800"',
        b'"\\uD83D\\uDE00"',
        b"<x:o>y>",
        b"<x:o\ny>",
        b"<x:o y>",
        b"<x:o\x00y>",
        b"<x:o\\u0020y>",
        b"<x:\xff>",
        b"\x00",
        b"<<( <x:s> <x:p> <x:o> )>>",
        b'"x"@en--ltr',
    ],
)
def test_what_is_no_rdf(term: bytes, format: Format) -> None:
    assert refuse(format, b"<x:s> <x:p> " + term + b" .")


@pytest.mark.parametrize("format", [*LINES, *TURTLES])
def test_a_nul_in_a_literal_is_an_ordinary_character(format: Format) -> None:
    (quad,) = parse(b'<x:s> <x:p> "a\x00b" .', format)
    assert quad.object.value == "a\x00b"


@pytest.mark.parametrize("format", Format)
def test_text_with_a_lone_surrogate_is_refused(format: Format) -> None:
    with pytest.raises(RdfError, match="line 2 has a lone surrogate"):
        list(parse('\n"\ud800"', format))


def test_a_short_prefix_for_a_long_iri_is_not_held() -> None:
    document = b"PREFIX a: <http://e/" + b"x" * MiB + b"> a:s a:p " + b",".join(b"a:%d" % i for i in range(300)) + b" ."
    assert sum(1 for _ in parse(document, Format.TURTLE)) == 300


@pytest.mark.parametrize("format", Format)
def test_a_gzip_bomb_is_refused(format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"bomb{format.endings[0]}.gz"
    path.write_bytes(gzip.compress(b" " * (100 * MiB)))
    with pytest.raises(LimitError, match="unpacks to more than 200 times its size, the most that is allowed"):
        for _ in nquads_of(path):
            pass


@pytest.mark.parametrize("format", Format)
def test_a_truncated_or_damaged_gzip_file_is_refused(format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"cut{format.endings[0]}.gz"
    packed = gzip.compress(b"<x:s> <x:p> <x:o> .\n" * 1000)
    path.write_bytes(packed[:-4])
    with pytest.raises(ThenceError):
        list(nquads_of(path))
    with pytest.raises(InputError, match="ends in the middle of its gzipped data"):
        unpack(path)
    path.write_bytes(packed[:20] + b"\xff\xff" + packed[22:])
    with pytest.raises(InputError, match="is not a gzip file, or a damaged one"):
        unpack(path)


def unpack(path: Path) -> None:
    with open_input(path) as file:
        while file.read(1000):
            pass
