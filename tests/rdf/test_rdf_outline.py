"""The outline of a document: statements and graphs end where they should, whatever their strings and names hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.rdf.turtle_outline import Outline, ScanStop, whole_items

ITEMS = [
    "@prefix ex: <http://e.x/> .",
    "PREFIX ex: <http://e.x/>",
    "base <http://e.x/>",
    "ex:a ex:b 1.5 .",
    "ex:a ex:b .5, 5.E3, 1.e0, ex:a..b, ex:a.b.c .",
    "<a.> <b> <c>.",
    "_:a.b ex:b true.",
    'ex:a ex:b \'x.\', "}", \'\'\'.\n\'} \'\'\', """""a\\"""" .',
    "ex:it\\'s ex:b\\.\\~ ex:\\# .",
    "ex:a ex:b [ ex:c ( 1. ) ], () .",
    "ex:g { ex:a ex:b 1. }",
    "GRAPH <g> { ex:a ex:b [ ex:b [ ex:b [ ex:b [ ex:b ( 1 ) ] ] ] ] . ex:c ex:d '}' }",
    "{ }",
    "# a comment . { '\nex:a ex:b '' . # another\n",
    "<#x> <#y> <#z> .",
    "ex:é ex:b '\U0001f600' .",
]


def ends(data: bytes, size: int) -> list[int]:
    """Where items end, read in blocks of one size."""
    outline, found, rest, base = Outline(nesting=200), [], b"", 0
    for block in [data[i : i + size] for i in range(0, len(data), size)] + [b""]:
        buffer, position, stop = rest + block, 0, ScanStop.STATEMENT
        while stop is not ScanStop.MORE:
            stop, position = outline.scan(buffer, position, final=not block)
            assert stop is not ScanStop.FAULT, (outline.fault, buffer[position:])
            if stop is not ScanStop.MORE:
                found.append(base + position)
        rest, base = buffer[position:], base + position
    return found


@given(
    st.lists(st.sampled_from(ITEMS), max_size=8), st.sampled_from(["\n", " ", "\r\n", "\n\n# x\n"]), st.integers(1, 50)
)
def test_items_end_where_they_end_in_blocks_of_any_size(items: list[str], space: str, size: int) -> None:
    data = "".join(item + space for item in items).encode()
    expected, position = [], 0
    for item in items:
        end = position + len(item.partition(" # another")[0].encode())
        expected.append(end)
        position += len((item + space).encode())
    assert ends(data, size) == expected


@given(st.lists(st.sampled_from(ITEMS), max_size=8))
def test_the_quick_look_sees_no_end_that_is_none(items: list[str]) -> None:
    data = "\n".join([*items, ""]).encode()
    position = whole_items(data, 0, len(data))
    assert position == 0 or position in ends(data, len(data) + 1)


@pytest.mark.parametrize(
    ("text", "reason", "refused"),
    [
        ("ex:a ex:b <<( ex:a ex:b 1 )>> .", "RDF 1.2", True),
        ("ex:a ex:b 1 ~ ex:r .", "RDF 1.2", True),
        ("ex:a ex:b 1 {| ex:b 1 |} .", "RDF 1.2", True),
        ("[ [ [ [ ", "nested more than 3 deep", True),
        ("ex:a ex:b ] .", "] closes nothing", False),
        ("ex:g { ex:a [ }", "} closes nothing", False),
        ("ex:g { ex:h {", "a brace inside a graph", False),
        ("ex:a ex:b 'x\n' .", "a string without end", False),
        ("ex:a ex:b '''x", "a long string without end", False),
        ("ex:a <b c> 1 .", "a character that no IRI has", False),
        ("ex:a \\\n", "a backslash that escapes nothing", False),
    ],
)
def test_what_can_not_be_right_stops_the_scan_for_good(text: str, reason: str, refused: bool) -> None:
    outline = Outline(nesting=3)
    stop, _ = outline.scan(text.encode(), 0, final=True)
    assert stop is ScanStop.FAULT
    assert outline.fault is not None
    assert reason in outline.fault.reason
    assert outline.fault.refused is refused
    assert outline.scan(b" .", 0, final=True) == (ScanStop.FAULT, 0)
    outline.reset()
    assert outline.scan(b"x .", 0, final=True) == (ScanStop.STATEMENT, 3)
