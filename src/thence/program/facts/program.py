"""A compiled file of TEF-SPARQL: a `Program` of `thence.program.operator`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from thence.algebra.patterns import Pattern
from thence.algebra.streams import Stream
from thence.algebra.tef_sparql import TefFile
from thence.program.operator import Feature, ShardKey, TieOrder
from thence.program.output import Output
from thence.program.tables import KeyPositions, Table
from thence.rdf.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class FactsProgram:
    """A file: its statements run together, since they feed each other."""

    file: TefFile
    tables: tuple[Table, ...]  # one for each stream, in the order of FROM STREAM: all triples
    shard_key: ShardKey
    output: Output
    key_positions: KeyPositions = ()

    @property
    def streams(self) -> tuple[Stream, ...]:
        return self.file.streams

    @property
    def namespace(self) -> str:
        return self.file.namespace

    @property
    def constants(self) -> tuple[Term, ...]:
        return ()

    @property
    def features(self) -> frozenset[Feature]:
        return frozenset({Feature.BACKGROUND})

    @property
    def waits_for_time(self) -> bool:
        """Events are taken once the watermark has passed them (TEF-17), and time alone may drive a step (TEF-64)."""
        return True

    @property
    def ends_with_input(self) -> bool:
        return False

    @property
    def broadcasts_times(self) -> bool:
        """Facts of ON INIT start with the first event, whatever is in it (TEF-45)."""
        return True

    @property
    def tie_order(self) -> TieOrder:
        """Triples are taken one at a time (TEF-17 to TEF-20)."""
        return TieOrder.COMPLETE

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return ()

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: FactsProgram) -> str:
    return hashlib.sha256(repr((program.file, program.tables, program.shard_key)).encode()).hexdigest()
