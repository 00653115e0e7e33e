"""From a parse tree to a draft of a SASE+ file: patterns, conditions, and output clauses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lark import Token, Tree

from thence.algebra.expressions import (
    Arithmetic,
    Bound,
    Call,
    Compare,
    Comparison,
    Expression,
    Negate,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.algebra.sase import (
    AggregateName,
    ClosureAggregate,
    Component,
    Composite,
    EventRange,
    MatchAggregate,
    MatchAggregates,
    Reference,
    Return,
    ReturnedValue,
    ReturnItem,
    Strategy,
    ValueSequence,
    is_iterated,
)
from thence.algebra.show_sase import key_text
from thence.algebra.streams import Name
from thence.algebra.traversal import DEPTH, chain, depth
from thence.algebra.variables import mentioned
from thence.errors import QueryError, listed
from thence.lang.sase.checks import WhereConditions
from thence.lang.sase.draft import (
    DraftBlock,
    DraftItem,
    DraftMatchAggregate,
    DraftReturn,
    DraftTotals,
    EquivalenceTest,
    PartitionAttributes,
    PlacedItem,
    SelectedVariable,
    StrategyGroup,
    column_name,
)
from thence.lang.sase.reference_reader import ConjunctionItems, FormulaPart, ReferenceReader, ResultEvent
from thence.lang.syntax import offset
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import Span

# RETURN, HAVING and AGGREGATE of a SASE+ block.

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
            raise block.error(f"The index i is not allowed in {clause}.", at, hint=hint)


def _negated(block: DraftBlock, variable: str, at: int, clause: str) -> QueryError:
    reason = f'"{variable}" is negated, so {clause} cannot use its event.'
    others = [each.variable for each in block.components if not each.negated]
    return block.error(reason, at, hint=listed(others) if others else 'a component without "~"')


def output(where: WhereConditions) -> Return | MatchAggregates:
    """The output clause: RETURN or AGGREGATE."""
    block = where.block
    form = block.form
    _check_names(block, form.items)
    if isinstance(form, DraftTotals):
        if block.having is not None:
            raise block.error("HAVING is not supported with AGGREGATE, which covers all matches.", form.at)
        alike = {*where.equal, *where.partition}
        for key in form.by:
            if key.value not in alike:
                reason = f'"{key.value}" may differ within a match.'
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
            raise block.error("RETURN needs values.", item.at, hint="a.price, a[].price or sum(a[].price)")
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
    raise block.error("AGGREGATE needs an aggregate over all matches.", item.at, hint=hint)


# From a parse tree to drafts of SASE+ blocks: what the grammar can't refuse with a reason is refused here.

LONGEST = 100
"""The most components that SEQ may hold."""

ANY = "ANY"
_COMPARISONS = {"=": "==", "!=": "<>", "≠": "<>", "≤": "<=", "≥": ">="}


class SaseReader(ReferenceReader):
    """SASE+."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._end = 0
        self._starts: list[int] = []  # where the parts of the current rule begin
        self._places: dict[str, int] = {}

    def _reduce(self, node: Tree[Token], parts: list[Any]) -> Any:
        self._end = self._end if node.meta.empty else node.meta.end_pos
        self._starts = [_start(child) for child in node.children]
        return super()._reduce(node, parts)

    # Queries

    def queries(self, _: None, *unions: tuple[DraftBlock, ...]) -> tuple[tuple[DraftBlock, ...], ...]:
        return unions

    def union(self, *blocks: DraftBlock) -> tuple[DraftBlock, ...]:
        return blocks

    def block(self, *parts: Any) -> DraftBlock:
        found = {type(part): part for part in parts}
        placed = dict(zip(map(type, parts), self._starts, strict=True))
        block = DraftBlock(
            text=self.text,
            streams=tuple(found.get(list, ())),
            components=tuple(self._components.values()),
            items=found.get(tuple, ()),
            window=PlacedItem(found[Span], placed[Span]) if Span in found else None,
            having=found.get(PlacedItem),
            form=next(part for part in parts if isinstance(part, DraftReturn | DraftTotals)),
            references=self._references,
            places=self._places,
            ticks=tuple(self._ticks),
        )
        self._components, self._references, self._places, self._ticks = {}, {}, {}, []
        return block

    def streams(self, *names: Token) -> list[PlacedItem]:
        return [PlacedItem(str(each), offset(each)) for each in names]

    # PATTERN

    def pattern(self, *components: Component) -> None:
        """The components are known by their variables from here on."""

    def component(
        self, named: tuple[Name | None, bool], variable: tuple[Token, bool], *, negated: bool = False
    ) -> Component:
        type, closure = named
        written, brackets = variable
        if len(self._components) == LONGEST:
            raise self.error(f"SEQ has more than {LONGEST} components.")
        if written in self._components:
            raise self.error(f'Two components are called "{written}".', at=offset(written), hint="another name")
        if closure and not brackets:
            raise self.error('A closure\'s variable is written with "[]".', at=offset(written), hint=f"{written}[]")
        if brackets and not closure:
            reason = f'"{written}[]" is a closure, which needs "+" after the type.'
            raise self.error(reason, at=offset(written), hint=f"{type or ANY}+ {written}[]")
        made = Component(type, str(written), closure, negated)
        self._components[str(written)] = made
        self._places[str(written)] = self.here
        return made

    def negated(self, named: tuple[Name | None, bool], variable: tuple[Token, bool]) -> Component:
        return self.component(named, variable, negated=True)

    def named(self, type: Name | None, plus: Token | None = None) -> tuple[Name | None, bool]:
        return type, plus is not None

    def type(self, written: Token | IRI) -> Name | None:
        return None if written == ANY else self.attribute(written)

    def variable(self, written: Token, brackets: Token | None = None) -> tuple[Token, bool]:
        return written, brackets is not None

    # WITHIN

    def within(self, span: Span) -> Span:
        if span.length == 0:
            raise self.error("A window must be longer than 0.", hint="WITHIN 10 MINUTES")
        return span

    # WHERE and HAVING

    def where(self, condition: FormulaPart) -> tuple[PlacedItem, ...]:
        return tuple(self._conditions(condition, self._starts[0]))

    def having(self, condition: FormulaPart) -> PlacedItem:
        (at,) = self._starts
        return PlacedItem(self._plain(condition), at)

    def group(self, strategy: Token, *rest: Any) -> StrategyGroup:
        selected = tuple(part for part in rest if isinstance(part, SelectedVariable))
        inside = [part for part in rest if not isinstance(part, SelectedVariable)]
        found = Strategy(strategy.lower().replace("skip_til_", "skip_till_"))
        conditions = tuple(self._conditions(inside[0], self._starts[-1])) if inside else ()
        return StrategyGroup(found, selected, conditions, offset(strategy))

    def selected(self, variable: tuple[Token, bool], bang: Token | None = None) -> SelectedVariable:
        written, brackets = variable
        component = self._known(written)
        if component.closure != brackets:
            right = f"{written}[]" if component.closure else str(written)
            raise self.error(f'The variable is written "{right}".', at=offset(written), hint=right)
        return SelectedVariable(str(written), bang is not None, offset(written))

    def same(self, *names: Name) -> EquivalenceTest:
        return EquivalenceTest(names, self.here)

    def partition(self, *keys: PlacedItem) -> PartitionAttributes:
        return PartitionAttributes(tuple(key.value for key in keys), self.here)

    def keyed(self, part: FormulaPart) -> PlacedItem:
        return PlacedItem(self.key(part, self.text.read[self.here : self._end]), self.here)

    def conjuncts(self, *parts: FormulaPart) -> ConjunctionItems:
        return ConjunctionItems(tuple(map(PlacedItem, parts, self._starts)))

    def alternatives(self, *parts: FormulaPart) -> Expression:
        return chain(Or, [self._plain(part) for part in parts])

    def not_(self, _: Token, part: FormulaPart) -> Expression:
        return Not(self._plain(part))

    def compared(self, left: FormulaPart, sign: Token, right: FormulaPart) -> Expression:
        comparison = Comparison(_COMPARISONS.get(str(sign), str(sign)))
        return Compare(comparison, self._plain(left), self._plain(right))

    def is_null(self, part: FormulaPart, negated: Token | None = None) -> Expression:
        if not isinstance(part, Variable):
            raise self.error("IS NULL needs an attribute.", hint="a.price IS NULL")
        return Bound(part) if negated is not None else Not(Bound(part))

    def like(self, part: FormulaPart, *rest: Any) -> Expression:
        pattern = rest[-1]
        found = Call("REGEX", (self._plain(part), Literal(_regular(pattern.value)), Literal("s")))
        return Not(found) if len(rest) > 1 else found

    def in_(self, part: FormulaPart, *rest: Any) -> Expression:
        negated = bool(rest) and isinstance(rest[0], Token)
        choices = tuple(self._plain(choice) for choice in (rest[1:] if negated else rest))
        tests: list[Expression] = [Compare(Comparison.SAME, self._plain(part), choice) for choice in choices]
        found = chain(Or, tests)
        return Not(found) if negated else found

    def sum(self, *parts: Any) -> Expression:
        found = self._plain(parts[0])
        for sign, operand in zip(parts[1::2], parts[2::2], strict=True):
            operation = Operation.QUOTIENT if sign == "/" else Operation(str(sign))
            found = Arithmetic(operation, found, self._plain(operand))
        return found

    product = key_sum = key_product = sum

    def negative(self, _: Token, part: FormulaPart) -> Expression:
        return Negate(self._plain(part))

    def bracketed(self, *items: DraftItem) -> Any:
        if len(items) == 1 and items[0].name is None:
            return items[0].given
        return ResultEvent(items, self.here)

    def _conditions(self, part: FormulaPart, at: int) -> Iterable[PlacedItem]:
        """The conjuncts of WHERE, each with its place."""
        for each in _each(part, at):
            beside = isinstance(each.value, StrategyGroup | EquivalenceTest | PartitionAttributes)
            self.here = each.at
            yield each if beside else PlacedItem(self._plain(each.value), each.at)

    # RETURN and AGGREGATE

    def item(self, part: Any, named: Token | None = None) -> DraftItem:
        part = self._plain(part) if isinstance(part, ConjunctionItems) else part
        text = column_name(self.text.read[self.here : self._end]) if named is None else self.attribute(named).local
        return DraftItem(None if named is None else text, text, part, self.here)

    def stream(self, written: Token) -> PlacedItem:
        return PlacedItem(str(written), offset(written))

    def returned(self, *parts: Any) -> DraftReturn:
        stream = parts[-1] if isinstance(parts[-1], PlacedItem) else None
        items = parts if stream is None else parts[:-1]
        if len(items) == 1 and isinstance(items[0].given, ResultEvent):
            return DraftReturn(items[0].given.items, items[0].name, stream, self.here)
        return DraftReturn(items, None, stream, self.here)

    def aggregate(self, *parts: Any) -> DraftTotals:
        items = tuple(part for part in parts if isinstance(part, DraftItem))
        return DraftTotals(items, tuple(part for part in parts if isinstance(part, PlacedItem)), self.here)


def _start(part: Tree[Token] | Token) -> int:
    return offset(part) if isinstance(part, Token) else getattr(part.meta, "start_pos", 0)


def _each(part: Any, at: int) -> Iterable[PlacedItem]:
    """The conjuncts of a condition, each with its place."""
    if isinstance(part, ConjunctionItems):
        for each in part.parts:
            yield from _each(each.value, each.at)
    else:
        yield PlacedItem(part, getattr(part, "at", at))


def _regular(pattern: str) -> str:
    """The regular expression of a LIKE: `%` is any text, `_` any character."""
    signs = {"%": ".*", "_": "."}
    return "^" + "".join(signs.get(letter) or _quoted(letter) for letter in pattern) + "$"


def _quoted(letter: str) -> str:
    return f"\\{letter}" if letter in "\\.^$*+?()[]{}|-" else letter
