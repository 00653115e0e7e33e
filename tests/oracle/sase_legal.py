"""What makes a SASE+ query an error when it is read."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.sase_query import (
    And,
    Component,
    Composite,
    Equivalence,
    Expression,
    Index,
    Not,
    Or,
    PartitionBy,
    Query,
    Sequence,
    Span,
    Strategy,
    conjunctive,
    iterates,
    references,
)
from oracle.sase_runs import has_end_condition
from oracle.sase_static import impossibilities


def problems(query: Query) -> list[str]:
    """A sentence for each reason to refuse the query.

    >>> from oracle.sase_notation import read
    >>> problems(read("A+ a[], ~B b"))
    ['a negation at the end needs WITHIN', 'the last closure needs WITHIN']
    """
    names = [component.variable for component in query.components]
    found = [] if len(set(names)) == len(names) else ["a variable is declared twice"]
    if query.components[0].negated:
        return [*found, "a negation at the start"]
    found += [*_windows(query), *_strategies(query)]
    for conjunct in query.all_conditions():
        if not isinstance(conjunct, Equivalence | PartitionBy):
            found += [problem for clause in conjunctive(conjunct) for problem in _conjunct(query, clause)]
    return [*found, *_output(query), *impossibilities(query)]


def _windows(query: Query) -> Iterator[str]:
    if query.within is not None:
        return
    if query.components[-1].negated:
        yield "a negation at the end needs WITHIN"
    last = query.positives[-1]
    skipping = query.strategy(last) in (Strategy.NEXT, Strategy.ANY)
    if last.closure and skipping and not has_end_condition(query, last):
        yield "the last closure needs WITHIN"


def _strategies(query: Query) -> Iterator[str]:
    chosen = [each.variable for group in query.groups for each in group.chosen]
    if len(set(chosen)) < len(chosen):
        yield "a variable has two strategies"
    if any(group.strategy is Strategy.PARTITION for group in query.groups) and not query.partition():
        yield "partition_contiguity needs an equivalence test or PARTITION BY"
    for component in query.components:
        if component.variable in chosen and component.negated and not component.closure:
            yield "a negated variable that is not a closure has a strategy"
        followed = not component.negated and component != query.positives[-1]
        if query.stops(component) and not (
            component.closure and (followed or (has_end_condition(query, component) and not component.negated))
        ):
            yield "! has nothing to stop at"


def _conjunct(query: Query, conjunct: Expression) -> Iterator[str]:
    named = {variable for variable, _ in references(conjunct)}
    inside = [component for component in query.components if component.variable in named]
    if not inside or len(inside) < len(named):
        yield "a condition names no variable, or one that is not declared"
        return
    if sum(component.negated for component in inside) > 1:
        yield "a condition names two negated variables"
    acting = query.acts_at(conjunct).variable
    if any(acting not in {variable for variable, _ in references(each)} for each in predicates(conjunct)):
        yield "the last variable of a clause is missing in one of its predicates"
    yield from _forms(query, conjunct)


def predicates(expression: Expression) -> list[Expression]:
    match expression:
        case And(left, right) | Or(left, right):
            return predicates(left) + predicates(right)
        case Not(operand):
            return predicates(operand)
        case _:
            return [expression]


def _forms(query: Query, expression: Expression) -> Iterator[str]:
    closures = {component.variable: component.closure for component in query.components}
    for variable, how in references(expression):
        plain = how in (Index.PLAIN, Span.PLAIN)
        if closures.get(variable) is plain:
            yield f"{variable} is {'a closure' if plain else 'no closure'}"


def _output(query: Query) -> Iterator[str]:
    positives = {component.variable: component for component in query.positives}
    if query.having is not None:
        yield from _shown(query, query.having, positives)
    for item in query.returns:
        match item.what:
            case Sequence(variable, _) if variable not in positives or not positives[variable].closure:
                yield f"{variable} is not a closure that can be returned"
            case Composite(variable, _, closure) if (
                variable not in positives or positives[variable].closure is not closure
            ):
                yield f"{variable} can't be returned so"
            case Sequence() | Composite():
                pass
            case expression:
                yield from _shown(query, expression, positives)
    if not set(query.by) <= set(query.tested()):
        yield "BY needs an attribute in which all events of a match agree"


def _shown(query: Query, expression: Expression, positives: dict[str, Component]) -> Iterator[str]:
    if any(variable not in positives for variable, _ in references(expression)):
        yield "only variables that are declared and not negated stand in RETURN and HAVING"
    elif any(iterates(expression, variable) for variable in positives):
        yield "a[i] in RETURN or HAVING"
    else:
        yield from _forms(query, expression)
