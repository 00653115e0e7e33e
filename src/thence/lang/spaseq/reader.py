"""From a parse tree to a draft of a SPAseQ query: what the grammar can't refuse with a reason is refused here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

from lark import Token

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Bgp, Graph, Join, Pattern, Select, SubSelect
from thence.algebra.spaseq import (
    AggregateVariable,
    Conjunction,
    Disjunction,
    Gpm,
    IterationAggregate,
    IterationFunction,
    Occurrence,
    Operand,
    Quantifier,
    Selection,
    SequencePart,
)
from thence.algebra.variables import in_scope
from thence.lang.sparql.group_reader import BindElement, Element, FilterElement, MinusElement, OptionalElement
from thence.lang.sparql.triple_reader import Triples
from thence.lang.spaseq.clauses import ClauseReader, OriginClause, PartitionClause, WithinClause
from thence.lang.spaseq.draft import (
    Draft,
    DraftAggregate,
    DraftColumn,
    DraftEvents,
    DraftGpm,
    DraftRows,
    Form,
    NamedStream,
)
from thence.lang.syntax import offset
from thence.lang.words import name

LONGEST = 200
"""The most GPM names that SEQ may hold, and the most GPMs that may be defined."""

OPTIONALS = 10
"""The most parts with `?`: each doubles the number of sequences that are sought."""


@dataclass(frozen=True, slots=True)
class QuantifiedOperand:
    """An operand with its unary operator, and where that stands."""

    operand: Operand
    sign: Token


@dataclass(frozen=True, slots=True)
class PlacedCondition(FilterElement):
    """FILTER, and where it stands."""

    at: int


@dataclass(frozen=True, slots=True)
class GpmBody:
    """What stands between the braces of a GPM, as `Gpm` has it apart."""

    pattern: Pattern
    graphs: tuple[Graph, ...]
    filters: tuple[PlacedCondition, ...]
    written: tuple[Variable, ...]


SequenceStep: TypeAlias = Operand | QuantifiedOperand


class SequenceReader(ClauseReader):
    """SPAseQ over SPARQL."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places: list[int] = []
        self._aggregates: dict[Variable, DraftAggregate] = {}
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)

    def sequence_query(self, _: None, form: Form, *rest: Any) -> Draft:
        clauses = [
            part for part in rest if isinstance(part, WithinClause | OriginClause | PartitionClause | NamedStream)
        ]
        partition = self.partitioned(clauses)
        gpms = tuple(part for part in rest if isinstance(part, DraftGpm))
        if len(gpms) > LONGEST:
            raise self.error(f"{len(gpms):,} GPMs are defined; at most {LONGEST} are allowed.", at=gpms[LONGEST].at)
        return Draft(
            text=self.text,
            form=form,
            streams=tuple(clause for clause in clauses if isinstance(clause, NamedStream)),
            sequence=next(part for part in rest if isinstance(part, tuple)),
            gpms=gpms,
            window=self.window(clauses),
            partition=partition.variables if partition else (),
            partition_at=partition.at if partition else 0,
            aggregates=self._aggregates,
            places=tuple(self._places),
            named=self._named,
        )

    def var(self, token: Token) -> Variable:
        variable = super().var(token)
        self._named[variable].append(offset(token))
        return variable

    # SELECT and CONSTRUCT

    def select_rows(self, *parts: Token | DraftColumn) -> DraftRows:
        words = [name(part.type) for part in parts if isinstance(part, Token)]
        columns = tuple(part for part in parts if isinstance(part, DraftColumn))
        return DraftRows(None if "STAR" in words else columns, "DISTINCT" in words, self.here)

    def column(self, *parts: Any) -> DraftColumn:
        *expression, variable = parts
        return DraftColumn(variable, expression[0] if expression else None, self.here)

    def construct_events(self, template: Any) -> DraftEvents:
        return DraftEvents(template, self.here)

    def iteration_aggregate(self, function: Token, *rest: Any) -> Expression:
        found = IterationFunction(function.upper())
        return self._file(IterationAggregate(found, rest[-1], distinct=len(rest) > 1))

    def iteration_count(self, _: Token, gpm: str) -> Expression:
        return self._file(IterationAggregate(IterationFunction.COUNT, gpm))

    def gpm_name(self, token: Token) -> str:
        return str(token)

    def _file(self, aggregate: IterationAggregate) -> Variable:
        """A variable that stands for the aggregate until it is known whether one may stand there at all."""
        variable = AggregateVariable(f"read {len(self._aggregates)}")
        self._aggregates[variable] = DraftAggregate(aggregate, self.here)
        return variable

    # SEQ

    def sequence(self, steps: tuple[SequenceStep | Token, ...]) -> tuple[SequencePart, ...]:
        if len(self._places) > LONGEST:
            reason = f"SEQ names {len(self._places):,} GPMs; at most {LONGEST} are allowed."
            raise self.error(reason, at=self._places[LONGEST])
        selections = [None, *(Selection(str(sign)) for sign in steps[1::2])]
        parts = tuple(map(_part, selections, steps[::2]))
        optionals = [part for part in parts if part.quantifier is Quantifier.OPTIONAL]
        if len(optionals) > OPTIONALS:
            raise self.error(f'SEQ has {len(optionals)} parts with "?"; at most {OPTIONALS} are allowed.')
        return parts

    def parts(self, *steps: SequenceStep | Token) -> tuple[SequenceStep | Token, ...]:
        return steps

    def occurrence(self, token: Token) -> Occurrence:
        self._places.append(offset(token))
        return Occurrence(str(token), len(self._places) - 1)

    def bracketed(self, steps: tuple[SequenceStep | Token, ...]) -> Operand:
        if len(steps) > 1:
            sign = steps[1]
            reason = f'A sequence can\'t stand in parentheses: they hold GPMs joined by "&" and "|", found "{sign}".'
            raise self.error(reason, at=offset(sign), hint="the sequence without parentheses")
        return self._plain(steps[0], "in parentheses", "(…)")

    def quantified(self, operand: Operand, *signs: Token) -> SequenceStep:
        if len(signs) > 1:
            both = "".join(signs)
            raise self.error(
                f'Two operators, "{both}", on one operand.', at=offset(signs[1]), hint=f'"{both[0]}" alone'
            )
        return QuantifiedOperand(operand, signs[0]) if signs else operand

    def conjunction(self, *steps: SequenceStep) -> Operand:
        return reduce(Conjunction, [self._plain(step, 'beside "&"', "(A & B)") for step in steps])

    def disjunction(self, *steps: SequenceStep) -> Operand:
        return reduce(Disjunction, [self._plain(step, 'beside "|"', "(A | B)") for step in steps])

    def _plain(self, step: Any, where: str, group: str) -> Operand:
        if isinstance(step, QuantifiedOperand):
            reason = f'"{step.sign}" can\'t stand {where}: it is about a whole part of the sequence.'
            raise self.error(reason, at=offset(step.sign), hint=f"{group}{step.sign}")
        operand: Operand = step
        return operand

    # GPMs

    def gpm(self, token: Token, stream: Token, body: GpmBody | Select) -> DraftGpm:
        if isinstance(body, Select):
            pattern = SubSelect(body)
            body = GpmBody(pattern, (), (), in_scope(pattern))
        filters = tuple(condition.expression for condition in body.filters)
        return DraftGpm(
            gpm=Gpm(str(token), str(stream), body.pattern, body.graphs, filters),
            at=offset(token),
            stream_at=offset(stream),
            filters_at=tuple(condition.at for condition in body.filters),
            written=body.written,
        )

    def gpm_pattern(self, *parts: Element | FilterElement | Triples) -> GpmBody:
        """Its GRAPH blocks and filters apart (Definition 15): the blocks join with the rest, wherever they stand."""
        graphs: list[Graph] = []
        rest: list[Element | FilterElement | Triples] = []
        for part in parts:
            operands = _joined(part) if isinstance(part, Join) else [part]
            blocks = [operand for operand in operands if isinstance(operand, Graph)]
            graphs += blocks
            rest += [operand for operand in operands if not isinstance(operand, Graph)] if blocks else [part]
        pattern = self._pattern(self._elements(tuple(rest)))
        in_graphs = {variable for graph in graphs for variable in in_scope(graph)}
        for part in rest:
            if isinstance(part, BindElement):
                self._forbid_rebinding(part, in_graphs)
        return GpmBody(
            pattern,
            tuple(graphs),
            tuple(part for part in rest if isinstance(part, PlacedCondition)),
            tuple(dict.fromkeys(variable for part in parts for variable in _binds(part))),
        )

    def filter(self, condition: Expression) -> PlacedCondition:
        return PlacedCondition(super().filter(condition).expression, self.here)


def _part(selection: Selection | None, step: Any) -> SequencePart:
    if isinstance(step, QuantifiedOperand):
        return SequencePart(selection, step.operand, Quantifier(str(step.sign)))
    return SequencePart(selection, step)


def _joined(join: Join) -> list[Pattern]:
    """The operands of a join, however it was bracketed."""
    operands: list[Pattern] = []
    waiting: list[Pattern] = [join]
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, Join):
            waiting += [pattern.right, pattern.left]
        else:
            operands.append(pattern)
    return operands


def _binds(part: Element | FilterElement | Triples) -> tuple[Variable, ...]:
    """The variables that an element of a group binds, in the order of its text."""
    match part:
        case FilterElement() | MinusElement():
            return ()
        case BindElement():
            return (part.variable,)
        case OptionalElement():
            return in_scope(part.group.pattern)
        case tuple():
            return in_scope(Bgp(part))
        case _:
            return in_scope(part)
