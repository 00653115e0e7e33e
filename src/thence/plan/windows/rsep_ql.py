"""RSEP-QL → dataflow: one stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.algebra.expressions import Call, Variable
from thence.algebra.patterns import (
    BasicEvent,
    Bgp,
    Construct,
    EventSeq,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Modifiers,
    PathPattern,
    Pattern,
    Projection,
    Select,
    SeqPolicy,
    SubSelect,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.report import Report
from thence.algebra.rsep_ql import EventPattern, WindowQuery
from thence.algebra.traversal import nodes
from thence.algebra.variables import columns, has_aggregate, in_scope
from thence.kernel.windows.operator import WindowOperator
from thence.match import reason_for_plain
from thence.match.group_columns import can_group
from thence.match.modifiers import aggregates_of
from thence.plan.windows.join_order import connected_joins
from thence.plan.windows.maintenance import maintenance
from thence.plan.windows.presets import PRESETS, emitted, reported, with_policy
from thence.plan.windows.shard_keys import shard_key
from thence.plan.windows.state_warnings import state_warnings
from thence.plan.windows.window_triples import Tables, triples_by_window
from thence.program.dataflow import Dataflow, Stage
from thence.program.operator import one_shard
from thence.program.output import DerivedTriples, Output, term_rows
from thence.program.windows.maintenance import Maintenance
from thence.program.windows.program import EventMatch, EventTable, TriplePart, WindowProgram, WindowTriples


def compile_query(
    query: WindowQuery,
    *,
    optimise: bool = True,
    timed_out: bool = False,
    policy: str = "",
    report: Report | None = None,
) -> Dataflow:
    """The dataflow of a query. QueryError if the report policy needs a SLIDE that there is none of (RS-61, RS-66)."""
    preset = PRESETS[policy] if policy else None
    tables = Tables()
    windows = tuple(
        WindowTriples(name, _parts(query.window(name).stream, triples, tables, optimise))
        for name, triples in triples_by_window(query.form, query.merged).items()
    )
    events = tuple(_event_table(query, each, tables) for each in query.events)
    shown = frozenset(_shown(query.form))
    matches = tuple(
        _match(each, preset.policy if preset is not None else None, each.place in shown)
        for each in sorted(_matches(query.form.where), key=lambda each: each.place)
    )
    vectorised = optimise and reason_for_plain(query.form.where) is None
    key = one_shard(len(tables.listed), "the query is not optimised")
    if optimise:
        key = shard_key(query, windows, events, matches, tables)
    is_projection = _is_projection(query.form)
    where = connected_joins(query.form.where) if optimise else query.form.where
    kept = Maintenance(reasons=("the query is not optimised",))
    if optimise:
        evaluated = where if vectorised else query.form.where
        kept = maintenance(query, evaluated, windows, events, matches, tables, is_projection=is_projection)
    program = WindowProgram(
        query=query,
        report=reported(query, report, preset),
        emits=emitted(query, preset),
        windows=windows,
        events=events,
        matches=matches,
        tables=tuple(tables.listed),
        shard_key=key,
        output=_output(query.form),
        variables=_variables(query.form),
        is_projection=is_projection,
        where=where,
        vectorised=vectorised,
        groups_columns=vectorised and _groups_columns(query.form),
        asks_for_time=_has_now((query.form, query.events)),
        maintenance=kept,
        preset=policy,
    )
    return Dataflow((Stage(program, WindowOperator()),), tuple(state_warnings(program)))


def _parts(
    stream: str, triples: Sequence[TriplePattern | PathPattern], tables: Tables, optimise: bool
) -> tuple[TriplePart, ...]:
    """The triples that some patterns can match; all of them, where a path walks from one to the next."""
    if not optimise or any(isinstance(each, PathPattern) for each in triples):
        return (tables.triples(stream),)
    return tuple(dict.fromkeys(tables.matching(stream, each) for each in triples if isinstance(each, TriplePattern)))


def _matches(where: Pattern) -> dict[MatchPattern, None]:
    return dict.fromkeys(node for node in nodes(where) if isinstance(node, MatchPattern))


def _event_table(query: WindowQuery, event: EventPattern, tables: Tables) -> EventTable:
    stream = query.window(event.window).stream
    if not _depends_on_time(event.pattern):
        return EventTable(event.name, tables.number(stream, event.pattern))
    return EventTable(event.name, tables.number(stream, Bgp(())), tables.triples(stream).table)


def _depends_on_time(pattern: Pattern) -> bool:
    """Whether what an event matches depends on when it is asked (RS-31, RS-55)."""
    return _has_now(pattern) or any(isinstance(node, Graph) for node in nodes(pattern))


def _has_now(found: object) -> bool:
    return any(isinstance(node, Call) and node.function == "NOW" for node in nodes(found))


def _match(found: MatchPattern, policy: SeqPolicy | None, is_shown: bool) -> EventMatch:
    events = with_policy(found.events, policy)
    consuming = (SeqPolicy.CHRONOLOGICAL, SeqPolicy.RECENT)
    consumes = any(isinstance(node, EventSeq) and node.policy in consuming for node in nodes(events))
    names = [node.name for node in nodes(events) if isinstance(node, BasicEvent)]
    return EventMatch(events, frozenset(names), len(names), found.variables, consumes, is_shown)


def _variables(form: Select | Construct) -> tuple[Variable, ...]:
    """Of a row: what SELECT names, or what a template uses (RS-54)."""
    if isinstance(form, Select):
        return columns(form)
    return in_scope(Bgp(form.template))


def _is_projection(form: Select | Construct) -> bool:
    computed = isinstance(form, Select) and any(each.expression is not None for each in form.columns or ())
    return not computed and form.modifiers == Modifiers() and not (isinstance(form, Select) and form.distinct)


def _groups_columns(form: Select | Construct) -> bool:
    """Whether groups and aggregates can be computed over columns."""
    if not isinstance(form, Select):
        return False
    aggregates = aggregates_of(form.modifiers, form.columns or tuple(map(Projection, columns(form))))
    return aggregates is not None and can_group(form.modifiers.group, aggregates)


def _output(form: Select | Construct) -> Output:
    if isinstance(form, Construct):
        return DerivedTriples(intervals=False)
    return term_rows([variable.name for variable in columns(form)])


# Which rows list the events of which MATCH (RS-56)


def _shown(form: Select | Construct | SubSelect) -> Iterator[int]:
    """The MATCHes whose events a row lists: those that neither DISTINCT nor an aggregate hides."""
    select = form.select if isinstance(form, SubSelect) else form
    if isinstance(select, Select) and select.distinct:
        return
    listed = select.columns or () if isinstance(select, Select) else ()
    modifiers = select.modifiers
    expressions = [column.expression for column in listed if column.expression is not None]
    expressions += [*modifiers.having, *(key.expression for key in modifiers.order)]
    if modifiers.group is not None or any(map(has_aggregate, expressions)):
        return
    yield from _shown_in(select.where)


def _shown_in(pattern: Pattern) -> Iterator[int]:
    match pattern:
        case MatchPattern():
            yield pattern.place
        case Join() | LeftJoin() | Union():
            yield from _shown_in(pattern.left)
            yield from _shown_in(pattern.right)
        case Minus():
            yield from _shown_in(pattern.left)
        case Filter() | Extend() | WindowPattern() | Graph():
            yield from _shown_in(pattern.pattern)
        case SubSelect():
            yield from _shown(pattern)
        case _:
            return
