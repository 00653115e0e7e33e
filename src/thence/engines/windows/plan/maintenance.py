"""Which parts of a query are maintained: joins of triple patterns over windows in their order, and what acts on their
rows one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from thence.algebra.expressions import AggregateFunction, Call, Exists, Expression, Variable
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
    PathPattern,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.rsep_ql import WindowQuery
from thence.algebra.traversal import conjuncts, nodes
from thence.algebra.variables import always_bound, columns, in_scope, mentioned
from thence.engines.windows.plan.window_triples import Tables, positional
from thence.engines.windows.program import (
    ROWS,
    Columns,
    EventMatch,
    EventPatternTable,
    KeptEventPart,
    KeptEvents,
    KeptGroups,
    KeptJoin,
    KeptMatch,
    KeptPart,
    KeptPattern,
    KeptRows,
    KeptSeq,
    KeptTriple,
    KeptUnion,
    Maintenance,
    WindowTriples,
)
from thence.match import reason_for_reference
from thence.match.modifiers import aggregates_of
from thence.match.solve import reason_in_expression
from thence.rdf.terms import IRI, BlankNode

# The order of joins: operands that share a variable are joined before those that share none.


def connected_joins(pattern: Pattern) -> Pattern:
    """The same pattern; of joins next to each other, each takes the first operand in the text that shares a variable
    with what is joined so far. `?p1 a :C . ?p2 a :C . { ?o1 :of ?p1 } { ?o2 :of ?p2 }` is not a product of all ?p1 with
    all ?p2 then. Join is associative and commutative, on bags too.

    >>> from thence.algebra.show import show
    >>> from thence.lang.sparql.parser import parse_pattern
    >>> pattern = parse_pattern("{ ?a <x:p> 1 . ?b <x:p> 2 { ?a <x:q> ?c } { ?b <x:q> ?d } }")
    >>> print(" ".join(show(connected_joins(pattern)).split()))
    { ?a <x:p> 1 . { ?a <x:q> ?c . } ?b <x:p> 2 . { ?b <x:q> ?d . } }
    """
    match pattern:
        case Join():
            return _joined_operands([part for each in _operands(pattern) for part in _parts(each)])
        case Filter() | Extend() | WindowPattern():
            return replace(pattern, pattern=connected_joins(pattern.pattern))
        case LeftJoin() | Union() | Minus():
            return replace(pattern, left=connected_joins(pattern.left), right=connected_joins(pattern.right))
        case _:
            return pattern


def _operands(pattern: Pattern) -> Iterator[Pattern]:
    """The operands of nested joins, in the order of the text; without recursion."""
    waiting = [pattern]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, Join):
            waiting += [operand.right, operand.left]
        else:
            yield operand


def _parts(operand: Pattern) -> list[Pattern]:
    """A basic graph pattern falls apart into those that share no variable."""
    if not isinstance(operand, Bgp):
        return [connected_joins(operand)]
    parts: list[list[TriplePattern | PathPattern]] = []
    for triple in operand.triples:
        own = _slots(triple)
        touched = [part for part in parts if any(own & _slots(each) for each in part)]
        parts = [part for part in parts if part not in touched]
        parts.append([*(each for part in touched for each in part), triple])
    return [Bgp(tuple(part)) for part in parts] or [operand]


def _slots(triple: TriplePattern | PathPattern) -> frozenset[Variable | BlankNode]:
    slots = (triple.subject, triple.predicate if isinstance(triple, TriplePattern) else None, triple.object)
    return frozenset(slot for slot in slots if isinstance(slot, Variable | BlankNode))


def _joined_operands(operands: list[Pattern]) -> Pattern:
    first, *waiting = operands
    order, known = [first], {*in_scope(first)}
    while waiting:
        following = next((each for each in waiting if not known.isdisjoint(in_scope(each))), waiting[0])
        waiting.remove(following)
        order.append(following)
        known.update(in_scope(following))
    return reduce(Join, order)


_IN_ORDER = {AggregateFunction.SAMPLE: "SAMPLE", AggregateFunction.GROUP_CONCAT: "GROUP_CONCAT"}


def maintenance(
    query: WindowQuery,
    where: Pattern,
    windows: Sequence[WindowTriples],
    events: Sequence[EventPatternTable],
    matches: Sequence[EventMatch],
    tables: Tables,
    *,
    is_projection: bool,
) -> Maintenance:
    """The maintained part of a query whose WHERE is evaluated as `where`."""
    reason = _reason_in_form(query)
    if reason:
        return Maintenance(reasons=(reason,))
    maker = _PartBuilder(query, windows, events, matches, tables)
    kept = tuple(maker.maintained(where, None))
    if len(kept) != 1 or kept[0].pattern != where:  # what is recomputed asks for the events of each MATCH
        maker = replace(maker, keeps_matches=False)
        kept = tuple(maker.maintained(where, None))
    reasons = tuple(dict.fromkeys(maker.reasons))
    form = query.form
    is_whole = len(kept) == 1 and kept[0].pattern == where
    listed = form.columns if isinstance(form, Select) and form.columns else tuple(map(Projection, _names(form)))
    aggregates = aggregates_of(form.modifiers, listed)
    if is_whole and aggregates is None and not is_projection and kept[0].events:
        kept, is_whole = (), False  # rows list their events, which only deltas keep
        reasons += (f"MATCH under {_shown(form)}",)
    if aggregates is None:
        shown = (f"{_shown(form)} over all rows",) if is_whole and not is_projection else ()
        return Maintenance(kept, is_whole and is_projection, None, True, (*reasons, *shown))
    groups = None
    if is_whole:
        asked = [key.expression for key in form.modifiers.group or ()]
        asked += [each.operand for each in aggregates if each.operand is not None]
        why = next((found for each in asked if (found := _reason_in(each))), None)
        if any(each.operand is None and each.distinct for each in aggregates):
            why = "COUNT(DISTINCT *)"
        if why is None:
            groups = KeptGroups(tuple(aggregates), _by_group(form))
            reasons += () if groups.by_group else (f"{_shown(form)} over all groups",)
        else:
            reasons += (f"aggregates with {why}",)
    return Maintenance(kept, False, groups, True, reasons)


def _names(form: Select | Construct) -> Sequence[Variable]:
    return columns(form) if isinstance(form, Select) else ()


def _shown(form: Select | Construct) -> str:
    """The names of the clauses after WHERE."""
    modifiers = form.modifiers
    named = [
        ("DISTINCT", isinstance(form, Select) and form.distinct),
        ("HAVING", bool(modifiers.having)),
        ("ORDER BY", bool(modifiers.order)),
        ("LIMIT", modifiers.limit is not None or modifiers.offset is not None),
        ("VALUES", modifiers.values is not None),
    ]
    return " and ".join(name for name, is_there in named if is_there) or "SELECT's expressions"


def _reason_in_form(query: WindowQuery) -> str:
    """The reason why nothing is maintained."""
    form = query.form
    if any(isinstance(node, SubSelect) for node in nodes(form)):
        return "a sub-select"
    listed = form.columns if isinstance(form, Select) and form.columns else tuple(map(Projection, _names(form)))
    for each in aggregates_of(form.modifiers, listed) or ():
        if each.function in _IN_ORDER:
            return f"{_IN_ORDER[each.function]}, which depends on the order of rows"
    random = ("RAND", "UUID", "STRUUID", "BNODE")
    for node in nodes(form):
        if isinstance(node, Call) and node.function in random:
            return f"{node.function}(), which differs from row to row"
    return ""


def _by_group(form: Select | Construct) -> bool:
    """Whether the rows of a group depend on that group alone."""
    modifiers = form.modifiers
    if modifiers.order or modifiers.limit is not None or modifiers.offset is not None:
        return False
    if not isinstance(form, Select) or form.distinct:
        return False
    listed = [each.expression for each in form.columns or () if each.expression is not None]
    return not any(_depends(each) for each in (*listed, *modifiers.having))


def _depends(expression: Expression) -> bool:
    """Whether an expression depends on more than a row: on the time, or by EXISTS on the data."""
    return any(
        isinstance(node, Exists) or (isinstance(node, Call) and node.function == "NOW") for node in nodes(expression)
    )


def _reason_in(expression: Expression) -> str | None:
    """The reason why an expression cannot be computed once for each row."""
    if any(isinstance(node, Call) and node.function == "NOW" for node in nodes(expression)):
        return "NOW()"
    return reason_in_expression(expression)


@dataclass(slots=True)
class _PartBuilder:
    """Makes maintained parts of patterns; `reasons` say what could not be one."""

    query: WindowQuery
    windows: Sequence[WindowTriples]
    events: Sequence[EventPatternTable]
    matches: Sequence[EventMatch]
    tables: Tables
    keeps_matches: bool = True
    reasons: list[str] = field(default_factory=list)

    def maintained(self, pattern: Pattern, window: IRI | None) -> Iterator[KeptPattern]:
        """The largest parts of a pattern that can be maintained. A WINDOW is one as a whole or not at all."""
        if not self._is_dynamic(pattern, window):
            return
        reason = self._reason(pattern, window)
        if reason is None:
            part = self._part(pattern, window, [])
            yield KeptPattern(pattern, part, self._reads_graphs(pattern, window), tuple(_listed(part)))
            return
        self.reasons.append(reason)
        match pattern:
            case Join() | Union() | LeftJoin() | Minus():
                yield from self.maintained(pattern.left, window)
                yield from self.maintained(pattern.right, window)
            case Filter() | Extend():
                yield from self.maintained(pattern.pattern, window)
            case _:
                return

    # Whether a pattern can be maintained

    def _is_dynamic(self, pattern: Pattern, window: IRI | None) -> bool:
        """Whether its solutions change with windows."""
        match pattern:
            case Bgp():
                return bool(pattern.triples) and (window is not None or bool(self.query.merged))
            case WindowPattern():
                return self._is_dynamic(pattern.pattern, pattern.name)
            case MatchPattern():
                return True
            case Graph():
                return any(isinstance(node, WindowPattern | MatchPattern) for node in nodes(pattern))
            case Join() | Union() | LeftJoin() | Minus():
                return self._is_dynamic(pattern.left, window) or self._is_dynamic(pattern.right, window)
            case Filter() | Extend():
                return self._is_dynamic(pattern.pattern, window)
            case _:
                return False

    def _reads_graphs(self, pattern: Pattern, window: IRI | None) -> bool:
        match pattern:
            case Bgp():
                return bool(pattern.triples) and window is None
            case Graph():
                return True
            case WindowPattern():
                return self._reads_graphs(pattern.pattern, pattern.name)
            case Join() | Union() | LeftJoin() | Minus():
                return self._reads_graphs(pattern.left, window) or self._reads_graphs(pattern.right, window)
            case Filter() | Extend():
                return self._reads_graphs(pattern.pattern, window)
            case _:
                return False

    def _reason(self, pattern: Pattern, window: IRI | None) -> str | None:
        """The reason why a pattern cannot be maintained."""
        if not self._is_dynamic(pattern, window):
            return self._reason_if_static(pattern)
        match pattern:
            case WindowPattern():
                return self._reason(pattern.pattern, pattern.name)
            case Bgp():
                return self._reason_in_bgp(pattern, window)
            case Filter():
                return self._reason(pattern.pattern, window) or _reason_in(pattern.condition)
            case Extend():
                return self._reason(pattern.pattern, window) or _reason_in(pattern.expression)
            case Join() | Union() | LeftJoin() | Minus():
                return (
                    self._reason_in_sides(pattern, window)
                    or self._reason(pattern.left, window)
                    or self._reason(pattern.right, window)
                )
            case MatchPattern():
                return self._reason_in_match(self.matches[pattern.place]) if self.keeps_matches else "MATCH beside it"
            case Graph():
                return "WINDOW inside GRAPH"
            case _:
                return "a part of another kind"

    def _reason_in_sides(self, pattern: Join | Union | LeftJoin | Minus, window: IRI | None) -> str | None:
        left, right = self._is_dynamic(pattern.left, window), self._is_dynamic(pattern.right, window)
        match pattern:
            case Join():
                shared = set(in_scope(pattern.left)) & set(in_scope(pattern.right))
                known = always_bound(pattern.left) & always_bound(pattern.right)
                return "a join on a variable that may be unbound" if left and right and not shared <= known else None
            case Union():
                if any(isinstance(node, MatchPattern) for node in nodes(pattern)):
                    return "UNION over a MATCH"
                return None if left and right else "UNION of a WINDOW and something else"
            case LeftJoin():
                if right:
                    return "OPTIONAL"
                return None if pattern.condition is None else _reason_in(pattern.condition)
            case Minus():
                return "MINUS" if right else None

    def _reason_if_static(self, pattern: Pattern) -> str | None:
        if any(isinstance(node, Call) and node.function == "NOW" for node in nodes(pattern)):
            return "NOW()"
        return reason_for_reference(pattern)

    def _reason_in_bgp(self, pattern: Bgp, window: IRI | None) -> str | None:
        if window is None:
            return "the merge of windows in the default graph"
        if any(isinstance(each, PathPattern) for each in pattern.triples):
            return "a property path"
        parts = next(each.parts for each in self.windows if each.name == window)
        stream = self.query.window(window).stream
        triples = [each for each in pattern.triples if isinstance(each, TriplePattern)]
        if not all(self.tables.has_matching(stream, each) for each in triples) or any(
            self.tables.matching(stream, each) not in parts for each in triples
        ):
            return "a property path over the same window"
        return None

    def _reason_in_match(self, match: EventMatch) -> str | None:
        for node in nodes(match.events):
            if isinstance(node, First | Last) or (isinstance(node, EventSeq) and node.policy is not None):
                return "FIRST, LAST and policies of SEQ"
        for table, event in zip(self.events, self.query.events, strict=True):
            if event.name not in match.names:
                continue
            if table.triples is not None:
                return "an EVENT that depends on the time"
            if not set(in_scope(event.pattern)) <= always_bound(event.pattern):
                return "an EVENT that may leave a variable unbound"
        return None

    # From patterns to parts

    def _match(self, place: int) -> KeptMatch:
        events = self._events(self.matches[place].events)
        first = sum(each.width for each in self.matches[:place])
        return KeptMatch(events, events.columns, tuple(range(first, first + self.matches[place].width)))

    def _events(self, events: EventExpression) -> KeptEventPart:
        match events:
            case EventSeq():
                left, right = self._events(events.left), self._events(events.right)
                return KeptSeq(left, right, tuple(dict.fromkeys((*left.columns, *right.columns))))
            case BasicEvent():
                event = self.query.event(events)
                table = next(each.table for each in self.events if each.name == events.name)
                names = self.tables.listed[table].variables
                return KeptEvents(table, self.query.window(event.window).function, names, tuple(range(len(names))))
            case _:
                raise AssertionError("not maintained")

    def _part(self, pattern: Pattern, window: IRI | None, conditions: Sequence[Expression]) -> KeptPart:
        """The part of a pattern under conditions, each of which is tested as soon as its variables are there."""
        match pattern:
            case WindowPattern():
                return self._part(pattern.pattern, pattern.name, conditions)
            case Bgp():
                assert window is not None
                return self._bgp(pattern, window, conditions)
            case Filter():
                return self._part(pattern.pattern, window, (*conjuncts(pattern.condition), *conditions))
            case Extend():
                inner, later = _pushed(pattern.pattern, conditions)
                part = self._part(pattern.pattern, window, inner)
                made = KeptRows(replace(pattern, pattern=ROWS), part, (*part.columns, pattern.variable))
                return _filtered(made, later)
            case Union():
                sides = [self._part(side, window, ()) for side in (pattern.left, pattern.right)]
                names = tuple(dict.fromkeys(name for side in sides for name in side.columns))
                return _filtered(KeptUnion(sides[0], sides[1], names), conditions)
            case Join() if self._is_dynamic(pattern.left, window) and self._is_dynamic(pattern.right, window):
                left, later = _pushed(pattern.left, conditions)
                right, later = _pushed(pattern.right, later)
                joined = _joined(self._part(pattern.left, window, left), self._part(pattern.right, window, right))
                return _filtered(joined, later)
            case Join() | LeftJoin() | Minus():
                return self._with_static(pattern, window, conditions)
            case MatchPattern():
                return _filtered(self._match(pattern.place), conditions)
            case _:
                raise AssertionError("not maintained")

    def _with_static(
        self, pattern: Join | LeftJoin | Minus, window: IRI | None, conditions: Sequence[Expression]
    ) -> KeptPart:
        """One side changes; the other never does, and is asked for the rows that come."""
        on_left = self._is_dynamic(pattern.left, window)
        changing, fixed = (pattern.left, pattern.right) if on_left else (pattern.right, pattern.left)
        inner, later = _pushed(changing, conditions)
        part = self._part(changing, window, inner)
        seen = () if isinstance(pattern, Minus) else in_scope(fixed)
        names = tuple(dict.fromkeys((*part.columns, *seen)))
        made = replace(pattern, left=ROWS) if on_left else replace(pattern, right=ROWS)
        return _filtered(KeptRows(made, part, names), later)

    def _bgp(self, pattern: Bgp, window: IRI, conditions: Sequence[Expression]) -> KeptPart:
        """The triples of one subject are joined first, then those stars that share a variable."""
        stars: dict[object, list[KeptPart]] = {}
        for triple in pattern.triples:
            assert isinstance(triple, TriplePattern)
            stars.setdefault(triple.subject, []).append(self._triple(triple, window))
        waiting = list(conditions)
        parts = [self._chain(star, waiting) for star in stars.values()]
        joined = _filtered(self._chain(parts, waiting), waiting)
        shown = tuple(name for name in joined.columns if isinstance(name, Variable))
        return joined if shown == joined.columns else _with_columns(joined, shown)

    def _chain(self, parts: list[KeptPart], conditions: list[Expression]) -> KeptPart:
        """Joins parts, those that share a variable first. Conditions are taken from the list where they are tested."""
        joined, *waiting = [_tested(each, conditions) for each in parts]
        while waiting:
            near = [each for each in waiting if not set(joined.columns).isdisjoint(each.columns)]
            following = (near or waiting)[0]
            waiting.remove(following)
            joined = _tested(_joined(joined, following), conditions)
        return joined

    def _triple(self, triple: TriplePattern, window: IRI) -> KeptTriple:
        named = self.query.window(window)
        part = self.tables.matching(named.stream, triple)
        listed = self.tables.listed[part.table].variables
        place = positional(triple)
        slots = zip(
            (triple.subject, triple.predicate, triple.object),
            (place.subject, place.predicate, place.object),
            strict=True,
        )
        columns = {slot: column for slot, column in slots if isinstance(slot, Variable | BlankNode)}
        places = tuple(listed.index(column) for column in columns.values() if isinstance(column, Variable))
        return KeptTriple(part.table, named.function, tuple(columns), places)


def _listed(part: KeptPart) -> Iterator[int]:
    """The places of the events of a part's rows, in its own order."""
    match part:
        case KeptMatch():
            yield from part.listed
        case KeptJoin() | KeptUnion():
            yield from _listed(part.left)
            yield from _listed(part.right)
        case KeptRows():
            yield from _listed(part.part)
        case KeptTriple():
            return


def _joined(left: KeptPart, right: KeptPart) -> KeptJoin:
    return KeptJoin(left, right, tuple(dict.fromkeys((*left.columns, *right.columns))))


def _with_columns(part: KeptPart, names: Columns) -> KeptPart:
    return KeptRows(ROWS, part, names)


def _pushed(pattern: Pattern, conditions: Sequence[Expression]) -> tuple[list[Expression], list[Expression]]:
    """The conditions whose variables a pattern always binds, and the others."""
    known = always_bound(pattern)
    return [each for each in conditions if mentioned(each) <= known], [
        each for each in conditions if not mentioned(each) <= known
    ]


def _tested(part: KeptPart, conditions: list[Expression]) -> KeptPart:
    """A part under the conditions whose variables it has; these are removed from the list."""
    ready = [each for each in conditions if mentioned(each) <= set(part.columns)]
    conditions[:] = [each for each in conditions if each not in ready]
    return _filtered(part, ready)


def _filtered(part: KeptPart, conditions: Sequence[Expression]) -> KeptPart:
    if not conditions:
        return part
    pattern: Pattern = reduce(lambda inner, each: Filter(each, inner), conditions, _inner(part))
    return KeptRows(pattern, part.part if isinstance(part, KeptRows) else part, part.columns)


def _inner(part: KeptPart) -> Pattern:
    """The pattern on top of which another acts on the same rows."""
    return part.pattern if isinstance(part, KeptRows) else ROWS
