"""Without pyspark, pandas and protobuf, everything but Spark works; what needs them names the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
LIGHT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyspark", "py4j", "pandas") or name.startswith("google.protobuf"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
MATCHED = """
import warnings
import thence
from pathlib import Path
from click.testing import CliRunner
from thence.cli import main

query = thence.parse(Path("stocks.sase"))
found = query.match("stocks.csv")
print(found.table().num_rows, len(list(found)), len(query.explain()) > 100)
engine = query.engine()
engine.push(thence.Event("2026-01-01T00:00:00Z", {"type": "STOCK", "symbol": "A", "price": 1, "volume": 2}))
for call in (found.to_pandas, lambda: query.dataframe(None)):
    try:
        call()
    except thence.InputError as error:
        print(error)
for call in (["run", "--stream", "stocks.csv", "--format", "csv"], ["check"], ["explain"],
             ["run", "--stream", "stocks.csv", "--engine", "spark"], ["run", "--stream", ".", "--watch"]):
    result = CliRunner().invoke(main, [call[0], "stocks.sase", *call[1:]])
    print(call[0], result.exit_code, len(result.stdout.splitlines()), result.stderr.splitlines()[-1:])
"""


def test_a_csv_is_matched_without_spark_and_what_is_missing_is_named() -> None:
    called = [sys.executable, "-c", LIGHT + MATCHED]
    run = subprocess.run(called, capture_output=True, text=True, cwd=EXAMPLES, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    needs = 'needs Spark, and pyspark, pandas and protobuf are not installed. Try: pip install "thence[spark]"'
    matched, pandas, dataframe, csv, check, explain, spark, watch = run.stdout.splitlines()
    assert matched == "4 4 True"
    assert pandas == "to_pandas() needs pandas, which is not installed. Try: pip install pandas"
    assert dataframe == f"dataframe() {needs}"
    assert csv == "run 0 5 ['15 events, 4 matches, 0 bad, 0 late']"
    assert check.startswith("check 0 ") and explain.startswith("explain 0 ")
    assert spark == f"run 2 0 ['thence: This run {needs}']"
    assert watch == spark
