"""Options are checked in one place, with one sentence each, whichever method they are given to."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from datetime import timedelta
from inspect import Parameter, signature
from typing import Any

import pytest

import thence
from thence.query.options import Options
from thence.query.query import Query

METHODS = (Query.match, Query.engine, Query.dataframe, Query.explain)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"reasoning": "owl"}, "reasoning can't be 'owl'. Try: reasoning=\"rdfs\""),
    ({"report": "often"}, "report can't be 'often'. Try: report='content', 'close', 'non_empty_content', '10s'"),
    ({"lateness": True}, "lateness can't be True. Try: lateness='10s', or a number of ticks"),
    ({"lateness": 1.5}, "lateness can't be 1.5. Try: lateness='10s', or a number of ticks"),
    ({"lateness": -1}, "lateness can't be negative"),
    ({"max_runs": 0}, "max_runs can't be 0. Try: max_runs=1_000_000"),
    ({"max_rounds": True}, "max_rounds can't be True. Try: max_rounds=10_000"),
    ({"max_steps": "7"}, "max_steps can't be '7'. Try: max_steps=10_000"),
    ({"shards": 4097}, "shards can't be 4097. Try: shards=4"),
    ({"terms": None}, 'terms can\'t be None. Try: terms="text" or terms="struct"'),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_option_is_refused_with_its_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(thence.InputError) as refused:
        Options(**given)
    assert str(refused.value).startswith(sentence)


def test_every_keyword_of_a_method_is_an_option_with_the_same_default() -> None:
    known = {field.name: field.default for field in fields(Options)}
    listed = set()
    for method in METHODS:
        for name, parameter in signature(method).parameters.items():
            if parameter.kind is Parameter.KEYWORD_ONLY:
                listed.add(name)
                assert parameter.default == known[name], (method.__name__, name)
    assert listed == set(known)


def test_what_is_not_given_is_the_default() -> None:
    options = Options(max_runs=None, max_rounds=None, max_steps=None, lateness=None, shards=None)
    assert (options.max_runs, options.max_rounds, options.max_steps) == (2**31 - 2, 1000, 10_000)
    assert (options.lateness.length, options.shards, options.terms) == (0, None, "text")


def test_options_are_kept_as_they_were_checked() -> None:
    options = Options(lateness=timedelta(seconds=10), max_runs=2**40, report="10s", timed_out=True)
    again = replace(options, optimise=False)
    assert (again.lateness, again.max_runs, again.report) == (options.lateness, 2**31 - 2, options.report)
    assert options.lateness.length == 10_000_000
    assert options.gives_problems
    with pytest.raises(FrozenInstanceError):
        options.max_steps = 5  # type: ignore[misc]
