"""RETURN, HAVING and AGGREGATE of a SASE+ block."""

from __future__ import annotations

from collections.abc import Iterable

from thence.algebra.chains import DEPTH, depth
from thence.algebra.expressions import Expression, Variable
from thence.algebra.sase import (
    AggregateName,
    ClosureAggregate,
    Composite,
    EventRange,
    MatchAggregate,
    MatchAggregates,
    Name,
    Reference,
    Return,
    ReturnedValue,
    ReturnItem,
    ValueSequence,
    is_iterated,
)
from thence.algebra.show_sase import key_text
from thence.algebra.variables import mentioned
from thence.errors import QueryError
from thence.hints import listed
from thence.lang.sase.checks import WhereConditions
from thence.lang.sase.draft import DraftBlock, DraftItem, DraftMatchAggregate, DraftTotals

_TOTALS = (AggregateName.COUNT, AggregateName.SUM, AggregateName.MIN, AggregateName.MAX, AggregateName.AVG)


def check_having(block: DraftBlock) -> None:
    """HAVING is about whole matches."""
    if block.having is not None:
        _check_depth(block, block.having.value, block.having.at)
        _check_whole(block, _references(block, block.having.value), block.having.at, "HAVING")


def _check_depth(block: DraftBlock, given: object, at: int) -> None:
    if depth(given) > DEPTH:
        raise block.error(f"The expression is more than {DEPTH} levels deep.", at)


def _references(block: DraftBlock, expression: Expression) -> list[Reference]:
    return [block.references[variable] for variable in sorted(mentioned(expression), key=str)]


def _check_whole(block: DraftBlock, references: Iterable[Reference], at: int, clause: str) -> None:
    for reference in references:
        component = next(each for each in block.components if each.variable == reference.component)
        if component.negated:
            raise _negated(block, component.variable, at, clause)
        if is_iterated(reference):
            hint = f"{component.variable}[] or {component.variable}[1]"
            raise block.error(f"{clause} is about a whole match and has no i.", at, hint=hint)


def _negated(block: DraftBlock, variable: str, at: int, clause: str) -> QueryError:
    reason = f'"{variable}" is negated: there is no such event to tell of in {clause}.'
    others = [each.variable for each in block.components if not each.negated]
    return block.error(reason, at, hint=listed(others) if others else 'a component without "~"')


def output(where: WhereConditions) -> Return | MatchAggregates:
    """What RETURN or AGGREGATE gives."""
    block = where.block
    form = block.form
    _check_names(block, form.items)
    if isinstance(form, DraftTotals):
        if block.having is not None:
            raise block.error("AGGREGATE takes all matches together: HAVING can't choose among them.", form.at)
        alike = {*where.equal, *where.partition}
        for key in form.by:
            if key.value not in alike:
                reason = f'"{key.value}" is not the same through all of a match.'
                test = f"[{key.value}]" if isinstance(key.value, Name) else f"PARTITION BY {key_text(key.value)}"
                raise block.error(reason, key.at, hint=f"{test} in WHERE")
        return MatchAggregates(tuple(_total(block, item) for item in form.items), tuple(key.value for key in form.by))
    items = tuple(ReturnItem(item.text, _given(block, item)) for item in form.items)
    return Return(items, form.type, None if form.stream is None else form.stream.value)


def _check_names(block: DraftBlock, items: Iterable[DraftItem]) -> None:
    before: set[str] = set()
    for item in items:
        if item.text in before:
            hint = f"{item.text} AS another" if item.name is None else "another name after AS"
            raise block.error(f'Two columns are called "{item.text}".', item.at, hint=hint)
        before.add(item.text)


def _given(block: DraftBlock, item: DraftItem) -> ReturnedValue:
    given = item.given
    _check_depth(block, given, item.at)
    match given:
        case ValueSequence(component=component) | Composite(component=component):
            if next(each for each in block.components if each.variable == component).negated:
                raise _negated(block, component, item.at, "RETURN")
        case DraftMatchAggregate(complaint=(reason, hint)):
            raise block.error(reason, given.at, hint=hint)
        case _ if not hasattr(given, "__dataclass_fields__") or type(given).__module__.startswith("thence.lang"):
            raise block.error("RETURN gives values.", item.at, hint="a.price, a[].price or sum(a[].price)")
        case _:
            _check_whole(block, _references(block, given), item.at, "RETURN")
    found: ReturnedValue = given
    return found


def _total(block: DraftBlock, item: DraftItem) -> MatchAggregate:
    given = block.references.get(item.given) if isinstance(item.given, Variable) else item.given
    match given:
        case DraftMatchAggregate(summary=summary, of=of) if summary in _TOTALS:
            if of is not None:
                _check_whole(block, [of], item.at, "AGGREGATE")
            return MatchAggregate(item.text, summary, of)
        case ClosureAggregate(summary=summary, component=component, name=name, range=EventRange.ALL) if (
            summary in _TOTALS
        ):
            _check_whole(block, [given], item.at, "AGGREGATE")
            if name is None:
                raise block.error("AGGREGATE counts matches or values.", item.at, hint="count(*)")
            return MatchAggregate(item.text, summary, ValueSequence(component, name))
    hint = "count(*), sum(a[].x), min(a[].x), max(a[].x), avg(a[].x)"
    raise block.error("AGGREGATE gives sums and the like over all matches.", item.at, hint=hint)
