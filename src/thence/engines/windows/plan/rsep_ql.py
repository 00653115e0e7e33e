"""RSEP-QL → dataflow: one stage, with what presets fill in (Table 1; RS-57 to RS-61)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thence.algebra.expressions import Call, Variable
from thence.algebra.patterns import (
    BasicEvent,
    Bgp,
    Construct,
    EventExpression,
    EventSeq,
    Extend,
    Filter,
    First,
    Graph,
    Join,
    Last,
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
from thence.algebra.rsep_ql import (
    EventPattern,
    NamedWindow,
    StreamOperator,
    TimeWindow,
    WindowFile,
    WindowQuery,
    is_written,
)
from thence.algebra.streams import OnClose, OnContent, OnNonEmpty, Report
from thence.algebra.traversal import nodes
from thence.algebra.variables import columns, has_aggregate, in_scope
from thence.engines.windows.content import is_bounded
from thence.engines.windows.operator import WindowOperator
from thence.engines.windows.plan.maintenance import connected_joins, maintenance
from thence.engines.windows.plan.needed_windows import needed_of
from thence.engines.windows.plan.shard_keys import shard_key
from thence.engines.windows.plan.window_triples import Tables, triples_by_window
from thence.engines.windows.program import (
    EventMatch,
    EventPatternTable,
    Maintenance,
    NeededTables,
    TriplePart,
    WindowProgram,
    WindowTriples,
)
from thence.errors import QueryError
from thence.interface.dataflow import Dataflow, Stage
from thence.interface.operator import one_shard
from thence.interface.output import DerivedTriples, Output, term_rows
from thence.match import reason_for_reference
from thence.match.group_columns import can_group
from thence.match.modifiers import aggregates_of
from thence.rdf.terms import IRI

# Presets (Table 1 of the paper; RS-57 to RS-61): what they fill in, where a query leaves it open.


@dataclass(frozen=True, slots=True)
class Preset:
    """Windows of the EP-SPARQL presets hold every event up to t (RS-58), as windows without brackets do anyway."""

    policy: SeqPolicy | None
    report: Report
    output: StreamOperator


PRESETS = {
    "ep-sparql-unrestricted": Preset(None, OnContent(), StreamOperator.ISTREAM),
    "ep-sparql-chronological": Preset(SeqPolicy.CHRONOLOGICAL, OnContent(), StreamOperator.RSTREAM),
    "ep-sparql-recent": Preset(SeqPolicy.RECENT, OnContent(), StreamOperator.RSTREAM),
    "c-sparql": Preset(SeqPolicy.NAIVE, OnClose(), StreamOperator.RSTREAM),
}


def slides(query: WindowQuery) -> list[int]:
    """The lengths of all SLIDEs."""
    functions = [window.function for window in query.windows]
    return [each.slide.length for each in functions if isinstance(each, TimeWindow) and each.slide is not None]


def reported(query: WindowQuery, option: Report | None, preset: Preset | None) -> Report:
    """The report policy: the clause, else the option, else the preset, else the default (RS-17)."""
    if preset is PRESETS["c-sparql"] and not slides(query):
        raise QueryError(
            "The preset c-sparql evaluates whenever a window slides, but no window has SLIDE.",
            hint="[RANGE 10 SLIDE 5]",
        )
    report = query.report or option or (preset.report if preset is not None else None)
    if report is None:
        closes = not query.is_cqels and query.windows and len(slides(query)) == len(query.windows)
        report = OnClose() if closes else OnContent()
    if isinstance(report, OnClose | OnNonEmpty) and not slides(query):
        word = "CLOSE" if isinstance(report, OnClose) else "NON_EMPTY_CONTENT"
        raise QueryError(
            f"ON {word} evaluates whenever a window slides, but no window has SLIDE.", hint="[RANGE 10 SLIDE 5]"
        )
    return report


def emitted(query: WindowQuery, preset: Preset | None) -> StreamOperator:
    """Selects the rows of an evaluation to emit: all, new or dropped ones (RS-50)."""
    if query.output is not None:
        return query.output
    if preset is not None:
        return preset.output
    return StreamOperator.ISTREAM if query.is_cqels else StreamOperator.RSTREAM


def with_policy(events: EventExpression, policy: SeqPolicy | None) -> EventExpression:
    """An event pattern whose bare SEQs have a policy (RS-60)."""
    match events:
        case BasicEvent():
            return events
        case First() | Last():
            return replace(events, events=with_policy(events.events, policy))
        case EventSeq():
            left, right = with_policy(events.left, policy), with_policy(events.right, policy)
            return EventSeq(left, right, events.policy or policy)


# Warnings about windows that keep events for ever.


def state_warnings(program: WindowProgram) -> Iterator[str]:
    """One warning for each window that is read and never drops an event."""
    for window in program.query.windows:
        if window.name in _read(program) and not is_bounded(window.function):
            yield (
                f"The window {_named(window)} keeps the events of {window.stream} for ever: nothing leaves it. "
                "Try: [RANGE 100], or [RANGE PT1H] where times are dates"
            )


def _read(program: WindowProgram) -> set[IRI]:
    query: WindowQuery = program.query
    matched = {name for each in program.matches for name in each.names}
    return {each.name for each in program.windows} | {each.window for each in query.events if each.name in matched}


def _named(window: NamedWindow) -> str:
    return str(window.name) if is_written(window.name) else f"over {window.stream}"


def compile_file(
    file: WindowFile,
    *,
    optimise: bool = True,
    timed_out: bool = False,
    policy: str = "",
    report: Report | None = None,
) -> Dataflow:
    """The dataflow of a file: a stage for each query that is output (RS-71)."""
    several = len(file.output) > 1
    flows = [
        compile_query(query, optimise=optimise, policy=policy, report=report, number=number if several else None)
        for number, query in enumerate(file.output, 1)
    ]
    warnings = dict.fromkeys(each for flow in flows for each in flow.warnings)
    return Dataflow(tuple(stage for flow in flows for stage in flow.stages), tuple(warnings))


def compile_query(
    query: WindowQuery,
    *,
    number: int | None = None,
    optimise: bool = True,
    timed_out: bool = False,
    policy: str = "",
    report: Report | None = None,
) -> Dataflow:
    """The dataflow of a query. QueryError if the report policy needs a SLIDE and no window has one (RS-61, RS-66)."""
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
    vectorised = optimise and reason_for_reference(query.form.where) is None
    chosen = reported(query, report, preset)
    contents: tuple[int, ...] = ()
    if isinstance(chosen, OnNonEmpty):
        contents = tuple(tables.number(window.stream, Bgp(())) for window in query.windows)
    key = one_shard(len(tables.listed), "the query is not optimised")
    if contents:
        key = one_shard(len(tables.listed), "NON_EMPTY_CONTENT asks whether a window holds any event")
    elif optimise:
        key = shard_key(query, windows, events, matches, tables)
    is_projection = _is_projection(query.form)
    where = connected_joins(query.form.where) if optimise else query.form.where
    kept = Maintenance(reasons=("the query is not optimised",))
    if optimise:
        evaluated = where if vectorised else query.form.where
        kept = maintenance(query, evaluated, windows, events, matches, tables, is_projection=is_projection)
    program = WindowProgram(
        query=query,
        report=chosen,
        emits=emitted(query, preset),
        windows=windows,
        events=events,
        matches=matches,
        tables=tuple(tables.listed),
        shard_key=key,
        output=_output(query.form, numbered=number is not None),
        variables=_variables(query.form),
        is_projection=is_projection,
        where=where,
        vectorised=vectorised,
        groups_columns=vectorised and _groups_columns(query.form),
        asks_for_time=_has_now((query.form, query.events)),
        maintenance=kept,
        preset=policy,
        contents=contents,
        needed=tuple(_needed(query, windows, events)),
        number=number,
    )
    stage = Stage(program, WindowOperator(), described_by="thence.engines.windows.describe:describe")
    return Dataflow((stage,), tuple(state_warnings(program)))


def _parts(
    stream: str, triples: Sequence[TriplePattern | PathPattern], tables: Tables, optimise: bool
) -> tuple[TriplePart, ...]:
    """The triples that some patterns can match; all of them, where a path walks from one to the next."""
    if not optimise or any(isinstance(each, PathPattern) for each in triples):
        return (tables.triples(stream),)
    return tuple(dict.fromkeys(tables.matching(stream, each) for each in triples if isinstance(each, TriplePattern)))


def _needed(
    query: WindowQuery, windows: Sequence[WindowTriples], events: Sequence[EventPatternTable]
) -> Iterator[NeededTables]:
    needed = needed_of(query.form)
    for each in windows:
        if each.name in needed:
            yield NeededTables(tuple(part.table for part in each.parts), query.window(each.name).function)
    for table, event in zip(events, query.events, strict=True):
        if event.name in needed:
            yield NeededTables((table.table,), query.window(event.window).function)


def _matches(where: Pattern) -> dict[MatchPattern, None]:
    return dict.fromkeys(node for node in nodes(where) if isinstance(node, MatchPattern))


def _event_table(query: WindowQuery, event: EventPattern, tables: Tables) -> EventPatternTable:
    stream = query.window(event.window).stream
    if not _depends_on_time(event.pattern):
        return EventPatternTable(event.name, tables.events(event, stream, event.pattern))
    return EventPatternTable(event.name, tables.events(event, stream, Bgp(())), tables.triples(stream).table)


def _depends_on_time(pattern: Pattern) -> bool:
    """Whether what an event matches depends on when it is asked (RS-31, RS-55)."""
    return _has_now(pattern) or any(isinstance(node, Graph) for node in nodes(pattern))


def _has_now(found: object) -> bool:
    return any(isinstance(node, Call) and node.function == "NOW" for node in nodes(found))


def _match(pattern: MatchPattern, policy: SeqPolicy | None, is_shown: bool) -> EventMatch:
    events = with_policy(pattern.events, policy)
    consuming = (SeqPolicy.CHRONOLOGICAL, SeqPolicy.RECENT)
    consumes = any(isinstance(node, EventSeq) and node.policy in consuming for node in nodes(events))
    names = [node.name for node in nodes(events) if isinstance(node, BasicEvent)]
    return EventMatch(events, frozenset(names), len(names), pattern.variables, consumes, is_shown)


def _variables(form: Select | Construct) -> tuple[Variable, ...]:
    """The variables of a row: those that SELECT names, or that a template uses (RS-54)."""
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


def _output(form: Select | Construct, *, numbered: bool) -> Output:
    if isinstance(form, Construct):
        return DerivedTriples(numbered=numbered, intervals=False)
    return term_rows([variable.name for variable in columns(form)], numbered=numbered)


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
