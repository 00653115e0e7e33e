"""What a SASE+ block gives: RETURN, HAVING and AGGREGATE; and which query feeds which."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from thence.algebra.chains import DEPTH, depth
from thence.algebra.components import (
    ComposedQuery,
    Composite,
    Given,
    Item,
    Range,
    Reference,
    Return,
    Sequence,
    Summarised,
    Summary,
    Total,
    Totals,
    UnionQuery,
    is_iterated,
)
from thence.algebra.expressions import Variable
from thence.algebra.variables import mentioned
from thence.lang.sase_checks import Where
from thence.lang.sase_draft import Block, DraftItem, DraftTotals, OverMatches
from thence.lang.text import Text

_TOTALS = (Summary.COUNT, Summary.SUM, Summary.MIN, Summary.MAX, Summary.AVG)


def check_having(block: Block) -> None:
    """HAVING is about whole matches."""
    if block.having is not None:
        _check_depth(block, block.having, block.at)
        _check_whole(block, mentioned(block.having), block.at, "HAVING")


def _check_depth(block: Block, given: object, at: int) -> None:
    if depth(given) > DEPTH:
        raise block.error(f"The expression is more than {DEPTH} levels deep.", at)


def _check_whole(block: Block, variables: frozenset[Variable], at: int, clause: str) -> None:
    for variable in sorted(variables, key=str):
        reference = block.references[variable]
        component = next(each for each in block.components if each.variable == reference.component)
        if component.negated:
            raise block.error(f'"{component.variable}" is negated: there is no such event to tell of in {clause}.', at)
        if is_iterated(reference):
            hint = f"{component.variable}[] or {component.variable}[1]"
            raise block.error(f"{clause} is about a whole match and has no i.", at, hint=hint)


def output(where: Where) -> Return | Totals:
    """What RETURN or AGGREGATE gives."""
    block = where.block
    form = block.form
    names = [item.text for item in form.items]
    twice = next((item for number, item in enumerate(form.items) if item.text in names[:number]), None)
    if twice is not None:
        raise block.error(f'Two columns are called "{twice.text}".', twice.at, hint=f"{twice.text} AS another")
    if isinstance(form, DraftTotals):
        if block.having is not None:
            raise block.error("AGGREGATE takes all matches together: HAVING can't choose among them.", form.at)
        unknown = [name for name in form.by if name not in where.equal and name not in where.partition]
        if unknown:
            reason = f'"{unknown[0]}" is not the same through all of a match.'
            raise block.error(reason, form.at, hint=f"[{unknown[0]}] in WHERE")
        return Totals(tuple(_total(block, item) for item in form.items), form.by)
    return Return(tuple(Item(item.text, _given(block, item)) for item in form.items), form.type, form.stream)


def _given(block: Block, item: DraftItem) -> Given:
    given = item.given
    _check_depth(block, given, item.at)
    match given:
        case Sequence(component=component) | Composite(component=component):
            if next(each for each in block.components if each.variable == component).negated:
                raise block.error(f'"{component}" is negated: there is no such event to tell of in RETURN.', item.at)
        case OverMatches(complaint=(reason, hint)):
            raise block.error(reason, given.at, hint=hint)
        case _ if not hasattr(given, "__dataclass_fields__") or type(given).__module__.startswith("thence.lang"):
            raise block.error("RETURN gives values.", item.at, hint="a.price, a[].price or sum(a[].price)")
        case _:
            _check_whole(block, mentioned(given), item.at, "RETURN")
    found: Given = given
    return found


def _total(block: Block, item: DraftItem) -> Total:
    given = block.references.get(item.given) if isinstance(item.given, Variable) else item.given
    match given:
        case OverMatches(summary=summary, of=of) if summary in _TOTALS:
            if of is not None:
                _check_whole(block, frozenset({_variable(block, of)}), item.at, "AGGREGATE")
            return Total(item.text, summary, of)
        case Summarised(summary=summary, component=component, name=name, range=Range.ALL) if summary in _TOTALS:
            _check_whole(block, frozenset({item.given}), item.at, "AGGREGATE")
            if name is None:
                raise block.error("AGGREGATE counts matches or values.", item.at, hint="count(*)")
            return Total(item.text, summary, Sequence(component, name))
    hint = "count(*), sum(a[].x), min(a[].x), max(a[].x), avg(a[].x)"
    raise block.error("AGGREGATE gives sums and the like over all matches.", item.at, hint=hint)


def _variable(block: Block, reference: Reference) -> Variable:
    return next(variable for variable, each in block.references.items() if each == reference)


def check_composition(text: Text, unions: list[UnionQuery]) -> ComposedQuery:
    """The queries in an order in which each comes after those that feed it."""
    made: dict[str, list[int]] = {}
    for number, union in enumerate(unions):
        for block in union.blocks:
            if isinstance(block.form, Return) and block.form.stream is not None:
                made.setdefault(block.form.stream, []).append(number)
    feeds = {
        number: {source for block in union.blocks for stream in block.streams for source in made.get(stream, ())}
        for number, union in enumerate(unions)
    }
    try:
        order = list(TopologicalSorter(feeds).static_order())
    except CycleError as error:
        number = error.args[1][0]
        stream = next(stream for stream, sources in made.items() if number in sources)
        raise text.error(f'The stream "{stream}" would feed itself.', 0, hint="another name after IN STREAM") from None
    for number, union in enumerate(unions[:-1]):
        if not any(number in sources for sources in feeds.values()):
            reason = f"What query {number + 1} gives, no other reads."
            raise text.error(reason, 0, hint="IN STREAM name, and FROM name in another")
        if any(not isinstance(block.form, Return) or block.form.stream is None for block in union.blocks):
            reason = f"Of what query {number + 1} gives, a part goes nowhere."
            raise text.error(reason, 0, hint="IN STREAM name in each block of the UNION")
    _check_fed(text, unions[:-1])
    if len(unions) - 1 != order[-1]:
        raise text.error("The last query is the answer, and another one reads it.", 0, hint="it before that one")
    _check_columns(text, unions)
    _check_windows(text, unions)
    return ComposedQuery(tuple(unions[number] for number in order))


def _check_fed(text: Text, unions: list[UnionQuery]) -> None:
    """What others read are events, whose attributes have one value."""
    for block in (block for union in unions for block in union.blocks):
        assert isinstance(block.form, Return)
        for item in block.form.items:
            if item.name in ("type", "subject"):
                reason = f'An event that is made has its "{item.name}" already.'
                raise text.error(reason, 0, hint="another name after AS")
            if isinstance(item.given, Sequence) or (isinstance(item.given, Composite) and item.given.index is None):
                reason = f'"{item.name}" has several values, and is to be an attribute of an event.'
                raise text.error(reason, 0, hint="a[1].…, a[a.LEN].… or an aggregate")


def _check_columns(text: Text, unions: list[UnionQuery]) -> None:
    for union in unions:
        forms = {type(block.form) for block in union.blocks}
        if len(forms) > 1:
            raise text.error(
                "UNION joins queries with RETURN, or queries with AGGREGATE.", 0, hint="one of them in all"
            )


def _check_windows(text: Text, unions: list[UnionQuery]) -> None:
    """One text, one kind of time."""
    windows = [block.window for union in unions for block in union.blocks if block.window is not None]
    if len({window.domain for window in windows}) > 1:
        reason = "One WITHIN is in ticks, and another in units of time; a text has one kind of time."
        raise text.error(reason, 0, hint="WITHIN … SECONDS in all, or WITHIN … TICKS")
