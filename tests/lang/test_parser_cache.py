"""A parser that was kept on disk reads as one that is made from its grammar; without a place to keep it, all works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lark import Lark

from thence.lang.syntax import GRAMMARS, parser_of

GRAMMAR = GRAMMARS / "spaseq" / "spaseq.lark"
STARTS = ["sequence_query"]
QUERY = (GRAMMARS.parent / "examples" / "smartgrid.spaseq").read_text(encoding="utf-8")

# https://www.w3.org/TR/sparql11-query/#rPN_CHARS_BASE
PN_CHARS_BASE = (
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF),
    (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD),
    (0x10000, 0xEFFFF),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "thence"


def test_a_kept_parser_reads_as_the_one_that_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = parser_of(GRAMMAR, STARTS)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(Lark, "open", None)  # nothing is made any more
    kept = parser_of(GRAMMAR, STARTS)
    tree, same = made.parse(QUERY), kept.parse(QUERY)
    assert tree == same
    assert [node.meta.start_pos for node in tree.iter_subtrees()] == [n.meta.start_pos for n in same.iter_subtrees()]
    assert [(each.name, each.pattern) for each in made.terminals] == [(e.name, e.pattern) for e in kept.terminals]


@pytest.mark.parametrize(
    "found", [b"", b"{", b"[]", b'{"data": {}, "memo": {}}', b"\xff", b'{"data": 1}', b"[" * 10**5]
)
def test_what_can_not_be_read_is_made_anew(folder: Path, found: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    parser_of(GRAMMAR, STARTS)
    (path,) = folder.iterdir()
    path.write_bytes(found)
    assert parser_of(GRAMMAR, STARTS).parse(QUERY)
    monkeypatch.setattr(Lark, "open", None)  # and kept again
    assert parser_of(GRAMMAR, STARTS).parse(QUERY)


def test_the_table_of_another_grammar_is_removed(folder: Path) -> None:
    folder.mkdir()
    (folder / "spaseq-0123.json").write_text("{}")
    (folder / "sparql-0123.json").write_text("{}")
    parser_of(GRAMMAR, STARTS)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert names[0] == "sparql-0123.json"
    assert names[1] != "spaseq-0123.json"


def test_a_folder_that_can_not_be_made_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert parser_of(GRAMMAR, STARTS).parse(QUERY)


def test_a_user_without_a_home_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", classmethod(homeless))
    assert parser_of(GRAMMAR, STARTS).parse(QUERY)


def test_names_are_made_of_the_characters_of_the_standard() -> None:
    (line,) = (
        each
        for each in (GRAMMARS / "sparql" / "sparql.lark").read_text().splitlines()
        if each.startswith("PN_CHARS_BASE:")
    )
    written = re.compile(line.partition("/")[2].removesuffix("/"))
    found = [code for code in range(0x110000) if written.fullmatch(chr(code))]
    assert found == [code for first, last in PN_CHARS_BASE for code in range(first, last + 1)]
