"""From a parse tree to a draft of a SPAseQ query: clauses, sequences, and output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias, TypeVar

from lark import Token

from thence.algebra.expressions import Aggregate, Exists, Expression, Variable
from thence.algebra.patterns import Bgp, Graph, Join, Pattern, Select, SubSelect
from thence.algebra.spaseq import (
    AggregateVariable,
    Conjunction,
    ConstructEvents,
    Disjunction,
    Gpm,
    IterationAggregate,
    IterationFunction,
    Occurrence,
    Operand,
    Quantifier,
    SelectColumn,
    Selection,
    SelectRows,
    SequencePart,
    occurrences,
)
from thence.algebra.streams import Stream, Window
from thence.algebra.traversal import DEPTH, depth, replaced
from thence.algebra.variables import in_scope, mentioned, parts
from thence.errors import InputError, QueryError, closest
from thence.lang.sparql.group_reader import (
    BindElement,
    Element,
    FilterElement,
    MinusElement,
    OptionalElement,
    QueryReader,
)
from thence.lang.sparql.term_reader import Triples
from thence.lang.spaseq.checks import GpmScope
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
from thence.lang.text import name
from thence.rdf.terms import IRI, XSD, XSD_STRING, Literal
from thence.rdf.times import Domain, Instant, Span, parse_duration, parse_time

# The clauses of a SPAseQ query between SELECT and SEQ: WITHIN, PARTITION BY, FROM STREAM.

_DURATIONS = (XSD + "duration", XSD + "dayTimeDuration")


@dataclass(frozen=True, slots=True)
class WithinClause:
    span: Span
    tumbling: bool
    at: int


@dataclass(frozen=True, slots=True)
class OriginClause:
    """`FROM t`, which belongs to TUMBLING."""

    instant: Instant
    at: int


@dataclass(frozen=True, slots=True)
class PartitionClause:
    variables: tuple[Variable, ...]
    at: int


Clause: TypeAlias = WithinClause | OriginClause | PartitionClause | NamedStream
W = TypeVar("W", WithinClause, PartitionClause)


class ClauseReader(QueryReader):
    """The clauses, in any order."""

    def within(self, span: Span, tumbling: Token | None = None) -> WithinClause:
        return WithinClause(span, tumbling is not None, self.here)

    def duration(self, *parts: Token | Literal) -> Span:
        first = parts[0]
        if isinstance(first, Literal):
            if first.datatype not in (XSD_STRING, *_DURATIONS) or first.language is not None:
                raise self.error(f"{first} is not a duration.", hint='WITHIN "PT10M"')
            written = first.value
            if first.datatype in _DURATIONS and not written.strip().startswith("P"):
                raise self.error(f"{first} is not a duration.", hint='WITHIN "PT10M"')
        else:
            written = " ".join(str(part) for part in parts)
        try:
            span = parse_duration(written)
        except InputError as error:
            raise self._wrong(error) from None
        if span.length == 0:
            raise self.error("A window must be longer than 0.", hint="WITHIN 10 MINUTES")
        return span

    def origin(self, time: Token | Literal) -> OriginClause:
        try:
            match time:
                case Literal():
                    instant = parse_time(time)
                case Token(type="TIME"):
                    instant = parse_time(str(time))
                case _:
                    instant = parse_time(Literal(str(time), XSD + "integer"))
        except InputError as error:
            raise self._wrong(error) from None
        return OriginClause(instant, self.here)

    def partition(self, *variables: Variable) -> PartitionClause:
        twice = next((v for i, v in enumerate(variables) if v in variables[:i]), None)
        if twice is not None:
            raise self.error(f"PARTITION BY names {twice} twice.")
        return PartitionClause(variables, self.here)

    def stream(self, token: Token, iri: IRI) -> NamedStream:
        return NamedStream(Stream(str(token), iri), offset(token))

    def _wrong(self, error: InputError) -> QueryError:
        reason, _, hint = str(error).partition(" Try: ")
        return self.error(reason if reason.endswith(".") else f"{reason}.", hint=hint)

    def partitioned(self, clauses: list[Clause]) -> PartitionClause | None:
        """The one PARTITION BY, if there is one."""
        return self._only([clause for clause in clauses if isinstance(clause, PartitionClause)], "PARTITION BY")

    def window(self, clauses: list[Clause]) -> Window | None:
        """The window that WITHIN, TUMBLING and FROM t describe together."""
        within = self._only([clause for clause in clauses if isinstance(clause, WithinClause)], "WITHIN")
        origin: OriginClause | None = None
        for before, clause in zip((None, *clauses), clauses, strict=False):
            if isinstance(clause, OriginClause):
                if not (isinstance(before, WithinClause) and before.tumbling):
                    hint = "WITHIN 10 MINUTES TUMBLING FROM …" if within is None else "TUMBLING directly before it"
                    raise self.error("FROM with a time belongs to TUMBLING.", at=clause.at, hint=hint)
                origin = clause
        if within is None:
            return None
        if origin is None:
            return Window(within.span, within.tumbling)
        self._check_domains(within, origin)
        return Window(within.span, tumbling=True, origin=origin.instant.time)

    def _only(self, clauses: list[W], words: str) -> W | None:
        if len(clauses) > 1:
            raise self.error(f"{words} is given twice.", at=clauses[1].at, hint=f"one {words}")
        return clauses[0] if clauses else None

    def _check_domains(self, within: WithinClause, origin: OriginClause) -> None:
        if within.span.domain is origin.instant.domain:
            return
        if within.span.domain is Domain.TICKS:
            reason, hint = "WITHIN counts ticks, but TUMBLING begins at a date.", "TUMBLING FROM 0"
        else:
            reason, hint = "WITHIN is a time, but TUMBLING begins at a tick.", "TUMBLING FROM 2024-05-06T07:00:00Z"
        raise self.error(reason, at=origin.at, hint=hint)


# SELECT and CONSTRUCT of SPAseQ: what a row may name, and aggregates over the iterations of a closure.


def output(scope: GpmScope) -> SelectRows | ConstructEvents:
    """The form of the query, or the reason why it means nothing."""
    form = scope.draft.form
    match form:
        case DraftRows():
            return _SelectReader(scope).read(form)
        case DraftEvents():
            return _events(scope, form)


def check_aggregates(draft: Draft) -> None:
    """FIRST, LAST, COLLECT and COUNT(B) are about a whole match, so they are in its SELECT alone."""
    columns = draft.form.columns or () if isinstance(draft.form, DraftRows) else ()
    expressions = [column.expression for column in columns if column.expression is not None]
    allowed = {variable for expression in expressions for variable in mentioned(expression)}
    for variable, found in draft.aggregates.items():
        if variable not in allowed:
            function = found.aggregate.function.value
            reason = f"{function} over the iterations of a closure is allowed only in the query's own SELECT."
            raise draft.error(reason, found.at)


def _check_named(scope: GpmScope, names: Iterable[Variable], word: str, at: int) -> None:
    """Refuse the first of these names that no match binds."""
    missing = [name for name in names if name not in scope.bound]
    if missing:
        raise scope.unbound(f"{word} names", min(missing, key=lambda each: scope.draft.after(each, at)), at)


def _events(scope: GpmScope, form: DraftEvents) -> ConstructEvents:
    if not form.template:
        raise scope.draft.error("CONSTRUCT needs a triple: without one it makes no events.", form.at)
    slots = {slot for triple in form.template for slot in (triple.subject, triple.predicate, triple.object)}
    _check_named(scope, (slot for slot in slots if isinstance(slot, Variable)), "CONSTRUCT", form.at)
    return ConstructEvents(form.template)


class _SelectReader:
    """Reads the columns of one SELECT; one aggregate has one name in all of them."""

    def __init__(self, scope: GpmScope) -> None:
        self._scope = scope
        self._draft = scope.draft
        self._query = scope.query
        self._names: dict[IterationAggregate, Variable] = {}

    def read(self, form: DraftRows) -> SelectRows:
        if form.columns is None:
            return SelectRows(tuple(map(SelectColumn, self._scope.bound)), form.distinct)
        columns: dict[Variable, SelectColumn] = {}
        for draft in form.columns:
            if draft.variable not in columns or draft.expression is not None:
                self._check_name(draft, columns)
                columns[draft.variable] = self._column(draft, columns)
            elif columns[draft.variable].expression is not None:
                raise self._twice(draft)
        return SelectRows(tuple(columns.values()), form.distinct)

    def _check_name(self, draft: DraftColumn, columns: dict[Variable, SelectColumn]) -> None:
        if draft.expression is None:
            _check_named(self._scope, [draft.variable], "SELECT", draft.at)
        elif draft.variable in self._scope.bound:
            reason = f"AS gives {draft.variable} a value, but the GPMs bind {draft.variable} already."
            raise self._draft.error(reason, draft.at, hint="a new name")
        elif draft.variable in columns:
            raise self._twice(draft)

    def _twice(self, draft: DraftColumn) -> Exception:
        return self._draft.error(f"SELECT gives {draft.variable} a value twice.", draft.at, hint="a new name")

    def _column(self, draft: DraftColumn, before: dict[Variable, SelectColumn]) -> SelectColumn:
        expression = draft.expression
        if expression is None:
            return SelectColumn(draft.variable)
        if depth(expression) > DEPTH:
            raise self._draft.error(f"An expression may be at most {DEPTH} levels deep.", draft.at)
        if any(isinstance(part, Exists) for part in parts(expression)):
            reason = "EXISTS is not allowed in SELECT: it tests the graph of one event, and a match has many."
            raise self._draft.error(reason, draft.at, hint="FILTER EXISTS { … } in the GPM")
        found: dict[Variable, IterationAggregate] = {}
        expression = replaced(expression, lambda part: self._aggregate(part, draft, found))
        names = [name for name in mentioned(expression) if name not in found and name not in before]
        _check_named(self._scope, names, "SELECT", draft.at)
        return SelectColumn(draft.variable, expression, tuple(found.items()))

    def _aggregate(
        self, part: Expression, draft: DraftColumn, found: dict[Variable, IterationAggregate]
    ) -> Variable | None:
        """The variable that stands for an aggregate; None if this is not an aggregate."""
        match part:
            case Variable() if part in self._draft.aggregates:
                read = self._draft.aggregates[part]
            case Aggregate():
                read = DraftAggregate(self._iterated(part, draft), draft.at)
            case _:
                return None
        self._check_aggregate(read)
        name = self._names.setdefault(read.aggregate, AggregateVariable(str(len(self._names))))
        found[name] = read.aggregate
        return name

    def _iterated(self, part: Aggregate, draft: DraftColumn) -> IterationAggregate:
        function = IterationFunction(part.function.value)
        if part.operand is None:
            raise self._draft.error("COUNT(*) counts nothing here.", draft.at, hint="COUNT(B), of a GPM B under +")
        if not isinstance(part.operand, Variable) or part.operand in self._draft.aggregates:
            reason = f"{function.value} takes a variable of a closure, and no expression."
            raise self._draft.error(reason, draft.at, hint=f"{function.value}(?v), with the arithmetic around it")
        return IterationAggregate(function, part.operand, part.distinct, part.separator)

    def _check_aggregate(self, read: DraftAggregate) -> None:
        of = read.aggregate.of
        if isinstance(of, Variable):
            self._check_local(of, read)
        else:
            self._check_counted(of, read)

    def _check_local(self, variable: Variable, read: DraftAggregate) -> None:
        function = read.aggregate.function.value
        _check_named(self._scope, [variable], function, read.at)
        sequence = self._query.sequence
        holders = self._scope.holders(variable)
        closures = [index for index in holders if sequence[index].quantifier is Quantifier.PLUS]
        start = f"{function}({variable}) is about the iterations of a closure, but {variable}"
        if not closures:
            raise self._draft.error(f'{start} is in no GPM under "+".', read.at, hint=str(variable))
        if variable in self._query.partition:
            raise self._draft.error(f"{start} is what the query is partitioned by.", read.at, hint=str(variable))
        if len(holders) > 1:
            other = self._scope.binder([index for index in holders if index != closures[0]], variable)
            reason = f"{start} is also outside of it ({other}), and keeps one value."
            raise self._draft.error(reason, read.at, hint=str(variable))

    def _check_counted(self, name: str, read: DraftAggregate) -> None:
        known = [gpm.name for gpm in self._query.gpms]
        if name not in known:
            hint = closest(name, known)
            raise self._draft.error(f'COUNT names "{name}", which is not a GPM.', read.at, hint=hint)
        holding = [part for part in self._query.sequence if name in {found.gpm for found in occurrences(part.operand)}]
        closures = [part for part in holding if part.quantifier is Quantifier.PLUS]
        if not closures:
            reason = f'COUNT({name}) counts the iterations of a closure, but {name} is not under "+".'
            raise self._draft.error(reason, read.at, hint=f"{name}+ in SEQ")
        if len(holding) > 1:
            reason = f"COUNT({name}) is ambiguous: {name} is in {len(holding)} parts of the sequence."
            raise self._draft.error(reason, read.at, hint="a GPM of its own for each part")


# From a parse tree to a draft of a SPAseQ query: what the grammar can't refuse with a reason is refused here.

LONGEST = 200
"""The most GPM names that SEQ may hold, and the most GPMs that may be defined."""

OPTIONALS = 10
"""The most parts with `?`: each doubles the number of sequences that are sought."""


@dataclass(frozen=True, slots=True)
class QuantifiedOperand:
    """An operand with its unary operator, and where that is."""

    operand: Operand
    sign: Token


@dataclass(frozen=True, slots=True)
class PlacedCondition(FilterElement):
    """FILTER, and where it is."""

    at: int


@dataclass(frozen=True, slots=True)
class GpmBody:
    """The parts between the braces of a GPM, as in `Gpm`."""

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
        """A placeholder variable for the aggregate, until it is known whether an aggregate is allowed there."""
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
        """Its GRAPH blocks and filters apart (Definition 15): the blocks join with the rest, wherever they are."""
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
