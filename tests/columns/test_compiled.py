"""What was compiled and kept is used only while it is still what the modules say."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit

from thence.columns import hashing
from thence.engines.automaton import machine
from thence.jit import compiled

pytestmark = pytest.mark.numba


def test_compiled_functions_are_kept_by_what_all_modules_are_and_not_by_their_own_file_alone() -> None:
    _, all_modules = machine.step.compiled._cache._cache_file._source_stamp  # constants of others are compiled into it
    assert all_modules == compiled._stamp()


def test_the_stamp_changes_with_any_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in compiled.COMPILED:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text("")
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "jit" / "compiled.py"))
    before = compiled._stamp.__wrapped__()
    os.utime(tmp_path / "extraction" / "module.py", ns=(1, 1))
    assert compiled._stamp.__wrapped__() != before


def test_every_module_with_compiled_functions_is_in_the_stamp() -> None:
    root = Path(compiled.__file__).parents[1]
    modules = [path for path in root.rglob("*.py") if "from thence.jit.compiled import" in path.read_text("utf-8")]
    assert {path.parent.relative_to(root).as_posix() for path in modules} <= set(compiled.COMPILED)


def test_python_is_refused_what_only_compiled_functions_can_call() -> None:
    codes = np.array([1], np.uint8)
    njit(lambda source: hashing.hash_bytes(source, 0, len(source)))(codes)
    assert hashing.hash_bytes.overloads
    with pytest.raises(TypeError, match=r"hash_bytes can be called from compiled functions only"):
        hashing.hash_bytes(codes, 0, 1)


def test_code_that_looks_at_indices_is_not_taken_for_code_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    looking = compiled._stamp.__wrapped__()
    monkeypatch.setattr(config, "BOUNDSCHECK", 0)
    assert compiled._stamp.__wrapped__() != looking
