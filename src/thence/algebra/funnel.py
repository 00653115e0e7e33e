"""A query of an automaton cut into steps, each a query of its own: its first components, and the conditions on the last
of them one by one. How many events begin a match of each says how far partial matches come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thence.algebra.expressions import Expression
from thence.algebra.sase import (
    Attribute,
    Component,
    ComponentQuery,
    ComposedQuery,
    EventIndex,
    Reference,
    Return,
    Strategy,
    UnionQuery,
    acts_at,
)
from thence.algebra.show import show
from thence.algebra.show_sase import condition_text, key_text
from thence.algebra.spaseq import (
    Gpm,
    Occurrence,
    Operand,
    Quantifier,
    Selection,
    SelectRows,
    SequencePart,
    SequenceQuery,
    occurrences,
)
from thence.algebra.streams import QueryAlgebra, Window, window_text
from thence.algebra.variables import mentioned


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A cut of a query. `text` says what the events that begin its matches have done ("met a b"); `begins`: it is the
    first of a block."""

    text: str
    algebra: QueryAlgebra
    begins: bool = False


# SASE+


def sase_steps(query: ComposedQuery) -> Iterator[FunnelStep]:
    """The steps of each block, those of inner queries first. A block of one component and no condition has one."""
    for number, composed in enumerate(query.queries):
        for block in composed.blocks:
            several = len(query.blocks) > 1
            for step, cut in _of_block(block):
                text = f"{step} ({', '.join(block.streams) or block.sources[0].name})" if several else step
                whole = ComposedQuery((*query.queries[:number], UnionQuery((cut,))))
                yield FunnelStep(text, whole, begins=step.startswith(_BEGIN))


_BEGIN = "could begin "


def _of_block(block: ComponentQuery) -> Iterator[tuple[str, ComponentQuery]]:
    taken: list[Component] = []
    asked: list[Expression] = []
    # without keys and window the partial matches of closures may be far too many
    closures = any(component.closure for component in block.positive)
    keyed = closures or any(component.strategy is Strategy.PARTITION for component in block.components)
    within = closures
    last = block.positive[-1]
    for component in block.positive:
        first, plain = not taken, _plain(component)
        before = taken[:]
        asking = [each for each in block.conditions if acts_at(block, each) is component]
        alone = [each for each in asking if _is_plain(block, each, component)] if component.closure else asking
        verb = _BEGIN if first else "met a "
        yield verb + _called(component), _cut(block, (*before, plain), asked, keyed=keyed, within=within)
        if len(before) == 1:
            if block.tested and not keyed:
                keyed = True
                keys = ", ".join(map(key_text, block.tested))
                yield f"had the same {keys}", _cut(block, (*before, plain), asked, keyed=True, within=within)
            if block.window is not None and not within:
                within = True
                text = f"met it {window_text(Window(block.window))}"
                yield text, _cut(block, (*before, plain), asked, keyed=keyed, within=True)
        for condition in alone:
            asked = [*asked, condition]
            yield (
                f"passed {condition_text(condition)}",
                _cut(block, (*before, plain), asked, keyed=keyed, within=within),
            )
        asked += [each for each in asking if each not in alone]
        if component.closure and (component is last or len(alone) < len(asking)):
            real = _eager(component)
            yield f"completed {_called(component)}", _cut(block, (*before, real), asked, keyed=keyed, within=within)
        taken.append(component)
        for negated in _negated_before(block, component) if before else ():
            taken.insert(-1, negated)
            asked += [each for each in block.conditions if acts_at(block, each) is negated]
            text = f"had no {_called(negated)} in between"
            yield text, _cut(block, taken, asked, keyed=keyed, within=within)
    if [component for component in block.components if component.negated] != [each for each in taken if each.negated]:
        rest = [each for each in block.components if each.negated and each not in taken]
        named = ", ".join(map(_called, rest))
        yield f"had no {named}", _cut(block, block.components, block.conditions, keyed=True, within=True)
    if block.having is not None:
        whole = _cut(block, block.components, block.conditions, keyed=True, within=True)
        text = f"passed HAVING {condition_text(block.having)}"
        yield text, replace(whole, having=block.having, references=block.references)


def _negated_before(block: ComponentQuery, component: Component) -> list[Component]:
    """The negated components directly before a component."""
    found: list[Component] = []
    for each in block.components:
        if each is component:
            return found
        found = [*found, each] if each.negated else []
    return []


def _cut(
    block: ComponentQuery,
    components: Sequence[Component],
    conditions: Sequence[Expression],
    *,
    keyed: bool,
    within: bool,
) -> ComponentQuery:
    """A block of some components, with the conditions that are about them. A closure that stands there as a single
    event has no index."""
    known = {component.variable: component for component in components}
    references = {
        variable: _of_plain(reference, known[reference.component], block)
        for variable, reference in block.references.items()
        if reference.component in known
    }
    chosen = tuple(each for each in conditions if mentioned(each) <= references.keys())
    return replace(
        block,
        components=tuple(components),
        form=Return(()),
        conditions=chosen,
        equal=block.equal if keyed else (),
        partition=block.partition if keyed else (),
        window=block.window if within else None,
        having=None,
        references=references,
    )


def _of_plain(reference: Reference, component: Component, block: ComponentQuery) -> Reference:
    if isinstance(reference, Attribute) and not component.closure:
        return replace(reference, index=EventIndex.ALONE)
    return reference


def _plain(component: Component) -> Component:
    """The first event of a component, the earliest that there is: whether there is one does not depend on more."""
    return replace(_eager(component), closure=False, cut=False)


def _eager(component: Component) -> Component:
    return replace(component, strategy=Strategy.NEXT) if component.strategy is Strategy.ANY else component


def _is_plain(block: ComponentQuery, condition: Expression, component: Component) -> bool:
    """Whether a condition on a closure is one on each of its events alone."""
    of_each = (EventIndex.EACH, EventIndex.FIRST, EventIndex.ALONE)
    own = [block.references[each] for each in mentioned(condition)]
    return all(
        isinstance(each, Attribute) and each.index in of_each for each in own if each.component == component.variable
    )


def _called(component: Component) -> str:
    return f"{component.variable}[]" if component.closure else component.variable


# SPAseQ


def spaseq_steps(query: SequenceQuery) -> Iterator[FunnelStep]:
    """A step for each part of the sequence and each filter. Optional parts are no steps of their own."""
    taken: list[SequencePart] = []
    waiting: list[SequencePart] = []  # negated parts, judged once the next part has come
    whole = {gpm.name: gpm for gpm in query.gpms}
    gpms = dict(whole)
    within = query.window is None or query.window.tumbling
    for part in query.sequence:
        if part.quantifier is Quantifier.NOT:
            waiting.append(part)
            continue
        if part.quantifier is Quantifier.OPTIONAL:
            taken += [*waiting, part]
            waiting = []
            continue
        first = not any(each.quantifier is not Quantifier.OPTIONAL for each in taken)
        used = {each.gpm for other in taken for each in occurrences(other.operand)}
        names = [each for each in dict.fromkeys(each.gpm for each in occurrences(part.operand)) if each not in used]
        gpms |= {name: replace(whole[name], filters=()) for name in names}
        now = [*taken, _plain_part(part)]
        called = _operand(part.operand)
        text = _BEGIN + called if first else f"met a {called}"
        yield FunnelStep(text, _cut_sequence(query, now, gpms, within=within), begins=first)
        if not first and not within:
            within = True
            assert query.window is not None
            yield FunnelStep(f"met it {window_text(query.window)}", _cut_sequence(query, now, gpms, within=True))
        for name in names:
            for number, condition in enumerate(whole[name].filters, start=1):
                gpms[name] = replace(whole[name], filters=whole[name].filters[:number])
                yield FunnelStep(f"passed {show(condition)}", _cut_sequence(query, now, gpms, within=within))
        for negated in waiting:
            taken.append(negated)
            text = f"had no {_operand(negated.operand)} in between"
            once = replace(part, quantifier=Quantifier.ONE)  # a later one may be of another variable's value
            yield FunnelStep(text, _cut_sequence(query, [*taken, once], gpms, within=within))
        waiting = []
        taken.append(part)
    if waiting:
        named = ", ".join(_operand(each.operand) for each in waiting)
        yield FunnelStep(f"had no {named}", _cut_sequence(query, [*taken, *waiting], whole, within=True))


def _plain_part(part: SequencePart) -> SequencePart:
    """The first iteration, as early as there is one."""
    selection = Selection.NEXT if part.selection is Selection.ANY else part.selection
    return replace(part, quantifier=Quantifier.ONE, selection=selection)


def _cut_sequence(
    query: SequenceQuery, parts: Sequence[SequencePart], gpms: dict[str, Gpm], *, within: bool
) -> SequenceQuery:
    begun = (replace(parts[0], selection=None), *parts[1:])
    window = query.window if within else None
    return replace(query, form=SelectRows(()), sequence=begun, gpms=tuple(gpms.values()), window=window)


def _operand(operand: Operand) -> str:
    if isinstance(operand, Occurrence):
        return operand.gpm
    return " or ".join(dict.fromkeys(each.gpm for each in occurrences(operand)))
