"""Each rule of the optimiser, alone and with the others, gives the rows that the definitions give."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import Phase, given, settings

from oracle.spaseq_query import Selection, Unary
from strategies.spaseq import Case, Options, cases, text
from support.spaseq_runs import engine_answers, oracle_answers
from thence.engines.automaton.plan import rules as optimize
from thence.engines.automaton.plan.rules import RULES, Rule, late_graph, rewritten
from thence.lang.spaseq.parser import parse

pytestmark = pytest.mark.numba

BLOCKS = Options(often_graphs=True)
FILTERS = Options(foreign_filters=True)
PLAIN_PARTS = replace(FILTERS, groups=False, partition=False, graphs=False)  # where most demands are found
EXPOSED = replace(BLOCKS, groups=False, partition=False, filters=False, projection=False)

# where a rule that went too far would be found out: each with what its conditions are about, and little else
CLOSE_CALLS = {
    "blocks": BLOCKS,
    "filters": FILTERS,
    "blocks after ;": replace(EXPOSED, selections=(Selection.NEXT,), unaries=(Unary.ONCE,)),
    "blocks under !": replace(EXPOSED, unaries=(Unary.ONCE, Unary.NOT)),
    "blocks under +": replace(EXPOSED, unaries=(Unary.ONCE, Unary.PLUS)),
    "filters after +": replace(PLAIN_PARTS, unaries=(Unary.ONCE, Unary.PLUS), windows=("none",)),
    "filters of ?": replace(PLAIN_PARTS, unaries=(Unary.ONCE, Unary.OPTIONAL), windows=("none",)),
}


@pytest.mark.parametrize("options", CLOSE_CALLS.values(), ids=list(CLOSE_CALLS))
def test_optimised_queries_give_the_rows_of_the_definitions(options: Options) -> None:
    @given(cases(options))
    def agrees(case: Case) -> None:
        assert engine_answers(case) == oracle_answers(case)

    agrees()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_each_rule_alone_changes_no_row(rule: Rule) -> None:
    @settings(max_examples=40)
    @given(cases(Options(often_graphs=True, foreign_filters=True)))
    def agrees(case: Case) -> None:
        with patch.object(optimize, "RULES", (rule,)):
            found = engine_answers(case)
        assert found == oracle_answers(case)

    agrees()


def changed_by(rule: Rule, options: Options) -> Counter[bool]:
    """In how many random queries with matches a rule, after those before it, has something to do."""
    seen: Counter[bool] = Counter()

    @settings(max_examples=150, derandomize=True, phases=[Phase.generate], database=None, deadline=None)
    @given(cases(options))
    def look(case: Case) -> None:
        if oracle_answers(case):
            query = parse(text(case.query))
            for earlier in RULES[: RULES.index(rule)]:
                query = earlier(query)
            seen[rule(query) != query] += 1

    look()
    return seen


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_has_something_to_do_in_many_cases_with_answers(rule: Rule) -> None:
    seen = changed_by(rule, BLOCKS if rule is late_graph else PLAIN_PARTS)
    assert seen[True] > 0.05 * seen.total() > 2


@given(cases(Options(often_graphs=True, foreign_filters=True)))
def test_rules_have_nothing_to_do_where_they_have_been(case: Case) -> None:
    query = rewritten(parse(text(case.query)))
    for rule in RULES:
        assert rule(query) == query
