"""Chains of SEQs, for the policies: which nodes of a network are a chain, and which are its operands (EP-67)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeqChain:
    """`E1 SEQ E2 SEQ …` with the filters of its group. `node` emits the combinations that pass the filters."""

    node: int
    operands: tuple[SeqOperand, ...]

    def all(self) -> Iterator[SeqChain]:
        """It and the chains inside its operands."""
        yield self
        for operand in self.operands:
            if operand.chain is not None:
                yield from operand.chain.all()


@dataclass(frozen=True, slots=True)
class SeqOperand:
    """One operand. `node` emits its solutions; `chain` is set where it is a chain of its own, which selects too."""

    node: int
    chain: SeqChain | None = None
