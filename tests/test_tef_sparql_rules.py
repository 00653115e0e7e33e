"""TEF-SPARQL, rule by rule: what was worked out by hand for the definitions, the engine gives too."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

import tef_engine
import thence
from oracle import tef_sparql_notation, test_tef_sparql_oracle, test_tef_sparql_oracle_paper
from test_tef_sparql_engine import EX, HOMES

pytestmark = pytest.mark.numba


def by_hand(module: ModuleType) -> list[Callable[[], None]]:
    found = (each for name, each in vars(module).items() if name.startswith("test_"))
    return [each for each in found if each.__code__.co_argcount == 0]


@pytest.mark.parametrize(
    "case", by_hand(test_tef_sparql_oracle) + by_hand(test_tef_sparql_oracle_paper), ids=lambda case: case.__name__
)
def test_the_engine_gives_what_was_worked_out_by_hand(
    case: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rows", "facts", "constructed"):
        monkeypatch.setattr(tef_sparql_notation, name, getattr(tef_engine, name))
    case()


def test_rows_over_facts_differ_in_the_variables_that_all_arms_bind() -> None:
    """TEF-69, TEF-72: ?old is private to the second arm, so its two values give one row."""
    text = HOMES + "SELECT ?person WHERE (?person liveIn nowhere) UNION (?person liveIn ?place, ?person liveIn ?other)"
    events = [thence.Event(1, f"<{EX}b> <{EX}bornIn> <{EX}x> . <{EX}b> <{EX}bornIn> <{EX}y> .")]
    assert [each.end for each in thence.parse(text).match(events) if isinstance(each, thence.Match)] == [1]
