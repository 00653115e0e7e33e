"""TEF-SPARQL by its definitions: Kietz, Scharrenbach, Fischer, Nguyen, Bernstein, "TEF-SPARQL: The DDIS query-language
for time annotated event and fact Triple-Streams", chapter 4, with the rules TEF-1 to TEF-77.

`rows` gives the rows of a program's SELECTs, `facts` all its facts, `constructed` the events that it constructs.
"""

from __future__ import annotations

from collections.abc import Iterable

from oracle.tef_sparql_query import Program
from oracle.tef_sparql_steps import Constructed as Constructed
from oracle.tef_sparql_steps import FactRow as FactRow
from oracle.tef_sparql_steps import GivenEvent as GivenEvent
from oracle.tef_sparql_steps import Row as Row
from oracle.tef_sparql_steps import Run as Run
from oracle.tef_sparql_steps import TooManySteps as TooManySteps
from oracle.tef_sparql_steps import triple_rank as triple_rank
from oracle.terms import Triple


def rows(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
) -> list[Row]:
    """The rows of all SELECTs in the order in which they are emitted. `until` is the last watermark: instants before it
    are run (TEF-17); None is the end of input."""
    return Run(program, events, background, limit).run(until).rows


def facts(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
) -> list[FactRow]:
    """All facts, made ones and those of views, in order of start, end, triple."""
    run = Run(program, events, background, limit).run(until)
    found = {(fact.start, fact.end, fact.triple) for fact in run.facts}
    return sorted(found, key=lambda fact: (fact[0], fact[1] is None, fact[1] or 0, triple_rank(fact[2])))


def constructed(
    program: Program,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    until: int | None = None,
    limit: int = 10_000,
) -> list[Constructed]:
    """What CONSTRUCT EVENT makes, in the order in which it is made."""
    return Run(program, events, background, limit).run(until).constructed
