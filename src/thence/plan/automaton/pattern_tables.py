"""The tables that the graph matcher fills: one for each GPM, shared by GPMs that differ in variable names only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.spaseq import SelectRows, SequenceQuery
from thence.algebra.spaseq_analysis import occurrences, variables_of, whole_pattern
from thence.algebra.traversal import nodes, numbered
from thence.algebra.variables import in_scope
from thence.program.automaton.program import Partition, Source
from thence.program.tables import Table


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a query, its GPMs as sources over them, and what tells its partitions."""

    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class _PatternRequest:
    """A pattern, the variables that it has, and which of them are wanted."""

    stream: str
    pattern: Pattern
    variables: tuple[Variable, ...]
    wanted: frozenset[Variable]
    table: int = field(default=-1)


def tables_of(
    query: SequenceQuery,
    written: SequenceQuery,
    *,
    optimise: bool,
    partial: bool = False,
    key: tuple[Variable, ...] = (),
) -> Tables:
    """Those that share a table have `key` in the same columns of it. Without `optimise`, each GPM has its own table, of
    all its variables; and of all its variables too where partial matches are asked for, which tell whatever they have
    bound. Partitions go by the query as written."""
    wanted = wanted_variables(query) if optimise and not partial else None
    sources = []
    for gpm in query.gpms:
        variables = variables_of(gpm)
        kept = frozenset(variables) if wanted is None else frozenset(variables) & wanted
        sources.append(_PatternRequest(gpm.stream, whole_pattern(gpm), variables, kept))
    partitions = _partitions(written)
    tables = _shared([*sources, *partitions], optimise, key)
    return Tables(
        tables=tables,
        sources=tuple(
            Source(gpm.name, gpm.stream, asked.pattern, _named(asked, tables), asked.table)
            for gpm, asked in zip(query.gpms, sources, strict=True)
        ),
        partitions=tuple(Partition(asked.table, _named(asked, tables)) for asked in partitions),
    )


def wanted_variables(query: SequenceQuery) -> frozenset[Variable]:
    """The variables that anything looks at but the match of one event: what is selected, what the machine's filters
    name, what two occurrences share, what partitions go by, what complete matches are joined by."""
    seen = Counter(
        variable
        for part in query.sequence
        for found in occurrences(part.operand)
        for variable in variables_of(query.gpm(found.gpm))
    )
    wanted = {variable for variable, times in seen.items() if times > 1} | set(query.partition)
    wanted |= _variables_in([gpm.filters for gpm in query.gpms])
    wanted |= _variables_in([part.demands for part in query.sequence])
    wanted.update(variable for late in query.late for variable in in_scope(late.block))
    if not isinstance(query.form, SelectRows):
        return frozenset(variable for gpm in query.gpms for variable in variables_of(gpm))
    for column in query.form.columns:
        wanted |= {column.variable} | _variables_in([column.expression, column.aggregates])
    return frozenset(wanted)


def _variables_in(parts: list[object]) -> set[Variable]:
    return {node for node in nodes(tuple(parts)) if isinstance(node, Variable)}


def _partitions(query: SequenceQuery) -> list[_PatternRequest]:
    """The GPMs that bind what is partitioned by, without FILTER and GRAPH."""
    by = frozenset(query.partition)
    stripped = [(gpm.stream, without_filters(gpm.pattern)) for gpm in query.gpms if by]
    asked = [_PatternRequest(stream, pattern, in_scope(pattern), by) for stream, pattern in stripped]
    return [each for each in asked if by <= frozenset(each.variables)]


def _shared(asked: list[_PatternRequest], optimise: bool, key: tuple[Variable, ...]) -> tuple[Table, ...]:
    """The tables of some questions, equal ones once; each question learns which is its own."""
    found: dict[object, int] = {}
    patterns: list[tuple[str, Pattern]] = []
    wanted: list[set[int]] = []
    for number, each in enumerate(asked):
        pattern = numbered(each.pattern, each.variables)
        columns = tuple(each.variables.index(v) if v in each.variables else -1 for v in key)
        each.table = found.setdefault((each.stream, pattern, columns) if optimise else number, len(patterns))
        if each.table == len(patterns):
            patterns.append((each.stream, pattern))
            wanted.append(set())
        wanted[each.table].update(place for place, v in enumerate(each.variables) if v in each.wanted)
    return tuple(
        Table(stream, pattern, tuple(Variable(str(place)) for place in sorted(places)))
        for (stream, pattern), places in zip(patterns, wanted, strict=True)
    )


def _named(asked: _PatternRequest, tables: tuple[Table, ...]) -> tuple[Variable, ...]:
    """What the variables of its table are called by one who asks."""
    return tuple(asked.variables[int(variable.name)] for variable in tables[asked.table].variables)


def without_filters(pattern: Pattern) -> Pattern:
    """A pattern without its FILTERs, as partitions are judged by it."""
    match pattern:
        case Filter():
            return without_filters(pattern.pattern)
        case LeftJoin():
            return LeftJoin(without_filters(pattern.left), without_filters(pattern.right))
        case Join() | Union() | Minus():
            return replace(pattern, left=without_filters(pattern.left), right=without_filters(pattern.right))
        case Extend() | Graph():
            return replace(pattern, pattern=without_filters(pattern.pattern))
        case Bgp() | Values() | SubSelect() | TemporalJoin() | WindowPattern() | MatchPattern():
            return pattern
