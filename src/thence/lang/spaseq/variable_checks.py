"""Which variables a SPAseQ query may name where: in FILTERs across events, in negations, in PARTITION BY."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.expressions import Exists, Variable
from thence.algebra.guarantees import always_bound
from thence.algebra.patterns import Bgp, Extend, Graph, GroupKey, Pattern, Projection, Values
from thence.algebra.spaseq import Conjunction, Disjunction, Occurrence, Operand, Quantifier
from thence.algebra.spaseq_analysis import occurrences
from thence.algebra.traversal import nodes
from thence.algebra.variables import in_scope, mentioned, parts
from thence.errors import QueryError
from thence.lang.spaseq.checks import following
from thence.lang.spaseq.draft import DraftGpm
from thence.lang.spaseq.scope import Scope


def check_filters(scope: Scope) -> None:
    """A FILTER at the top level of a GPM may name variables of its own GPM, of its `&` group and of earlier parts; in a
    negation also those of the part that follows. In an arm that does not bind them they are unbound."""
    definitions = {defined.gpm.name: defined for defined in scope.draft.gpms}
    sequence = scope.query.sequence
    earlier: set[Variable] = set()
    for index, part in enumerate(sequence):
        around = set(earlier)
        if part.quantifier is Quantifier.NOT:
            around.update(*(scope.of_part(sequence[after]) for after in following(sequence, index)))
        else:
            earlier |= scope.of_part(part)
        for occurrence, group in _groups(part.operand):
            defined = definitions[occurrence.gpm]
            if defined.gpm.filters:
                _check_occurrence(scope, defined, index, around.union(*(scope.of[name] for name in group)))


def _groups(operand: Operand) -> list[tuple[Occurrence, frozenset[str]]]:
    """Each occurrence, with the GPMs that join at the same time: its own and those of its `&` group."""
    match operand:
        case Occurrence():
            return [(operand, frozenset({operand.gpm}))]
        case Disjunction():
            return _groups(operand.left) + _groups(operand.right)
        case Conjunction():
            sides = _groups(operand.left), _groups(operand.right)
            names = [frozenset(found.gpm for found, _ in side) for side in sides]
            return [
                (found, group | other)
                for side, other in zip(sides, reversed(names), strict=True)
                for found, group in side
            ]


def _check_occurrence(scope: Scope, defined: DraftGpm, index: int, seen: set[Variable]) -> None:
    for expression, at in zip(defined.gpm.filters, defined.filters_at, strict=True):
        unseen = mentioned(expression) - seen
        if unseen:
            raise _out_of_sight(scope, defined, index, min(unseen, key=lambda v: scope.draft.after(v, at)), at)
        for found in parts(expression):
            if isinstance(found, Exists):
                _check_exists(scope, defined, found, at)


def _out_of_sight(scope: Scope, defined: DraftGpm, index: int, variable: Variable, at: int) -> QueryError:
    """Why the FILTER can't know the variable."""
    start = f"The FILTER of GPM {defined.gpm.name} names"
    place = scope.draft.after(variable, at)
    holders = scope.holders(variable)
    later = [each for each in holders if each > index and scope.query.sequence[each].quantifier is not Quantifier.NOT]
    if later:
        binder = scope.binder(later, variable)
        reason = f"{start} {variable}, which only a later part binds ({binder})."
        return scope.draft.error(reason, place, hint=f"this FILTER in GPM {binder}")
    if index in holders:
        reason = f'{start} {variable}, which only the other side of "|" binds ({scope.binder([index], variable)}).'
        return scope.draft.error(reason, place)
    return scope.unbound(start, variable, at)


def _check_exists(scope: Scope, defined: DraftGpm, exists: Exists, at: int) -> None:
    named = {node for node in nodes(exists.pattern) if isinstance(node, Variable)}
    foreign = scope.binders.keys() & named - scope.of[defined.gpm.name]
    if foreign:
        variable = min(foreign, key=lambda each: scope.draft.after(each, at))
        reason = f"EXISTS looks at the event of GPM {defined.gpm.name} alone, and {variable} belongs to another GPM."
        hint = "another name, if another variable is meant"
        raise scope.draft.error(reason, scope.draft.after(variable, at), hint=hint)


def check_negated_variables(scope: Scope) -> None:
    """A negation is judged when the part after it has come: what it shares only with later parts, it can't know. Parts
    before it that are optional may be missing, so they do not help."""
    sequence = scope.query.sequence
    known: set[Variable] = set()  # in every arm
    for index, part in enumerate(sequence):
        if part.quantifier is Quantifier.NOT:
            own = scope.of_part(part) - known
            for after in following(sequence, index):
                later = _from(scope, after + 1)
                shared = own - scope.of_part(sequence[after])
                unknown = min((v for v in shared if not later.isdisjoint(scope.binders[v])), key=str, default=None)
                if unknown is not None:
                    raise _judged_too_early(scope, index, after, unknown)
        elif part.quantifier is not Quantifier.OPTIONAL:
            known |= scope.of_part(part)


def _from(scope: Scope, index: int) -> frozenset[str]:
    """The GPMs that bind something from this part on."""
    later = [part for part in scope.query.sequence[index:] if part.quantifier is not Quantifier.NOT]
    return frozenset(found.gpm for part in later for found in occurrences(part.operand))


def _judged_too_early(scope: Scope, index: int, after: int, variable: Variable) -> QueryError:
    sequence = scope.query.sequence
    later = [each for each in range(after + 1, len(sequence)) if sequence[each].quantifier is not Quantifier.NOT]
    reason = (
        f"The negation shares {variable} only with {scope.binder(later, variable)}, and is judged before that,"
        f" when {occurrences(sequence[after].operand)[0].gpm} has come."
    )
    hint = f"another name for {variable} in the negated GPM"
    return scope.draft.error(reason, scope.draft.at(sequence[index]), hint=hint)


def check_partition(scope: Scope) -> None:
    """Every event of a match must have a partition, which the event alone tells."""
    for gpm in scope.query.gpms:
        if gpm.name not in scope.binding:
            continue
        always = always_bound(gpm.pattern)
        missing = next((variable for variable in scope.query.partition if variable not in always), None)
        if missing is None:
            continue
        start = f"PARTITION BY names {missing}, which GPM {gpm.name}"
        if missing in in_scope(gpm.pattern):
            reason = f"{start} does not bind in every event: OPTIONAL, UNION and BIND may leave it out."
        elif missing in scope.of[gpm.name]:
            reason = f"{start} binds only in GRAPH: an event's partition is told by the event alone."
        else:
            reason = f"{start} does not bind."
        raise scope.draft.error(reason, scope.draft.after(missing, scope.draft.partition_at))


def unseen_inside(scope: Scope) -> Iterator[str]:
    """Warnings about expressions that see one event or one graph alone, and name what only something else binds."""
    for defined in scope.draft.gpms:
        for pattern in (defined.gpm.pattern, *defined.gpm.graphs):
            named = {node for node in nodes(pattern) if isinstance(node, Variable)}
            for variable in sorted(scope.binders.keys() & named - _given(pattern), key=str):
                where = "GRAPH" if isinstance(pattern, Graph) else "a group or BIND"
                reason = (
                    f"In GPM {defined.gpm.name} {variable} has no value: an expression inside {where} sees nothing that"
                    " is bound outside."
                )
                at = scope.draft.after(variable, defined.at)
                yield str(scope.draft.error(reason, at, hint="FILTER at the top level of the GPM"))


def _given(pattern: Pattern) -> set[Variable]:
    """The variables that something in the pattern gives a value to, and that are not only in its expressions."""
    found: set[Variable | None] = set()
    for node in nodes(pattern):
        match node:
            case Bgp():
                found.update(in_scope(node))
            case Values():
                found.update(node.variables)
            case Extend() | Projection() | GroupKey():
                found.add(node.variable)
            case Graph(Variable() as name):
                found.add(name)
    return {variable for variable in found if variable is not None}
