"""From drafts to patterns and arms: what an expression sees to its left, whether it binds or tests (TEF-57, TEF-58),
and which arm it belongs to (TEF-68)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, assert_never

from thence.algebra.expressions import Compare, Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefPattern,
    TemporalRelation,
    Test,
    Times,
    Until,
    bound,
)
from thence.algebra.traversal import DEPTH
from thence.algebra.variables import mentioned
from thence.errors import QueryError
from thence.lang.syntax import LONG_INFIX, LONG_LIST
from thence.lang.tef_sparql.draft import (
    ON_INIT,
    SINCE,
    UNTIL,
    ArmDraft,
    InfixDraft,
    ListDraft,
    OperandDraft,
    PunctuationDraft,
    StepDraft,
    TimesDraft,
    UnionDraft,
    WithoutDraft,
)

WITHOUT = "WITHOUT"
LONG_UNION = f"UNION in a group may join at most {DEPTH - 1} patterns."

BoundVariables = frozenset[Variable]

_ARMS: Mapping[str, Callable[[TefPattern], Arm]] = {"": Plain, SINCE: Since, UNTIL: Until, ON_INIT: OnInit}


class Reporter(Protocol):
    """Makes errors and keeps warnings, with their places."""

    def error(self, reason: str, *, at: int | None = None, hint: str = "") -> QueryError: ...

    def caution(self, reason: str, at: int, *, hint: str = "") -> None: ...

    def place_of(self, variable: Variable, at: int) -> int: ...

    def note(self, pattern: TefPattern, at: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Composed:
    """A pattern, and the variables that it binds."""

    pattern: TefPattern
    scope: BoundVariables


@dataclass(frozen=True, slots=True)
class ComposedArm:
    """An arm, and the variables that it binds."""

    arm: Arm
    scope: BoundVariables


@dataclass(frozen=True, slots=True)
class Composition:
    """Composes the drafts of one statement. `outer` is always what is bound to the left of a draft, outside of it."""

    reporter: Reporter

    # Arms

    def arms(self, draft: UnionDraft) -> tuple[Arm, ...]:
        """The arms of a WHERE; a group that is an arm by itself gives its own (TEF-68)."""
        return tuple(found.arm for found in self._arms(draft))

    def _arms(self, draft: UnionDraft) -> Iterator[ComposedArm]:
        for arm in draft.arms:
            nested = None if arm.keyword else arm.content.arms_with_steps
            if nested is None:
                yield self._arm(arm)
                continue
            group, steps = nested
            if steps and next(group.making_facts(), None) is None:
                yield self._arm(arm)
                continue
            for found in self._arms(group):
                yield self._with_steps(found, steps)

    def _arm(self, arm: ArmDraft) -> ComposedArm:
        content = self._list(arm.content, frozenset(), arm.keyword)
        if arm.events is not None:
            events = self._list(arm.events, content.scope, "ON")
            return ComposedArm(Replace(content.pattern, events.pattern), content.scope | events.scope)
        return ComposedArm(_ARMS[arm.keyword](content.pattern), content.scope)

    def _with_steps(self, found: ComposedArm, steps: Sequence[StepDraft]) -> ComposedArm:
        """The arm with bare expressions behind it."""
        arm, scope = found.arm, found.scope
        if isinstance(arm, Replace) and len(arm.steps) + len(steps) >= DEPTH:
            raise self.reporter.error(LONG_LIST, at=steps[0].at)
        for step in steps:
            variable, expression = self._settled(step, scope)
            scope |= frozenset() if variable is None else {variable}
            match arm:
                case Plain(pattern):
                    arm = Plain(self._stepped(pattern, variable, expression, step.at))
                case Since(pattern):
                    arm = Since(self._stepped(pattern, variable, expression, step.at))
                case Until(pattern):
                    arm = Until(self._stepped(pattern, variable, expression, step.at))
                case OnInit(pattern):
                    arm = OnInit(self._stepped(pattern, variable, expression, step.at))
                case Replace():
                    arm = replace(arm, steps=(*arm.steps, (variable, expression)))
                case _:
                    assert_never(arm)
        return ComposedArm(arm, scope)

    # Patterns

    def _list(self, draft: ListDraft, outer: BoundVariables, keyword: str = "") -> Composed:
        """`P, P, expression`; `keyword` is what it is the operand of."""
        if len(draft.rest) >= DEPTH:
            raise self.reporter.error(LONG_LIST, at=draft.at)
        beside = keyword or ("," if draft.rest else "")
        found = self._operand(draft.first, outer, beside)
        for item in draft.rest:
            match item:
                case StepDraft():
                    found = self._step(found, item, outer)
                case WithoutDraft():
                    absent = self._operand(item.pattern, outer | found.scope, WITHOUT)
                    found = Composed(Absent(found.pattern, absent.pattern), found.scope)
                case _:
                    right = self._operand(item, outer | found.scope, keyword or ",")
                    found = Composed(Conjunction(found.pattern, right.pattern), found.scope | right.scope)
        return found

    def _operand(self, draft: OperandDraft, outer: BoundVariables, operator: str) -> Composed:
        match draft:
            case TriplePattern():
                return Composed(draft, bound(draft))
            case TimesDraft():
                timed = self._operand(draft.pattern, outer, "[ … ]")
                pattern = Times(timed.pattern, draft.start, draft.end)
                return Composed(pattern, timed.scope | _variables(draft.start, draft.end))
            case PunctuationDraft(keyword, inner, at):
                facts = self._operand(inner, outer, keyword)
                made = OnStart(facts.pattern) if keyword == "ONSTART" else OnEnd(facts.pattern)
                self.reporter.note(made, at)
                return Composed(made, facts.scope)
            case InfixDraft():
                return self._infix(draft, outer)
            case UnionDraft():
                return self._union(draft, outer, operator)
            case _:
                assert_never(draft)

    def _infix(self, draft: InfixDraft, outer: BoundVariables) -> Composed:
        if len(draft.rest) >= DEPTH:
            raise self.reporter.error(LONG_INFIX)
        found = self._operand(draft.first, outer, draft.rest[0][0])
        for keyword, operand, at in draft.rest:
            right = self._operand(operand, outer | found.scope, keyword)
            if keyword == WITHOUT:
                found = Composed(Absent(found.pattern, right.pattern), found.scope)
            else:
                related = Related(TemporalRelation(keyword), found.pattern, right.pattern)
                self.reporter.note(related, at)
                found = Composed(related, found.scope | right.scope)
        return found

    def _union(self, draft: UnionDraft, outer: BoundVariables, operator: str) -> Composed:
        if len(draft.arms) > DEPTH:
            raise self.reporter.error(LONG_UNION, at=draft.at)
        for arm in draft.arms:
            if arm.keyword:
                raise self._misplaced(arm, operator)
        first, *others = (self._list(arm.content, outer, "" if arm.content.rest else operator) for arm in draft.arms)
        for other in others:
            first = Composed(Either(first.pattern, other.pattern), first.scope & other.scope)
        return first

    def _misplaced(self, arm: ArmDraft, operator: str) -> QueryError:
        """SINCE, UNTIL, REPLACE or ON INIT in a group that is not an arm (TEF-13)."""
        reason = f"{arm.keyword} is not allowed {_where(operator)}: it is an arm of CONSTRUCT FACT."
        return self.reporter.error(reason, at=arm.at, hint=_cure(arm.keyword, operator))

    # Expressions

    def _step(self, before: Composed, step: StepDraft, outer: BoundVariables) -> Composed:
        variable, expression = self._settled(step, outer | before.scope)
        scope = before.scope if variable is None else before.scope | {variable}
        return Composed(self._stepped(before.pattern, variable, expression, step.at), scope)

    def _settled(self, step: StepDraft, seen: BoundVariables) -> tuple[Variable | None, Expression]:
        """`?n = expr` that binds: the variable and the expression. A test: None and the whole expression (TEF-57)."""
        variable, expression = None, step.expression
        match expression:
            case Compare(Comparison.EQUAL, Variable() as left, right) if left not in seen:
                variable, expression = left, right
            case Compare(Comparison.EQUAL, Variable() as left, _) if step.keyword == "BIND":
                reason = f"{left} is bound to the left, so this BIND tests whether the two are equal."
                self.reporter.caution(reason, step.at, hint="a new name")
        for unseen in sorted(mentioned(expression) - seen, key=str):
            reason = f"{unseen} is not bound to the left of this expression: there it has no value."
            self.reporter.caution(reason, self.reporter.place_of(unseen, step.at))
        return variable, expression

    def _stepped(
        self, pattern: TefPattern, variable: Variable | None, expression: Expression, at: int
    ) -> Test | Assignment:
        found = Test(pattern, expression) if variable is None else Assignment(pattern, variable, expression)
        self.reporter.note(found, at)
        return found


def _variables(*slots: object) -> BoundVariables:
    return frozenset(slot for slot in slots if isinstance(slot, Variable))


def _where(operator: str) -> str:
    match operator:
        case "," | "":
            return "beside a pattern"
        case "[ … ]":
            return "before brackets"
        case "SINCE" | "UNTIL" | "REPLACE" | "ON" | "ONSTART" | "ONEND":
            return f"after {operator}"
        case "ON INIT":
            return "before ON INIT"
        case _:
            return f"beside {operator}"


def _cure(keyword: str, operator: str) -> str:
    if keyword in (SINCE, UNTIL) and operator in ("SEQ", "BEFORE", "DURING", "WITH", "WITHOUT"):
        return f"{keyword} ( … {operator} … )"
    if keyword in (SINCE, UNTIL) and operator in (",", ""):
        return f"{keyword} ( …, … )"
    return "a statement of its own, or UNION between arms" if keyword != ON_INIT else "ON INIT after the whole arm"
