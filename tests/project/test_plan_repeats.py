"""A query is compiled to the same program whenever and wherever: states that were saved elsewhere belong to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
import sys
from pathlib import Path
import thence
from thence.engines.automaton.plan.spaseq import plan
for path in sorted(Path(sys.argv[1]).glob("*.spaseq")):
    print(path.name, plan(thence.parse(path).algebra).fingerprint())
"""


def test_programs_do_not_depend_on_how_python_mixes_its_hashes() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(EXAMPLES)],
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1
    assert hashes.pop().count("\n") == 6
