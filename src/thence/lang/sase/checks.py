"""Rules for a SASE+ block: strategies, conditions in conjunctive form (Appendix A.1), closures that end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from thence.algebra.expressions import And, Expression, Not, Or, Variable
from thence.algebra.sase import Component, Key, Reference, Strategy, is_iterated, is_whole
from thence.algebra.streams import Name
from thence.algebra.traversal import DEPTH, chain, depth
from thence.algebra.variables import mentioned
from thence.lang.sase.draft import (
    DraftBlock,
    EquivalenceTest,
    PartitionAttributes,
    PlacedItem,
    SelectedVariable,
    StrategyGroup,
)

# Conditions in conjunctive form (Appendix A.1): a formula is good if in each of its clauses every predicate names the
# last component that the clause names.

MOST = 64
"""Clauses that one condition may become: there may be twice as many for each OR."""


class TooManyError(Exception):
    """The conjunctive form is too long."""


Clause = tuple[Expression, ...]


def clauses(formula: Expression) -> list[Clause]:
    """The clauses of a formula, each as the predicates of which one must hold. NOT is before predicates alone."""
    return _conjunctive(formula, negated=False)


def _conjunctive(formula: Expression, *, negated: bool) -> list[Clause]:
    match formula:
        case Not(operand=operand):
            return _conjunctive(operand, negated=not negated)
        case And(left=left, right=right) | Or(left=left, right=right):
            sides = _conjunctive(left, negated=negated), _conjunctive(right, negated=negated)
            if isinstance(formula, And) != negated:
                found = sides[0] + sides[1]
            else:
                found = [(*one, *other) for one, other in product(*sides)]
            if len(found) > MOST:
                raise TooManyError
            return found
        case _:
            return [(Not(formula) if negated else formula,)]


# Checks of a SASE+ block: strategies, conditions that are good (Appendix A.1), closures that end, and
# negations that can be judged.

_SKIPS = (Strategy.NEXT, Strategy.ANY)


@dataclass(slots=True)
class WhereConditions:
    """The conditions of a block's WHERE."""

    block: DraftBlock
    equal: dict[Name, None] = field(default_factory=dict)  # in order, each once
    partition: list[Key] = field(default_factory=list)
    partition_at: int = 0
    conditions: list[PlacedItem] = field(default_factory=list)
    selected: dict[str, tuple[Strategy, SelectedVariable]] = field(default_factory=dict)

    @property
    def places(self) -> dict[str, int]:
        return {component.variable: number for number, component in enumerate(self.block.components)}


def read_where(block: DraftBlock) -> WhereConditions:
    """Its conditions, apart from strategies and partitions."""
    where = WhereConditions(block)
    for item in _items(block, block.items, inside=None):
        match item.value:
            case EquivalenceTest(names=names):
                where.equal |= dict.fromkeys(names)
            case PartitionAttributes(keys=keys, at=at):
                if where.partition:
                    raise block.error("PARTITION BY is given twice.", at, hint="one PARTITION BY")
                where.partition, where.partition_at = list(dict.fromkeys(keys)), at
            case StrategyGroup(strategy=strategy, selected=chosen):
                for each in chosen:
                    if each.variable in where.selected:
                        raise block.error(f'"{each.variable}" has two strategies.', each.at, hint="one of them")
                    where.selected[each.variable] = strategy, each
            case _:
                where.conditions += _good(where, item)
    return where


def _items(block: DraftBlock, items: tuple[PlacedItem, ...], inside: StrategyGroup | None) -> Iterator[PlacedItem]:
    for item in items:
        if isinstance(item.value, StrategyGroup):
            if inside is not None:
                reason = f"A strategy is not allowed inside another, {inside.strategy.value}."
                raise block.error(reason, item.value.at, hint="one after the other")
            yield item
            yield from _items(block, item.value.conditions, inside=item.value)
        else:
            yield item


def _good(where: WhereConditions, item: PlacedItem) -> Iterator[PlacedItem]:
    block = where.block
    if depth(item.value) > DEPTH:
        raise block.error(f"The condition is more than {DEPTH} levels deep.", item.at)
    try:
        found = clauses(item.value)
    except TooManyError:
        reason = f"In conjunctive form the condition has more than {MOST} parts."
        raise block.error(reason, item.at, hint="fewer ORs") from None
    for clause in found:
        _check_clause(where, clause, item.at)
        yield PlacedItem(chain(Or, clause), item.at)


def _check_clause(where: WhereConditions, clause: Clause, at: int) -> None:
    block, places = where.block, where.places
    named = [frozenset(_components(block.references, predicate)) for predicate in clause]
    every = frozenset[str]().union(*named)
    if not every:
        raise block.error("The condition names no event.", at, hint="a.price > 10")
    negated = sorted(each for each in every if _of(block, each).negated)
    if len(negated) > 1:
        reason = f'A condition can\'t name two negated variables, "{negated[0]}" and "{negated[1]}".'
        raise block.error(reason, at, hint="a condition for each")
    last = max(every, key=places.__getitem__)
    if not negated and any(last not in names for names in named):
        reason = f'Each part that OR joins must be about "{last}", the last event that the condition names.'
        raise block.error(reason, at, hint=f'conditions with AND, or with "{last}" in each part')
    _check_indices(where, clause, negated[0] if negated else last, at)


def _check_indices(where: WhereConditions, clause: Clause, last: str, at: int) -> None:
    block = where.block
    asked = [block.references[variable] for predicate in clause for variable in mentioned(predicate)]
    own = [each for each in asked if each.component == last]
    if any(is_iterated(each) for each in own) and any(is_whole(each) for each in own):
        reason = f'"{last}[i]" is about each event, "{last}[{last}.LEN]" and aggregates about all.'
        raise block.error(reason, at, hint="two conditions")


def _components(references: Mapping[Variable, Reference], expression: Expression) -> Iterator[str]:
    for variable in mentioned(expression):
        yield references[variable].component


def _of(block: DraftBlock, variable: str) -> Component:
    return next(each for each in block.components if each.variable == variable)


def with_strategies(where: WhereConditions) -> tuple[Component, ...]:
    """The components, each with its strategy; an error, if one could never end or be judged."""
    block = where.block
    made = tuple(_selected(where, component) for component in block.components)
    positive = [component for component in made if not component.negated]
    if not positive:
        raise block.error(
            "The pattern has only negated components.", block.places[made[0].variable], hint='a component without "~"'
        )
    if made[0].negated:
        reason = f'"~" is not allowed first: nothing bounds the time before "{positive[0].variable}".'
        raise block.error(reason, block.places[made[0].variable], hint="a component before it")
    if made[-1].negated and block.window is None:
        reason = '"~" at the end needs a time limit.'
        raise block.error(reason, block.places[made[-1].variable], hint="WITHIN 10 MINUTES")
    last = positive[-1]
    if last.closure and block.window is None and last.strategy in _SKIPS and not ends(where, last.variable):
        reason = f'"{last.variable}[]" has no end: nothing says where it stops.'
        hint = f"WITHIN 10 MINUTES, or a condition on {last.variable}[{last.variable}.LEN]"
        raise block.error(reason, block.places[last.variable], hint=hint)
    return made


def _selected(where: WhereConditions, component: Component) -> Component:
    strategy, chosen = where.selected.get(component.variable, (None, None))
    if strategy is None or chosen is None:
        return replace(component, strategy=Strategy.ANY) if component.negated else component
    block = where.block
    if component.negated and not component.closure:
        raise block.error(
            f'"~" of one event, "{component.variable}", selects no event, so it takes no strategy.',
            chosen.at,
            hint="no strategy",
        )
    if strategy is Strategy.PARTITION and not (where.equal or where.partition):
        reason = "partition_contiguity needs a partition."
        raise block.error(reason, chosen.at, hint="[symbol] or PARTITION BY(symbol)")
    if chosen.cut:
        _check_cut(where, component, chosen)
    return replace(component, strategy=strategy, cut=chosen.cut)


def _check_cut(where: WhereConditions, component: Component, chosen: SelectedVariable) -> None:
    block = where.block
    if not component.closure:
        raise block.error(
            f'"!" stops a closure, but "{component.variable}" is not a closure.', chosen.at, hint='no "!"'
        )
    if component.negated:
        raise block.error(
            f'"{component.variable}[]" is negated: any series counts, however long.', chosen.at, hint='no "!"'
        )
    after = block.components[where.places[component.variable] + 1 :]
    if not ends(where, component.variable) and not any(not each.negated for each in after):
        reason = f'"!" has no condition to stop "{component.variable}[]" at.'
        raise block.error(reason, chosen.at, hint=f"a condition on {component.variable}[{component.variable}.LEN]")


def ends(where: WhereConditions, variable: str) -> bool:
    """Whether a closure has an end condition: one that names all of it, and nothing later."""
    references, places = where.block.references, where.places
    for condition in where.conditions:
        asked = [references[each] for each in mentioned(condition.value)]
        last = max((each.component for each in asked), key=places.__getitem__)
        if last == variable and any(is_whole(each) for each in asked if each.component == variable):
            return True
    return False
