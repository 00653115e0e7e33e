"""Groups of EP-SPARQL: chains of SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL and UNION (EP-7 to EP-11, EP-21, EP-22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lark import Token

from thence.algebra.patterns import ChainOperator, Graph, Pattern, TemporalJoin, Union, Values
from thence.algebra.traversal import DEPTH, chain
from thence.errors import QueryError
from thence.lang.mistakes import Diagnosis
from thence.lang.sparql.group_reader import (
    BindElement,
    Element,
    FilterElement,
    GroupDraft,
    MinusElement,
    OptionalElement,
    QueryReader,
)
from thence.lang.sparql.term_reader import Triples
from thence.lang.syntax import LONG_OPERATORS, offset

UNION = "UNION"
SEQOPTIONAL = Diagnosis(
    "SEQOPTIONAL is not supported: a later event would refute a row that was emitted without its optional part.",
    "OPTIONALSEQ, with the optional part first",
)
"""The counterexample is query (7) of the paper."""


@dataclass(frozen=True, slots=True)
class OperatorElement:
    """An operator between two operands: its keyword in upper case, and where it is."""

    keyword: str
    at: int


Part: TypeAlias = Element | FilterElement | Triples | GroupDraft | OperatorElement
"""An element of a group. A `GroupDraft` is a group in braces, a tuple of triples an unbroken block without them."""

Operand: TypeAlias = GroupDraft | Pattern


class ChainReader(QueryReader):
    """SPARQL's queries with chains in their groups."""

    def temporal_operator(self, token: Token) -> OperatorElement:
        return OperatorElement(token.upper(), offset(token))

    def group_or_union_graph_pattern(self, *groups: GroupDraft) -> Any:
        """The group as it is: whether it is an operand depends on its neighbours."""
        return groups[0]

    def group_graph_pattern_sub(self, *parts: Any) -> GroupDraft:
        filters = tuple(part.expression for part in parts if isinstance(part, FilterElement))
        return GroupDraft(self._pattern(self._elements(self._chained(parts))), filters)

    unbraced_group = braced_first = group_graph_pattern_sub

    def where_clause(self, group: GroupDraft) -> GroupDraft:
        return group

    def _chained(self, parts: Sequence[Part]) -> tuple[Element | FilterElement | Triples, ...]:
        """The parts with each chain made one pattern."""
        if sum(isinstance(part, OperatorElement) and part.keyword != UNION for part in parts) >= DEPTH:
            raise self.error(LONG_OPERATORS)
        found: list[Element | FilterElement | Triples | GroupDraft] = []
        index = 0
        while index < len(parts):
            part = parts[index]
            if isinstance(part, OperatorElement):
                first = self._left(part, parts[index - 1] if index else None, found)
                length = self._length(parts, index)
                found.append(_chain(first, parts[index : index + length : 2], self._operands(parts, index, length)))
                index += length
            else:
                found.append(part)
                index += 1
        return _whole(found)

    def _left(self, operator: OperatorElement, before: Part | None, found: list[Any]) -> Operand:
        """The first operand of a chain, taken from what was found so far."""
        match before:
            case GroupDraft():
                found.pop()
                return before
            case tuple():
                return self._bgp(found.pop())
            case OptionalElement():  # which has all that precedes it as its left side (EP-10)
                everything = _whole(found)
                found.clear()
                return self._pattern(self._elements(everything))
            case None:
                raise self._apart(operator, "first")
            case _:
                word = _keyword(before)
                reason = f"{operator.keyword} is not allowed directly after {word}: it belongs between two groups."
                hint = f"{{ … {word} … }} {operator.keyword} {{ … }}"
                if isinstance(before, FilterElement):
                    hint = "FILTER after the last group"
                raise self.error(reason, at=operator.at, hint=hint)

    def _length(self, parts: Sequence[Part], index: int) -> int:
        """The number of parts of the rest of a chain, from the operator at this index on."""
        end = index
        while end < len(parts) and isinstance(operator := parts[end], OperatorElement):
            after = parts[end + 1] if end + 1 < len(parts) else None
            if after is None:
                raise self._apart(operator, "last")
            if not isinstance(after, GroupDraft | tuple):
                raise self._without_right(operator, after)
            end += 2
        return end - index

    def _operands(self, parts: Sequence[Part], index: int, length: int) -> list[Operand]:
        """The right operands of a chain."""
        found: list[Operand] = []
        for part in parts[index + 1 : index + length : 2]:
            assert isinstance(part, GroupDraft | tuple)
            found.append(self._bgp(part) if isinstance(part, tuple) else part)
        return found

    def _apart(self, operator: OperatorElement, place: str) -> QueryError:
        reason = f"{operator.keyword} is not allowed {place} in a group: it belongs between two groups."
        return self.error(reason, at=operator.at, hint=f"{{ … }} {operator.keyword} {{ … }}")

    def _without_right(self, operator: OperatorElement, after: Part) -> QueryError:
        keyword, word = operator.keyword, _keyword(after)
        if word == "OPTIONAL" and keyword == "SEQ":
            return self.error(SEQOPTIONAL.reason, at=operator.at, hint=SEQOPTIONAL.hint)
        if word == "OPTIONAL" and keyword == "EQUALS":
            return self.error("EQUALSOPTIONAL is one word.", at=operator.at, hint="EQUALSOPTIONAL")
        reason = f"{keyword} needs a group or triples after it, found {word}."
        if isinstance(after, OperatorElement):
            return self.error(reason, at=after.at, hint=f"{keyword} {{ … }} {word} {{ … }}")
        return self.error(reason, at=operator.at, hint=f"{keyword} {{ {word} … }}")


def _whole(parts: Sequence[Any]) -> tuple[Element | FilterElement | Triples, ...]:
    return tuple(part.whole if isinstance(part, GroupDraft) else part for part in parts)


def _chain(first: Operand, operators: Sequence[Part], operands: Sequence[Operand]) -> Pattern:
    """The chain, left to right (EP-7). Neighbouring UNIONs are one chain of SPARQL's."""
    left = first
    arms: list[Pattern] = []
    for operator, right in zip(operators, operands, strict=True):
        assert isinstance(operator, OperatorElement)
        if operator.keyword == UNION:
            arms += [_pattern(right)] if arms else [_pattern(left), _pattern(right)]
            continue
        if arms:
            left, arms = chain(Union, arms), []
        left = _joined(ChainOperator(operator.keyword), left, right)
    return chain(Union, arms) if arms else _pattern(left)


def _joined(operator: ChainOperator, left: Operand, right: Operand) -> TemporalJoin:
    """The filters directly in the optional group, if it has braces, are the join's condition (EP-21, EP-22)."""
    if operator is ChainOperator.OPTIONALSEQ and isinstance(left, GroupDraft):
        return TemporalJoin(operator, left.pattern, _pattern(right), left.condition)
    if operator is ChainOperator.EQUALSOPTIONAL and isinstance(right, GroupDraft):
        return TemporalJoin(operator, _pattern(left), right.pattern, right.condition)
    return TemporalJoin(operator, _pattern(left), _pattern(right))


def _pattern(operand: Operand) -> Pattern:
    return operand.whole if isinstance(operand, GroupDraft) else operand


def _keyword(part: Part) -> str:
    match part:
        case OperatorElement():
            return part.keyword
        case OptionalElement():
            return "OPTIONAL"
        case MinusElement():
            return "MINUS"
        case BindElement():
            return "BIND"
        case FilterElement():
            return "FILTER"
        case Values():
            return "VALUES"
        case Graph():
            return "GRAPH"
        case _:
            return "a pattern"
