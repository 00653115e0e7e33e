"""JSON lines read in blocks mean what they mean one by one."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.blocks import in_blocks
from thence.columns.batches import ColumnBatch
from thence.columns.time_reading import TimeReading
from thence.io import json_columns
from thence.io.json_columns import read_json_batches
from thence.io.jsonl import read_jsonl
from thence.io.table_layout import TableLayout
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import BlankNode
from thence.rdf.times import Domain

pytestmark = pytest.mark.numba

scalars = st.one_of(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.integers(-9, 9) | st.text(max_size=4),
    st.sampled_from(["", "h1", "_:b", 'é\n"\\/', "𝄞", "http://example.org/x", "2024-05-06T07:00:00Z"]),
    st.floats(),
)
RAW = (
    *("1e3", "-1.5E-2", "1e400", "0.10", "-0", "-0.0", "1.", ".5", "01", "+1", "NaN", "1e99", "1e100", "2E+05", "0e0"),
    *("[1]", "{}", '{"a": 1}', r'"\ud834\udd1e"', r'"\ud834"', r'"\udd1e"', r'"\u00e9\b\f\n\r\t\/\\\""', r'"\x"'),
    *("1234567890123456789", "0.1234567890123456789", "123456789012.345678", "tru", "nulls", "'a'", "", '"a', "-"),
    *("00", "-01", "0", "1e", "1e+", "1x", "true1", "1 2", r'"\ud834x"', r'"\ud834\u0041"', r'"\u00g0"', '"\x7f"'),
    *('"é"', '"\t"'),
)
values = scalars.map(json.dumps) | st.sampled_from(RAW)
names = st.sampled_from(["a", "b", "price", "a b", "é", "graph", "query", "end", "id", "subject", "x:y", "@id", "A"])
times = st.integers(0, 9).map(str) | st.sampled_from(['"2024-05-06T07:00:00Z"', '"2024-02-30"', "null", "1.5", "true"])
TURTLE = (
    *("<u:a> <u:b> <u:c> .", "<u:a> <u:b> 1, 2.5 .", "_:b <u:p> [] .", "", "<u:a> <u:b>", "<u:a> <u:b> <u:c>", "} {"),
    *("<u:a> <u:b> <u:c> . <u:a> <u:b> <u:c> .", '<u:a> <u:b> "x\\ny"@en-GB .\n<u:a> <u:b> "1"^^<u:t> .', "#", "."),
    *(
        "PREFIX : <u:> :a :b :c .",
        "@base<u:> .",
        "BASE<u:x> <a> <b> <c> .",
        "<u:a> <u:b> <u:c> # .",
        "<u:a#b> a <u:c#d> .",
    ),
    *(
        '<u:a> <u:b> """x .',
        'y""" .',
        "<u:a> <u:b> 'x .",
        "<u:a> <u:b> <u:c> } <u:g> { <u:d> <u:e> <u:f> .",
        "<a> a <b> .",
    ),
    *(
        "_:b <u:p> _:anon0 .",
        "_:b <u:p> _:c .",
        "<<u:a> a <u:b>> a <u:c> .",
        "<u:a> <u:b> 5. ",
        "\ufeff<u:a> a <u:b> .",
        ":a a :b .",
    ),
    *("<u:a> <u:b> ( 1 2 ) .", "<u:a> <u:b> <u:c> ; .", '<u:a> <u:b> "#" .', "<u:a> <u:b> <u:c> ; <u:d> true, 1e0 .\n"),
)
turtle = st.sampled_from(TURTLE)


@st.composite
def typed_lines(draw: st.DrawFn) -> str:
    pairs = [("type", draw(st.sampled_from(['"T"', '"T"', '"U"', '""', "null", "7"]))), ("time", draw(times))]
    pairs += draw(st.lists(st.tuples(names, values), max_size=4))
    if draw(st.booleans()):
        pairs = draw(st.permutations(pairs))
    pairs = pairs[draw(st.integers(0, 9)) == 0 :]
    space = draw(st.sampled_from(["", " ", "\t"]))
    text = ",".join(f"{space}{json.dumps(name)}{space}:{space}{value}" for name, value in pairs)
    return space + "{" + text + space + "}" + draw(st.sampled_from(["", "", "", "\r", " ", "x", ","]))


@st.composite
def graph_lines(draw: st.DrawFn) -> str:
    pairs = {"time": draw(times), "graph": json.dumps(draw(turtle))}
    for name in draw(st.lists(st.sampled_from(["end", "id", "query", "other"]), max_size=2)):
        pairs[name] = draw(times)
    return "{" + ", ".join(f'"{name}": {value}' for name, value in pairs.items()) + "}"


lines = st.lists(
    typed_lines() | typed_lines() | graph_lines() | st.sampled_from(["", " ", "\x0b", "rubbish", "{}", "\ufeff{}"]),
    max_size=8,
)


def simple(found: Any) -> tuple[object, ...]:
    if isinstance(found, BadEvent):
        return found.line, found.reason, found.text
    triples = {tuple("b" if isinstance(term, BlankNode) else term for term in triple) for triple in found.triples}
    return found.id, found.start, found.end, found.domain, triples, len(found.triples)


PLAIN = TableLayout()


def one_by_one(data: bytes, limits: Limits, layout: TableLayout = PLAIN) -> tuple[list[object], list[object]]:
    found = list(read_jsonl(io.BytesIO(data), stream_name="s", limits=limits, layout=layout))
    return [simple(e) for e in found if isinstance(e, Event)], [simple(e) for e in found if isinstance(e, BadEvent)]


def in_columns(data: bytes, limits: Limits, layout: TableLayout = PLAIN) -> tuple[list[object], list[object]]:
    good: list[object] = []
    bad: list[Any] = []
    positions: list[int] = []
    for found in read_json_batches(io.BytesIO(data), stream="s", limits=limits, layout=layout):
        if isinstance(found, BadEvent):
            bad.append(simple(found))
        else:
            good += map(simple, found)
            positions += found.positions.tolist()
    assert positions == sorted(set(positions))
    return good, sorted(bad)


@given(lines, st.sampled_from(["", "\n"]), st.integers(1, 200), st.sampled_from([60, 200, 16 << 20]), st.integers(0, 2))
@example(
    ['{"type": "T", "time": 1, "a": 1}', '{"time": 1, "graph": ""}', '{"type": "T", "time": 2, "a": 2.5}'],
    "",
    99,
    9999,
    0,
)
def test_blocks_of_lines_mean_what_the_lines_mean(
    lines: list[str], end: str, block: int, most: int, least: int
) -> None:
    data = ("\n".join(lines) + end).encode("utf-8", "surrogatepass")
    limits = Limits(event_bytes=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_columns, "_BLOCK", block)
        patch.setattr(json_columns, "_LEAST", least)
        assert in_columns(data, limits) == one_by_one(data, limits)


columns = st.dictionaries(st.sampled_from(["type", "time", "end", "id", "subject", "graph"]), names, max_size=3)
readings = st.sampled_from([TimeReading(), TimeReading("ms"), TimeReading(format="%Y"), TimeReading(zone="Asia/Tokyo")])
layouts = st.builds(
    TableLayout,
    columns=columns,
    type=st.sampled_from([None, None, "V"]),
    named_types=st.sampled_from([None, (), ("W",), ("W",), ("W", "X")]),
    times=readings,
)


@given(st.lists(typed_lines() | graph_lines(), max_size=8), st.sampled_from([60, 200, 16 << 20]), layouts)
def test_blocks_of_lines_mean_what_the_lines_mean_in_any_layout(
    lines: list[str], most: int, layout: TableLayout
) -> None:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    limits = Limits(event_bytes=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_columns, "_LEAST", 0)
        assert in_columns(data, limits, layout) == one_by_one(data, limits, layout)


def test_lines_with_names_of_their_own_come_as_columns() -> None:
    """`columns`, `time_unit`, and the only type that the query names."""
    data = lines_of(*({"ts": 1_000 * time, "who": f"h{time % 3}", "n": time} for time in range(100)))
    named = {"time": "ts", "subject": "who"}
    layout = TableLayout("s", columns=named, named_types=("Tick",), times=TimeReading("ms"))
    (batch,) = read_json_batches(io.BytesIO(data), stream="s", layout=layout)
    assert isinstance(batch, ColumnBatch)
    assert in_columns(data, Limits(), layout) == one_by_one(data, Limits(), layout)
    event = batch.event(2)
    assert (event.start, event.domain) == (2_000_000, Domain.DATETIME)
    assert [triple.object.value for triple in event.triples][-3:] == ["2000", "h2", "2"]


def test_each_odd_value_alone_means_the_same_wherever_it_stands() -> None:
    """Times, ids and attributes, each in a line that has nothing else that is odd."""
    names = ("a", "type", "time", "end", "id", "subject", "graph", "é", "@a", r"\u0061")
    shapes = ['{"type":"T","time":1,"%s":%s}', '{"%s":%s,"type":"T","time":1}', '{"time":1,"graph":"","%s":%s}']
    for name in names:
        for shape in shapes:
            data = "".join(f"{shape % (name, value)}\n" for value in RAW).encode()
            assert in_columns(data, Limits()) == one_by_one(data, Limits())
            for value in RAW:
                line = (shape % (name, value)).encode()
                assert in_columns(line, Limits()) == one_by_one(line, Limits())


def test_graphs_that_are_parsed_together_mean_what_each_means() -> None:
    """Whatever stands in a text, it says nothing of the texts beside it."""
    texts = [text for first in TURTLE for second in TURTLE for text in (first, second)]
    data = lines_of(*({"time": number, "graph": text} for number, text in enumerate(texts)))
    assert in_columns(data, Limits()) == one_by_one(data, Limits())


def lines_of(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_typed_lines_come_as_columns_whatever_their_values_and_bad_ones_between_them() -> None:
    kinds: list[Any] = [1, 2.5, 1e30, "x", True, None, "é"]
    rows = [{"type": "T", "time": time, "a": kinds[time % 7], f"b{time % 40}": time} for time in range(100)]
    data = lines_of(*rows[:50]) + b"rubbish\n" + lines_of(*rows[50:])
    batch, bad = read_json_batches(io.BytesIO(data), stream="s")
    assert isinstance(batch, ColumnBatch) and isinstance(bad, BadEvent)
    assert (len(batch), bad.line, batch.id(99)) == (100, 51, "s:101")


@pytest.mark.parametrize("odd", ["[1]", "4611686018427387904", "123456789.0123456789"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_name_that_first_stands_in_a_line_that_is_not_flat_is_read_in_the_others(odd: str, end: str) -> None:
    """The first value of `n` is odd; those of later lines are not lost. BAD-6"""
    lines = [f'{{"type": "T", "time": {time}, "n": {n}}}' for time, n in enumerate((odd, *range(100)))]
    data = ("\n".join(lines) + end).encode()
    good, _ = in_columns(data, Limits())
    assert good[-1][-1] == 2  # type: ignore[index]
    assert in_columns(data, Limits()) == one_by_one(data, Limits())


def test_lines_with_ever_new_names_are_read() -> None:
    rows = [{"type": "T", "time": time, **{f"n{time}_{number}": 1 for number in range(200)}} for time in range(8)]
    found = [event for batch in read_json_batches(io.BytesIO(lines_of(*rows))) for event in batch]  # type: ignore[union-attr]
    assert [len(event.triples) for event in found] == [201] * 8


def test_a_stream_that_fails_ends_in_a_bad_line() -> None:
    stream = in_blocks(lines_of({"type": "T", "time": 1}) + b'{"type"', failure=OSError("the disk is gone"))
    batch, bad = read_json_batches(stream, stream="s")
    assert (len(batch), bad) == (1, BadEvent("s", 2, "the disk is gone", '{"type"'))  # type: ignore[arg-type]
