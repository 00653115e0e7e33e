"""RSEP-QL: how often groups have terms, and which of these is the least or greatest, while members come and go."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.dictionary import Terms
from thence.engines.windows import running_groups as ordered_terms
from thence.engines.windows.running_groups import ExtremeTerms, TermCounts
from thence.rdf.terms import IRI, XSD, BlankNode, Literal
from thence.rdf.values import total_key

TERMS = [
    *(Literal(text, XSD + "integer") for text in ("1", "01", "2", "-3")),
    *(Literal(text, XSD + "decimal") for text in ("1.0", "1.5")),
    *(Literal(text, XSD + "double") for text in ("1e0", "NaN", "INF")),
    *(Literal("1"), IRI("x:y"), BlankNode("b"), Literal("y", XSD + "integer")),
]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(TERMS)), max_size=60), st.randoms(use_true_random=False))
def test_the_first_term_is_the_least_or_greatest_that_is_there(rows: list[tuple[int, Literal]], random: Random) -> None:
    """Equal numbers go by their texts (SPARQL 1.1, 18.5.1.5 and 18.5.1.6, leave them open)."""
    terms, known = Terms(), TermCounts()
    least, most = ExtremeTerms(descending=False), ExtremeTerms(descending=True)
    held: list[tuple[int, Literal]] = []
    sizes = np.zeros(3, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_terms, "_FEW", 1)
        patch.setattr(ordered_terms, "_MOST_ENTRIES", 5)
        while rows or held:
            came = [rows.pop() for _ in range(min(len(rows), random.randrange(5)))]
            held += came
            random.shuffle(held)
            went = [held.pop() for _ in range(min(len(held), random.randrange(5)))]
            ids = terms.add_all(each for _, each in (*came, *went))
            groups = np.array([group for group, _ in (*came, *went)], np.int64)
            signs = np.repeat(np.array([1, -1]), [len(came), len(went)])
            changes = known.update(groups, ids, signs)
            np.add.at(sizes, changes[0], changes[2])
            for group in range(3):
                own = Counter(each for number, each in held if number == group)
                assert sizes[group] == len(own)
            for each, choose in ((least, min), (most, max)):
                each.update(changes, known, sizes, terms)
                for group in range(3):
                    own = Counter(each for number, each in held if number == group)
                    first = each.first(group, known)
                    expected = choose(own, key=total_key) if own else None
                    assert (None if first is None else terms[first]) == expected


def test_terms_that_have_left_do_not_pile_up() -> None:
    """The least stays, and all others come and go behind it."""
    terms, known, least = Terms(), TermCounts(), ExtremeTerms(descending=False)
    ids = terms.add_all(Literal(str(number), XSD + "integer") for number in range(2000))
    sizes = np.ones(1, np.int64)
    least.update(known.update(np.zeros(1, np.int64), ids[:1], np.ones(1, np.int64)), known, sizes, terms)
    for id in ids[1:].tolist():
        for sign in (1, -1):
            one = np.array([0]), np.array([id], np.int32), np.array([sign])
            sizes[0] += sign
            least.update(known.update(*one), known, sizes, terms)
        assert least.first(0, known) == ids[0]
    assert len(least.heaps[0]) < 40 and len(known.counts) == 1
