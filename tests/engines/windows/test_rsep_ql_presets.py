"""RS-62: EP-SPARQL under a policy emits what RSEP-QL's preset emits, on random chains of SEQs over single triples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st

import thence
from oracle.ep_sparql_cases import Stream
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_query import (
    Chain,
    Column,
    Group,
    Operator,
    Pattern,
    Select,
    Slot,
    Triples,
    in_scope,
)
from oracle.ep_sparql_statements import Maker, Options, P, Q
from oracle.ep_sparql_text import _pattern as pattern_text
from oracle.ep_sparql_text import text, turtle
from oracle.terms import Blank, Iri, Triple, Var
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

POLICIES = {
    None: "ep-sparql-unrestricted",
    "unrestricted": "ep-sparql-unrestricted",
    "chronological": "ep-sparql-chronological",
    "recent": "ep-sparql-recent",
}


@dataclass(frozen=True)
class FlatChain:
    """`SELECT columns WHERE { {p1} SEQ {p2} … }`, with the events that it reads."""

    patterns: tuple[Pattern, ...]
    columns: tuple[str, ...]
    events: tuple[GivenEvent, ...]

    def ep_sparql(self) -> str:
        first, *rest = (Group((Triples((each,)),)) for each in self.patterns)
        chain = Chain(first, tuple((Operator.SEQ, each) for each in rest))
        return text((Select(tuple(map(Column, self.columns)), Group((chain,))),))

    def rsep_ql(self) -> str:
        """The same chain, each operand an EVENT; what the preset fills is left open (RS-60)."""
        names = [f"E{number}" for number, _ in enumerate(self.patterns, 1)]
        listed = zip(names, self.patterns, strict=True)
        declared = [f"EVENT ON :w {{ {pattern_text(each)} }} AS {name}" for name, each in listed]
        shown = " ".join(f"?{name}" for name in self.columns)
        return "\n".join(
            [
                f"PREFIX : <http://example.org/>\nSELECT {shown} FROM NAMED :S WIN AS :w",
                *declared,
                f"WHERE {{ MATCH {{ {' SEQ '.join(names)} }} }}",
            ]
        )


@st.composite
def flat_chains(draw: st.DrawFn) -> FlatChain:
    """Flat chains over patterns of one triple each. A blank node in a pattern would hide a variable: mappings of one
    event that differ in it alone are one in RSEP-QL (RS-26) and two in EP-SPARQL."""
    maker = Maker(lambda least, most: draw(st.integers(least, most)), Options(paths=False), derives=False)
    patterns = tuple(maker.pattern() for _ in range(maker.pick((2, 2, 2, 3, 3, 4))))
    assume(not any(isinstance(slot, Blank) for each in patterns for slot in (each.subject, each.object)))
    patterns = tuple(apart(each, number) if maker.chance(50) else each for number, each in enumerate(patterns))
    names = in_scope(Group((Triples(patterns),)))
    assume(names)
    columns = tuple(name for name in names if maker.chance(60)) if maker.chance(30) else tuple(names)
    stream = Stream(maker, patterns, blanks=False)
    given_events = points(stream.events(12, strict=True))
    return FlatChain(patterns, columns or tuple(names[:1]), given_events)


def apart(pattern: Pattern, number: int) -> Pattern:
    """The same pattern with variables that no other has: many events are partners then."""

    def renamed(slot: Slot) -> Slot:
        return Var(f"{slot.name}{number}") if isinstance(slot, Var) else slot

    return Pattern(renamed(pattern.subject), pattern.predicate, renamed(pattern.object))


def points(events: tuple[GivenEvent, ...]) -> tuple[GivenEvent, ...]:
    """The same events as points in time, each triple at most once at a time."""
    seen: set[tuple[int, Triple]] = set()
    found: list[GivenEvent] = []
    for name, _, end, triples in events:
        own = tuple(each for each in triples if (end, each) not in seen)
        seen |= {(end, each) for each in own}
        if own:
            found.append((name, end, end, own))
    return tuple(found)


def emitted(query: str, language: str, events: tuple[GivenEvent, ...], policy: str | None) -> Counter[object]:
    stream = [thence.Event(end, turtle(triples), id=name) for name, _, end, triples in events]
    matches = thence.parse(query, language=language).match(stream, policy=policy)
    return Counter((each.end, frozenset(each.bindings.items())) for each in matches if isinstance(each, Match))


def listed(query: str, language: str, events: tuple[GivenEvent, ...], policy: str | None) -> Counter[object]:
    """The events of the rows: they are those that are consumed (EP-71, RS-44)."""
    stream = [thence.Event(end, turtle(triples), id=name) for name, _, end, triples in events]
    matches = thence.parse(query, language=language).match(stream, policy=policy)
    found = (each for each in matches if isinstance(each, Match))
    return Counter((each.end, tuple(event.id for event in each.events)) for each in found)


A, B = Iri("a"), Iri("b")
SHARED = (Pattern(Var("x"), P, Var("n")), Pattern(Var("x"), Q, Var("y")))


def chain_of(*given_events: tuple[int, Triple]) -> FlatChain:
    points_in_time = tuple((f"e{number}", time, time, (triple,)) for number, (time, triple) in enumerate(given_events))
    return FlatChain(SHARED, ("x", "y"), points_in_time)


RIVALS = chain_of((1, (A, P, B)), (2, (A, P, A)), (3, (A, Q, B)), (3, (A, Q, A)), (4, (A, Q, B)), (5, (A, Q, A)))


@pytest.mark.parametrize("policy", POLICIES)
@given(chain=flat_chains())
@example(chain=RIVALS)
def test_a_policy_of_ep_sparql_emits_what_the_preset_emits(policy: str | None, chain: FlatChain) -> None:
    """RS-62, RS-57."""
    preset = POLICIES[policy]
    expected = emitted(chain.ep_sparql(), "ep-sparql", chain.events, policy)
    assert emitted(chain.rsep_ql(), "rsep-ql", chain.events, preset) == expected, chain.rsep_ql()


@pytest.mark.parametrize("policy", ["chronological", "recent"])
@given(chain=flat_chains())
@example(chain=RIVALS)
def test_rows_of_both_consume_the_same_events(policy: str, chain: FlatChain) -> None:
    """RS-62: RS-44 and EP-71, by what the rows list."""
    expected = listed(chain.ep_sparql(), "ep-sparql", chain.events, policy)
    assert listed(chain.rsep_ql(), "rsep-ql", chain.events, POLICIES[policy]) == expected, chain.rsep_ql()


def test_the_chains_are_telling() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=100, phases=[Phase.generate], derandomize=True)
    @given(flat_chains())
    def look(chain: FlatChain) -> None:
        chronological = emitted(chain.ep_sparql(), "ep-sparql", chain.events, "chronological")
        recent = emitted(chain.ep_sparql(), "ep-sparql", chain.events, "recent")
        counts["rows"] += bool(chronological)
        counts["several rows"] += chronological.total() > 1
        counts["the policies differ"] += chronological != recent

    look()
    assert counts["rows"] >= 40 and counts["several rows"] >= 15 and counts["the policies differ"] >= 8
