"""The shard key of a query over windows: a variable that every WINDOW and EVENT binds and that rows keep (RS-63)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    BasicEvent,
    Bgp,
    Construct,
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
    PathPattern,
    Pattern,
    Select,
    SeqPolicy,
    SubSelect,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.rsep_ql import WindowQuery
from thence.algebra.show import show
from thence.algebra.traversal import nodes
from thence.algebra.variables import always_bound, columns, has_aggregate
from thence.engines.windows.plan.window_triples import Tables, positional, triples_by_window
from thence.engines.windows.program import EventMatch, EventPatternTable, WindowTriples
from thence.interface.operator import ShardKey, one_shard, shared_routes


def shard_key(
    query: WindowQuery,
    windows: Sequence[WindowTriples],
    events: Sequence[EventPatternTable],
    matches: Sequence[EventMatch],
    tables: Tables,
) -> ShardKey:
    """Data that differs in the key never meets: it is in every triple pattern over a window and in every EVENT, all
    parts of WHERE pass it on, and rows show it."""
    count = len(tables.listed)
    reason = _reason(query, events, matches)
    if reason:
        return one_shard(count, reason)
    assert isinstance(query.form, Select)
    for name in columns(query.form):
        if not _Locality(query, name).holds():
            continue
        routes = _routes(query, name, events, tables)
        if routes is not None:
            return ShardKey((name.name,), routes)
    return one_shard(count, _missing(query, query.form))


def _missing(query: WindowQuery, form: Select) -> str:
    """The reason why no variable is a key. Triples of one subject may come from different events, which a window merges
    (RS-24), so a variable of one of them is not bound by the others."""
    for name in columns(form):
        lacking = _Locality(query, name).lacking()
        if lacking is not None:
            return (
                f"{name} is not in the triple {lacking}, and the triples that a WINDOW joins may come from different "
                "events; an EVENT matches one event alone"
            )
    return "no variable is in every WINDOW and EVENT and kept by every part"


def _reason(query: WindowQuery, events: Sequence[EventPatternTable], matches: Sequence[EventMatch]) -> str:
    """The reason for one shard that holds whatever the variables are."""
    form = query.form
    patterns = [node for each in matches for node in nodes(each.events)]
    if any(each.consumes for each in matches):
        return "a MATCH consumes whole events"
    if any(isinstance(node, First | Last) for node in patterns):
        return "FIRST and LAST choose among all events"
    if any(isinstance(node, EventSeq) and node.policy is SeqPolicy.NAIVE for node in patterns):
        return "SEQ NAIVE chooses among all events"
    if isinstance(form, Construct):
        return "CONSTRUCT makes one event of each evaluation"
    if form.modifiers.order:
        return "ORDER BY orders all rows of an evaluation"
    if form.modifiers.limit is not None or form.modifiers.offset is not None:
        return "LIMIT and OFFSET cut the rows of an evaluation"
    if query.is_ask:
        return "ASK is about all rows of an evaluation"
    if _aggregates(form) and form.modifiers.group is None:
        return "an aggregate without GROUP BY is about all rows of an evaluation"
    if query.merged:
        return "the default graph is the merge of whole windows"
    if any(each.triples is not None for each in events):
        return "an EVENT reads whole events at each evaluation"
    found = triples_by_window(form, ())
    if any(isinstance(triple, PathPattern) for listed in found.values() for triple in listed):
        return "a path reads whole windows"
    return ""


def _aggregates(select: Select) -> bool:
    listed = [each.expression for each in select.columns or () if each.expression is not None]
    listed += [*select.modifiers.having, *(key.expression for key in select.modifiers.order)]
    return any(map(has_aggregate, listed))


class _Locality:
    """Whether an evaluation falls apart by the values of a variable."""

    def __init__(self, query: WindowQuery, name: Variable) -> None:
        self.query = query
        self.name = name

    def holds(self) -> bool:
        form = self.query.form
        assert isinstance(form, Select)
        return self._selects(form) and all(map(self._is_local, self._parts(form)))

    def lacking(self) -> str | None:
        """The first triple over a window that lacks the variable, if all else speaks for it as a key."""
        form = self.query.form
        assert isinstance(form, Select)
        others = (part for part in self._parts(form) if not isinstance(part, WindowPattern))
        if not self._selects(form) or not all(map(self._is_local, others)):
            return None
        found = (triple for listed in triples_by_window(form, ()).values() for triple in listed)
        return next((" ".join(show(Bgp((each,))).split())[2:-4] for each in found if not self._has(each)), None)

    def _parts(self, form: Select) -> Iterator[object]:
        return (node for node in nodes(form) if isinstance(node, WindowPattern | MatchPattern | SubSelect))

    def _is_local(self, node: object) -> bool:
        """Whether all that a part reads has the variable."""
        match node:
            case WindowPattern():
                listed = triples_by_window(node, ())[node.name]
                return all(self._has(triple) for triple in listed)
            case MatchPattern():
                names = [each.name for each in nodes(node.events) if isinstance(each, BasicEvent)]
                patterns = [each.pattern for each in self.query.events if each.name in names]
                return all(self.name in always_bound(pattern) for pattern in patterns)
            case SubSelect():
                limits = node.select.modifiers
                return limits.limit is None and limits.offset is None and self._selects(node.select)
            case _:
                return True

    def _has(self, triple: TriplePattern | PathPattern) -> bool:
        return isinstance(triple, TriplePattern) and self.name in (triple.subject, triple.predicate, triple.object)

    def _selects(self, select: Select) -> bool:
        """A SELECT whose rows all have the variable from a stream, and whose groups do not mix its values."""
        if self.name not in columns(select):
            return False
        computed = any(each.variable == self.name and each.expression is not None for each in select.columns or ())
        keys = select.modifiers.group
        grouped = keys is not None or _aggregates(select)
        if computed or (grouped and not any(key.expression == self.name for key in keys or ())):
            return False
        return self._binds(select.where)

    def _binds(self, pattern: Pattern) -> bool:
        """Whether every solution has the variable from a stream."""
        match pattern:
            case WindowPattern():
                return self.name in always_bound(pattern.pattern) and _reads_stream(pattern.pattern)
            case MatchPattern():
                return self._is_local(pattern)
            case Join():
                return self._binds(pattern.left) or self._binds(pattern.right)
            case Union():
                return self._binds(pattern.left) and self._binds(pattern.right)
            case LeftJoin() | Minus():
                return self._binds(pattern.left)
            case Filter() | Extend():
                return self._binds(pattern.pattern)
            case SubSelect():
                return self._selects(pattern.select)
            case _:
                return False


def _reads_stream(pattern: Pattern) -> bool:
    """Whether every solution of a WINDOW's pattern is made of a triple of the window."""
    match pattern:
        case Bgp():
            return bool(pattern.triples)
        case Join():
            return _reads_stream(pattern.left) or _reads_stream(pattern.right)
        case Union():
            return _reads_stream(pattern.left) and _reads_stream(pattern.right)
        case LeftJoin() | Minus():
            return _reads_stream(pattern.left)
        case Filter() | Extend():
            return _reads_stream(pattern.pattern)
        case Graph():
            return False
        case _:
            return False


def _routes(
    query: WindowQuery, name: Variable, events: Sequence[EventPatternTable], tables: Tables
) -> tuple[tuple[int, ...] | None, ...] | None:
    """The column of each table that has the variable; None if a table has it in several, or an event that is matched
    lacks it."""
    readers: list[tuple[int, tuple[int, ...]]] = []
    for window, triples in triples_by_window(query.form, ()).items():
        for triple in triples:
            assert isinstance(triple, TriplePattern)
            place = positional(triple)
            part = tables.matching(query.window(window).stream, triple)
            written = (triple.subject, triple.predicate, triple.object)
            slot = (place.subject, place.predicate, place.object)[written.index(name)]
            readers.append((part.table, (tables.listed[part.table].variables.index(slot),)))
    for table, event in zip(events, query.events, strict=True):
        listed = tables.listed[table.table].variables
        if name not in listed or name not in always_bound(event.pattern):
            if any(event.name == each.name for each in nodes(query.form) if isinstance(each, BasicEvent)):
                return None
            continue
        readers.append((table.table, (listed.index(name),)))
    return shared_routes(len(tables.listed), readers)
