"""Java's classes are kept by one run, and only used once all of them are written."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from thence.spark.session.session import ClassArchive, class_archive


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "thence"


def asked() -> ClassArchive:
    return class_archive("java", "spark")


def written_by(first: ClassArchive, *, seconds_ago: float) -> Path:
    """What Java would write, where it was told to."""
    part = Path(first.option.partition("ArchiveClassesAtExit=")[2].rstrip('"'))
    part.write_bytes(b"classes")
    os.utime(part, (time.time() - seconds_ago,) * 2)
    return part


def test_the_first_run_writes_them_and_later_ones_use_them() -> None:
    first = asked()
    first.worthwhile()
    part = written_by(first, seconds_ago=60)
    whole = part.with_name(f"{part.name.partition('-')[0]}.jsa")
    assert f"-XX:SharedArchiveFile={whole}" in asked().option
    assert whole.read_bytes() == b"classes"
    assert f"-XX:SharedArchiveFile={whole}" in asked().option


def test_another_java_or_spark_has_its_own() -> None:
    assert len({class_archive(java, spark).option for java in ("17", "21") for spark in ("4.2", "4.3")}) == 4


def test_while_one_writes_others_do_without() -> None:
    first = asked()
    assert asked().option == ""
    first.worthwhile()
    assert asked().option == ""
    written_by(first, seconds_ago=0)  # perhaps not all of it
    assert asked().option == ""


def test_what_java_was_killed_over_is_not_used() -> None:
    first = asked()
    first.worthwhile()
    part = written_by(first, seconds_ago=60)
    part.write_bytes(bytes(4) + b"classes")  # its first bytes come last
    os.utime(part, (time.time() - 60,) * 2)
    assert asked().option == ""


def test_who_gives_up_lets_another_write() -> None:
    asked().given_up()
    assert "ArchiveClassesAtExit" in asked().option


def test_few_archives_are_kept(home: Path) -> None:
    for version in range(6):
        first = class_archive("java", str(version))
        first.worthwhile()
        written_by(first, seconds_ago=60 - version)
        assert "SharedArchiveFile" in class_archive("java", str(version)).option
    assert len(list(home.glob("*.jsa"))) == 3


def test_a_run_that_failed_leaves_too_few() -> None:
    written_by(asked(), seconds_ago=60)
    assert asked().option == ""


def test_what_was_begun_and_left_is_begun_again(home: Path) -> None:
    written_by(asked(), seconds_ago=60)
    (claim,) = home.glob("*.jsa-begun")
    os.utime(claim, (time.time() - 36_000,) * 2)
    assert "ArchiveClassesAtExit" in asked().option
    assert not list(home.glob("*.jsa-part"))


def test_without_a_folder_to_write_to_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert asked() == ClassArchive()
