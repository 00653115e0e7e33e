"""Join keys: the variables that separate the events of a query, used to find runs and to choose shards."""

from __future__ import annotations

from thence.algebra.expressions import Variable
from thence.algebra.spaseq import Operand, SequenceQuery, certain_in, locals_of, occurrences, whole_pattern
from thence.algebra.variables import always_bound


def shard_key(query: SequenceQuery) -> tuple[Variable, ...]:
    """The variables that every GPM of the sequence binds in each of its matches (negated GPMs too) and that keep one
    value through a run: events that differ in them never meet. May be empty.

    >>> from thence.lang.spaseq.parser import parse
    >>> query = parse('''SELECT * WITHIN 9 TICKS FROM STREAM S <x:s> { SEQ (A ; B+ , N! ; A)
    ...     DEFINE GPM A ON S { ?house <x:a> ?a } DEFINE GPM B ON S { ?house <x:b> ?b }
    ...     DEFINE GPM N ON S { ?house <x:off> 1 } }''')
    >>> print(*shard_key(query))
    ?house
    """
    places = [found for part in query.sequence for found in occurrences(part.operand)]
    bound = [always_bound(whole_pattern(query.gpm(found.gpm))) for found in places]
    changing = frozenset[Variable]().union(*(locals_of(query, found.place) for found in places))
    shared = frozenset.intersection(*bound) - changing
    return tuple(sorted(shared, key=lambda variable: variable.name))


def join_key(
    query: SequenceQuery, operand: Operand, bound: frozenset[Variable], anew: frozenset[Variable]
) -> frozenset[Variable]:
    """The variables by which the runs that an operand's match can join are found: bound in all runs that wait for it,
    bound by every match of it, and not forgotten when it joins."""
    return (bound & certain_in(query, operand)) - anew
