"""What `match` returns: iterated again it runs again, `table` and the DataFrames have all matches, `repr` is a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest

import thence
from thence.columns.batches import encode
from thence.errors import InputError
from thence.local import flow
from thence.local.inputs import StreamInput

QUERY = thence.parse("PATTERN SEQ(Bid a, Bid b) WHERE b.price > a.price WITHIN 9 TICKS RETURN a.price, b.price")
PRICES = (7, 9, 8)
ROWS = [{"start": 1, "end": 2, "a.price": 7, "b.price": 9}]


def events() -> Iterator[thence.Event]:
    for time, price in enumerate(PRICES, start=1):
        yield thence.Event(time, {"type": "Bid", "price": price})


def test_a_result_can_be_iterated_again_and_counts_once() -> None:
    found = QUERY.match(list(events()))
    first, second = list(found), list(found)
    assert [match.id for match in first] == [match.id for match in second] != []
    assert (found.counts.events, found.counts.matches) == (3, len(first))
    assert found.table().num_rows == found.counts.matches == len(first)


def test_two_iterations_at_once_do_not_disturb_each_other() -> None:
    found = QUERY.match(list(events()))
    pairs = [(one.id, other.id) for one, other in zip(found, found, strict=True)]
    assert pairs and all(one == other for one, other in pairs)


@pytest.mark.parametrize("again", [list, lambda found: found.table(), lambda found: found.to_pandas()])
def test_what_can_be_read_only_once_is_refused_the_second_time(again: object) -> None:
    found = QUERY.match(events())
    assert list(found)
    assert callable(again)
    with pytest.raises(InputError, match=r"can be read only once, as it comes from a generator.*Try: match\(list\("):
        again(found)


def test_a_pipe_can_be_read_only_once(tmp_path: Path) -> None:
    file, pipe = tmp_path / "file.csv", tmp_path / "pipe.csv"
    file.touch()
    os.mkfifo(pipe)
    assert [StreamInput("S", str(path), "").is_read_once for path in (file, pipe)] == [False, True]


def test_the_kind_of_time_is_found_anew_by_each_run() -> None:
    """C-32: a run does not remember the kind of time of the one before."""
    listed = list(events())
    found = QUERY.match(listed)
    assert list(found)
    listed[:] = [thence.Event(f"2026-01-01T00:00:0{n}Z", {"type": "Bid", "price": n}) for n in (1, 2)]
    with pytest.raises(InputError, match="WITHIN 9 TICKS"):
        list(found)


def test_pandas_has_the_rows_of_the_table() -> None:
    frame = QUERY.match(list(events())).to_pandas()
    assert frame.iloc[0].to_dict() == ROWS[0]
    assert [str(kind) for kind in frame.dtypes] == ["int64"] * 4


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named_with_its_command(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError) as told:
        getattr(QUERY.match(events()), f"to_{library}")()
    assert str(told.value) == (f"to_{library}() needs {library}, which is not installed. Try: pip install {library}")


def test_polars_has_the_rows_of_the_table() -> None:
    pytest.importorskip("polars")
    assert QUERY.match(list(events())).to_polars().rows(named=True)[:1] == ROWS


@pytest.mark.parametrize("makes", [lambda: QUERY, lambda: QUERY.match(events()), QUERY.engine])
def test_what_is_shown_of_a_query_a_result_and_an_engine_is_one_line(makes: object) -> None:
    assert callable(makes)
    shown = repr(makes())
    assert "SASE+ over events; columns a.price, b.price" in shown
    assert "\n" not in shown and len(shown) < 120


def test_a_line_names_only_the_first_of_many_columns() -> None:
    many = ", ".join(f"a.c{number}" for number in range(20))
    shown = repr(thence.parse(f"PATTERN SEQ(Bid a, Bid b) WITHIN 9 TICKS RETURN {many}"))
    assert shown.endswith("a.c7 and 12 more>")


def test_a_stream_is_cut_where_a_step_takes_long_and_events_of_one_time_stay_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = sorted([*range(9000), *[500] * 5000])
    batch = encode([thence.Event(time, {"type": "Bid"}) for time in times], stream="S")
    for seconds, shape in ((0.0, "grows"), (9.0, "shrinks")):
        clock = count(0.0, seconds)
        monkeypatch.setattr(flow, "monotonic", lambda clock=clock: next(clock))
        parts = [
            (np.concatenate([each.ends for each in some]).tolist(), low) for some, low in flow.sort_stream([batch])
        ]
        assert [time for part, _ in parts for time in part] == times
        assert all(low is not None and part[-1] < low <= after[0] for (part, low), (after, _) in pairwise(parts))
        sizes = [len(part) for part, _ in parts]
        assert len(sizes) > 2
        assert sizes[-2] < sizes[0] if shape == "shrinks" else sizes[-2] >= sizes[0]
