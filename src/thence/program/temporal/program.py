"""A compiled file of EP-SPARQL: a `Program` of `thence.program.operator`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.patterns import Graph, Pattern
from thence.algebra.streams import Stream
from thence.program.operator import Feature, ShardKey, TieOrder
from thence.program.output import Output
from thence.program.tables import Table
from thence.program.temporal.network import Assign, Network, OptionalCombine, Restrict, Summarise, Timeless, Without
from thence.program.temporal.seq_chains import SeqChain
from thence.rdf.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class TemporalProgram:
    """SELECTs of a file with the rules that feed them, or the rules alone."""

    file: RuleFile
    queries: tuple[int, ...]  # the numbers of the SELECTs, from 1; none: the rules are the output
    network: Network
    tables: tuple[Table, ...]
    shard_key: ShardKey
    output: Output
    features: frozenset[Feature]
    streams: tuple[Stream, ...]
    policy: str = "unrestricted"
    chain: SeqChain | None = None  # what the policy selects from; None: it is unrestricted

    @property
    def query(self) -> int:
        """The number of its first SELECT; 0: the rules are the output."""
        return self.queries[0] if self.queries else 0

    @property
    def namespace(self) -> str:
        return self.file.namespace

    @property
    def constants(self) -> tuple[Term, ...]:
        return ()

    @property
    def waits_for_time(self) -> bool:
        """Bare rows, MINUS, EXISTS, groups, slices and policies wait until their instant is closed (EP-43, EP-44)."""
        return self.chain is not None or self.network.by_instant or any(map(_waits, self.network.nodes))

    @property
    def ends_with_input(self) -> bool:
        return False

    @property
    def broadcasts_times(self) -> bool:
        return False

    @property
    def tie_order(self) -> TieOrder:
        """Of an occurrence the first event is listed (EP-81) and consumed (EP-72). A policy waits for all of a time
        (EP-43); without one, rows do not wait for events that may come before those that are there."""
        return TieOrder.SOURCE if self.chain is None else TieOrder.COMPLETE

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return tuple(
            node.pattern
            for node in self.network.nodes
            if isinstance(node, Timeless) and isinstance(node.pattern, Graph)
        )

    def fingerprint(self) -> str:
        return _fingerprint(self)


def _waits(node: object) -> bool:
    match node:
        case OptionalCombine() | Without() | Summarise():
            return True
        case Restrict() | Assign():
            return bool(node.condition.exists)
        case _:
            return False


@lru_cache(maxsize=16)
def _fingerprint(program: TemporalProgram) -> str:
    described = (program.file.statements, program.queries, program.network, program.tables, program.policy)
    return hashlib.sha256(repr((described, program.shard_key)).encode()).hexdigest()
