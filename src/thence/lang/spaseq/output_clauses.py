"""SELECT and CONSTRUCT of SPAseQ: what a row may name, and aggregates over the iterations of a closure."""

from __future__ import annotations

from collections.abc import Iterable

from thence.algebra.chains import DEPTH, depth
from thence.algebra.expressions import Aggregate, Exists, Expression, Variable
from thence.algebra.spaseq import (
    AggregateVariable,
    ConstructEvents,
    IterationAggregate,
    IterationFunction,
    Quantifier,
    SelectColumn,
    SelectRows,
)
from thence.algebra.spaseq_analysis import occurrences
from thence.algebra.traversal import replaced
from thence.algebra.variables import mentioned, parts
from thence.hints import closest
from thence.lang.spaseq.draft import Draft, DraftAggregate, DraftColumn, DraftEvents, DraftRows
from thence.lang.spaseq.scope import Scope


def output(scope: Scope) -> SelectRows | ConstructEvents:
    """The form of the query, or the reason why it means nothing."""
    form = scope.draft.form
    match form:
        case DraftRows():
            return _SelectReader(scope).read(form)
        case DraftEvents():
            return _events(scope, form)


def check_aggregates(draft: Draft) -> None:
    """FIRST, LAST, COLLECT and COUNT(B) are about a whole match, so they stand in its SELECT alone."""
    columns = draft.form.columns or () if isinstance(draft.form, DraftRows) else ()
    expressions = [column.expression for column in columns if column.expression is not None]
    allowed = {variable for expression in expressions for variable in mentioned(expression)}
    for variable, found in draft.aggregates.items():
        if variable not in allowed:
            function = found.aggregate.function.value
            reason = f"{function} over the iterations of a closure can stand only in the query's own SELECT."
            raise draft.error(reason, found.at)


def _check_named(scope: Scope, names: Iterable[Variable], word: str, at: int) -> None:
    """Refuse the first of these names that no match binds."""
    missing = [name for name in names if name not in scope.bound]
    if missing:
        raise scope.unbound(f"{word} names", min(missing, key=lambda each: scope.draft.after(each, at)), at)


def _events(scope: Scope, form: DraftEvents) -> ConstructEvents:
    if not form.template:
        raise scope.draft.error("CONSTRUCT has no triples, so it makes no events.", form.at)
    slots = {slot for triple in form.template for slot in (triple.subject, triple.predicate, triple.object)}
    _check_named(scope, (slot for slot in slots if isinstance(slot, Variable)), "CONSTRUCT", form.at)
    return ConstructEvents(form.template)


class _SelectReader:
    """Reads the columns of one SELECT; one aggregate has one name in all of them."""

    def __init__(self, scope: Scope) -> None:
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
            reason = "EXISTS can't stand in SELECT: it is about one event's graph, and a match has many."
            raise self._draft.error(reason, draft.at, hint="FILTER EXISTS { … } in the GPM")
        found: dict[Variable, IterationAggregate] = {}
        expression = replaced(expression, lambda part: self._aggregate(part, draft, found))
        names = [name for name in mentioned(expression) if name not in found and name not in before]
        _check_named(self._scope, names, "SELECT", draft.at)
        return SelectColumn(draft.variable, expression, tuple(found.items()))

    def _aggregate(
        self, part: Expression, draft: DraftColumn, found: dict[Variable, IterationAggregate]
    ) -> Variable | None:
        """The variable that stands for an aggregate; None for what is none."""
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
            raise self._draft.error(f'{start} stands in no GPM under "+".', read.at, hint=str(variable))
        if variable in self._query.partition:
            raise self._draft.error(f"{start} is what the query is partitioned by.", read.at, hint=str(variable))
        if len(holders) > 1:
            other = self._scope.binder([index for index in holders if index != closures[0]], variable)
            reason = f"{start} stands also outside of it ({other}), and keeps one value."
            raise self._draft.error(reason, read.at, hint=str(variable))

    def _check_counted(self, name: str, read: DraftAggregate) -> None:
        known = [gpm.name for gpm in self._query.gpms]
        if name not in known:
            hint = closest(name, known)
            raise self._draft.error(f'COUNT names "{name}", which is no GPM.', read.at, hint=hint)
        holding = [part for part in self._query.sequence if name in {found.gpm for found in occurrences(part.operand)}]
        closures = [part for part in holding if part.quantifier is Quantifier.PLUS]
        if not closures:
            reason = f'COUNT({name}) counts the iterations of a closure, but {name} is not under "+".'
            raise self._draft.error(reason, read.at, hint=f"{name}+ in SEQ")
        if len(holding) > 1:
            reason = f"COUNT({name}) is ambiguous: {name} stands in {len(holding)} parts of the sequence."
            raise self._draft.error(reason, read.at, hint="a GPM of its own for each part")
