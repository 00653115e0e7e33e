"""Random EP-SPARQL files, such as the parser can produce."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from support.algebras import ARITIES, Maker
from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME, RuleFile, Statement
from thence.algebra.expressions import Call, Coalesce, Expression
from thence.algebra.patterns import ChainOperator, Construct, Pattern, TemporalJoin, TriplePattern
from thence.rdf.terms import BlankNode

_CALLED = {name: arity for name, arity in ARITIES.items() if name not in ("RAND", "NOW")}
_OPTIONAL = (ChainOperator.OPTIONALSEQ, ChainOperator.EQUALSOPTIONAL)


class RuleMaker(Maker):
    """Draws the parts of one file."""

    def file(self, depth: int) -> RuleFile:
        namespace = self._one(st.sampled_from(["http://example.org/", "urn:n#"]))
        return RuleFile(self._some(lambda: self._statement(depth), 1), namespace)

    def _statement(self, depth: int) -> Statement:
        rule = lambda: Construct(self._template(), self.pattern(depth), self._modifiers(depth))  # noqa: E731
        return self._either([lambda: self.select(depth), rule])

    def pattern(self, depth: int) -> Pattern:
        if depth == 0 or self._one(st.booleans()):
            return super().pattern(depth)
        operator = self._one(st.sampled_from(ChainOperator))
        left, right = self.pattern(depth - 1), self.pattern(depth - 1)
        condition = self._maybe(lambda: self.expression(depth - 1)) if operator in _OPTIONAL else None
        return TemporalJoin(operator, left, right, condition)

    def _call(self, below: Callable[[], Expression]) -> Expression:
        if self._one(st.booleans()):  # in COALESCE, since a comparison with a text would be refused
            return Coalesce((Call(self._one(st.sampled_from([DURATION, START_TIME, END_TIME])), ()), below()))
        function = self._one(st.sampled_from(sorted(_CALLED)))
        return Call(function, tuple(below() for _ in range(_CALLED[function])))

    def _template(self) -> tuple[TriplePattern, ...]:
        """A template with a node of its own: a label may stand in two statements, not twice in one WHERE."""
        node = BlankNode(f"t{next(self._fresh)}")
        found = super()._template()
        return tuple(TriplePattern(node, each.predicate, each.object) for each in found)


@st.composite
def rule_files(draw: Any, depth: int = 2) -> RuleFile:
    return RuleMaker(draw).file(depth)


@st.composite
def temporal_patterns(draw: Any, depth: int = 3) -> Pattern:
    return RuleMaker(draw).pattern(depth)
