"""A background goes to workers with every micro-batch: what was made of it there is made once."""

from __future__ import annotations

import pickle
from pathlib import Path

from thence.io.background_data import load_background
from thence.match.background import Background

EX = "http://example.org/"


def background(folder: Path, *names: str) -> Background:
    path = folder / "background.nt"
    path.write_text("".join(f"<{EX}{name}> <{EX}p> <{EX}o> .\n" for name in names), encoding="utf-8")
    return Background(load_background(path))


def test_the_same_data_is_the_same_background_in_a_process(tmp_path: Path) -> None:
    pickled = pickle.dumps(background(tmp_path, "a"))
    first = pickle.loads(pickled)
    first.derived["made"] = "once"
    assert pickle.loads(pickled) is first
    assert [str(triple.subject) for triple in first.data.unnamed.triples(0)] == [f"<{EX}a>"]


def test_other_data_is_another_background_and_what_was_made_stays_behind(tmp_path: Path) -> None:
    here = background(tmp_path, "c")
    here.derived["made"] = "here"
    there, other = pickle.loads(pickle.dumps(here)), pickle.loads(pickle.dumps(background(tmp_path, "b")))
    assert there is not here and other is not there
    assert "made" not in there.derived | other.derived
    assert [str(triple.subject) for triple in other.data.unnamed.triples(0)] == [f"<{EX}b>"]


def test_few_backgrounds_are_kept(tmp_path: Path) -> None:
    pickled = [pickle.dumps(background(tmp_path, f"x{number}")) for number in range(9)]
    first = pickle.loads(pickled[0])
    for each in pickled[1:]:
        pickle.loads(each)
    assert pickle.loads(pickled[0]) is not first
