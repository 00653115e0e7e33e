"""Event files in parts that tear no event, and as rows, with what is none."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.io.event_files import read_events
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.event_source import arrow_schema, split_rows
from thence.spark.sources.file_splits import FileSplit, read_split, split_file
from thence.spark.sources.row_decoder import decoder

pytestmark = pytest.mark.numba

X = "http://example.org/"
LIMITS = Limits()
TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"
TICK = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def time_of(graph: str, tick: int) -> str:
    return f'{graph} {TIME} "{tick}"{TICK}'


TRICKY = "\n".join(
    [
        f"{time_of('<u:g1>', 1)} .",  # before its graph
        '<u:s> <u:p> "1" <u:g1> .',
        '<u:s> <u:p> "2" <u:g1> .',
        '<u:s> <u:p> "1" <u:g2> .',
        f"{time_of('<u:g2>', 2)} .",  # after it
        "# a comment",
        '<u:s> <u:p> "1" <u:g3> .',
        f"{time_of('<u:g3>', 3)} <u:g3> .",  # in it
        "",
        '<u:s> <u:p> "2" <u:g3> .\r',
        "unreadable, and whose it is can't be told",
        f"{time_of('<u:g4>', 4)} .",  # a time alone, beside it
        f"{time_of('<u:g5>', 5)} .",  # a time alone
        f"{time_of('<u:g6>', 6)} .",
        "<u:s> unreadable <u:g6> .",
        '<u:s> <u:p> "1" <u:g6> .',
        '<u:s> <u:p> "stray" .',
        '<u:s> <u:p> "stray" .',
        f"{time_of('_:g', 7)} .",
        "_:a <u:p> _:b _:g .",
        f"{time_of('<u:g1>', 8)} .",  # the name of an earlier one
        '<u:s> <u:p> "1" <u:g1> .',
    ]
)


def read(
    parts: list[FileSplit], known: dict[FileSplit, list[Event | BadEvent]] | None = None
) -> list[list[Event | BadEvent]]:
    """The events, and what is none."""
    known = {} if known is None else known
    found: list[Event | BadEvent] = []
    for part in parts:
        if part not in known:
            known[part] = []
            for each in read_split(part, namespace=X, limits=LIMITS):
                known[part] += [each] if isinstance(each, BadEvent) else list(each)
        found += known[part]
    return [[each for each in found if isinstance(each, kind)] for kind in (Event, BadEvent)]


def whole(path: Path) -> list[FileSplit]:
    return split_file(str(path), stream=path.name, split=1 << 30)


# parts of files


@pytest.mark.parametrize("end", ["\n", "", "\n\n# the end\n"])
def test_a_file_of_quads_is_the_same_in_parts_of_any_size(tmp_path: Path, end: str) -> None:
    path = tmp_path / "tricky.nq"
    path.write_text(TRICKY + end)
    [complete] = whole(path)
    expected = read([complete])
    assert len(expected[0]) == 6 and len(expected[1]) >= 4
    cuts, known = set(), {}
    for split in range(1, path.stat().st_size):
        parts = split_file(str(path), stream=path.name, split=split)
        assert [part.begin for part in parts[1:]] == [part.end for part in parts[:-1]]
        cuts.add(tuple(parts))
    assert max(len(parts) for parts in cuts) > 5
    for parts in cuts:
        assert read(list(parts), known) == expected


LINES = st.sampled_from(sorted(set(TRICKY.split("\n"))))


@given(st.lists(LINES, max_size=12), st.integers(1, 300))
def test_any_file_of_quads_is_the_same_in_parts(tmp_path_factory: Any, lines: list[str], split: int) -> None:
    path = tmp_path_factory.getbasetemp() / "any.nq"
    path.write_text("\n".join(lines))
    assert read(split_file(str(path), stream="any", split=split)) == read(
        split_file(str(path), stream="any", split=1 << 30)
    )


def test_a_file_of_lines_is_the_same_in_parts_of_any_size(tmp_path: Path) -> None:
    path = tmp_path / "tricky.jsonl"
    lines = [
        '\ufeff{"time": 1, "graph": "<u:s> <u:p> 1 ."}',
        "oops",
        "",
        '{"time": 2, "type": "Reading", "subject": "h", "watts": 7}\r',
        '{"time": 3, "id": "mine", "graph": ""}',
        '{"type": "no time"}',
    ]
    for end in ("", "\n"):
        path.write_text("\n".join(lines) + end)
        expected = read(whole(path))
        assert [event.id for event in expected[0] if isinstance(event, Event)] == [
            "tricky.jsonl:1",
            "tricky.jsonl:4",
            "mine",
        ]
        assert [event.line for event in expected[1] if isinstance(event, BadEvent)] == [2, 6]
        for split in range(1, path.stat().st_size + 1):
            assert read(split_file(str(path), stream=path.name, split=split)) == expected


def test_lines_and_events_longer_than_what_is_looked_at_are_not_torn(tmp_path: Path) -> None:
    path = tmp_path / "long.nq"
    long = "x" * 20_000
    graphs = [
        f'{time_of("<u:g1>", 1)} .\n<u:s> <u:p> "{long}" <u:g1> .\n<u:s> <u:p> "1" <u:g1> .\n',
        f"{time_of('<u:g2>', 2)} .\n" + "".join(f'<u:s> <u:p> "{i}" <u:g2> .\n' for i in range(3000)),
        f'{time_of("<u:g3>", 3)} .\n<u:s> <u:p> "1" <u:g3> .\n',
        f'{time_of("<u:g4>", 4)} .\n<u:s> <u:p> "1" <u:g4> .\n',
    ]
    path.write_text("".join(graphs))
    for split in (10, 15_000, 30_000, 90_000):
        parts = split_file(str(path), stream="long", split=split)
        assert len(parts) > 1
        assert read(parts) == read(whole(path))


def test_files_that_cant_be_cut_are_one_part(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text("<u:g> { <u:s> <u:p> 1 }\n" * 100)
    (tmp_path / "a.nq.gz").write_bytes(gzip.compress(TRICKY.encode()))
    for path in tmp_path.iterdir():
        assert split_file(str(path), stream="a", split=10) == [FileSplit(str(path), "a")]


# rows


def decoded(path: Path, domain: Domain) -> Iterator[Event | BadEvent]:
    reads = decoder(path.name, arrow_schema(domain), namespace=X)
    for part in split_file(str(path), stream=path.name, split=100):
        for record in split_rows(part, domain, namespace=X, limits=LIMITS):
            for each in reads.read(record):
                yield from [each] if isinstance(each, BadEvent) else each.batch  # type: ignore[union-attr]


PROV = "@prefix prov: <http://www.w3.org/ns/prov#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
DATE = '"2024-05-06T07:00:0{}Z"^^xsd:dateTime'
FILES = {
    "a.nq": (TRICKY, Domain.TICKS),
    "a.trig": (
        PROV
        + f"<u:g1> prov:startedAtTime {DATE.format(1)} ; prov:endedAtTime {DATE.format(2)} .\n"
        + '<u:g1> { <u:s> <u:p> \'a\\nb"\', "x"@EN, 1.50 . [] <u:p> <u:é> }\n<u:g2> { oops }\n'
        + f"<u:g3> {{ <u:s> <u:p> 1 }} <u:g3> prov:generatedAtTime {DATE.format(3)} .\n",
        Domain.DATETIME,
    ),
    "a.jsonl": (
        '{"time": 1, "end": 3, "type": "Reading", "watts": 7}\noops\n{"time": 2, "graph": ""}\n'
        '{"@id": "x", "http://example.org/p": 1, "time": 5}\n',
        Domain.TICKS,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_rows_are_the_events_of_the_file_and_what_is_none(tmp_path: Path, name: str) -> None:
    text, domain = FILES[name]
    (tmp_path / name).write_text(text)
    expected = list(read_events(tmp_path / name))
    found = list(decoded(tmp_path / name, domain))
    assert [each for each in found if isinstance(each, BadEvent)] == [
        each for each in expected if isinstance(each, BadEvent)
    ]
    pairs = zip(
        (each for each in found if isinstance(each, Event)),
        (each for each in expected if isinstance(each, Event)),
        strict=True,
    )
    for one, other in pairs:
        assert (one.start, one.end, one.domain, one.id) == (other.start, other.end, other.domain, other.id)
        assert _without_labels(one) == _without_labels(other)


def _without_labels(event: Event) -> list[tuple[str, ...]]:
    return [tuple("_:" if str(term).startswith("_:") else str(term) for term in triple) for triple in event.triples]


def test_an_event_whose_time_is_of_another_kind_is_a_row_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"time": 1, "graph": ""}\n{"time": "2024-05-06T07:00:00Z", "graph": ""}\n')
    [event, bad] = decoded(tmp_path / "a.jsonl", Domain.TICKS)
    assert isinstance(event, Event) and isinstance(bad, BadEvent)
    assert bad.reason == "its time is a date, but times in this DataFrame are ticks"
    assert bad.text.startswith("a.jsonl:2")
