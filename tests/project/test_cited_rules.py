"""Every rule that a text of this repository cites exists in docs/semantics, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "semantics"
AREA = r"(?:C|SP|SA|EP|RS|TEF|BAD)"
DEFINED = re.compile(rf"^- \*\*({AREA}-\d+)\*\*", re.MULTILINE)
CITED = re.compile(rf"(?<![\w-])({AREA})-(\d+)((?:, \d+(?!\w))*)(?![\w-])")
TEXTS = ("*.py", "*.md", "*.lark", "*.toml")


def cited(text: str) -> Iterator[str]:
    """The rules that a text cites, each alone or as a list of numbers.

    >>> list(cited("absence (EP-24, 26, RS-5)"))
    ['EP-24', 'EP-26', 'RS-5']
    """
    for citation in CITED.finditer(text):
        area, first, more = citation.groups()
        yield from (f"{area}-{number}" for number in (first, *re.findall(r"\d+", more)))


def rules() -> list[str]:
    return [rule for page in sorted(PAGES.glob("*.md")) for rule in DEFINED.findall(page.read_text(encoding="utf-8"))]


def test_a_rule_is_defined_once() -> None:
    assert [rule for rule, times in Counter(rules()).items() if times > 1] == []


@pytest.mark.parametrize("folder", ["src", "docs", "tests", "bench", "examples"])
def test_every_cited_rule_exists(folder: str) -> None:
    known = set(rules())
    unknown = {
        f"{file.relative_to(ROOT)}: {rule}"
        for pattern in TEXTS
        for file in (ROOT / folder).rglob(pattern)
        for rule in cited(file.read_text(encoding="utf-8"))
        if rule not in known
    }
    assert sorted(unknown) == []


def test_an_unknown_rule_is_found() -> None:
    missing = f"EP-{999}"
    assert [rule for rule in cited(f"as {missing} says, and UTF-8") if rule not in set(rules())] == [missing]
