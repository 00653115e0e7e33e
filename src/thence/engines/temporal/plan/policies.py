"""Which queries a policy applies to: SELECTs over a chain of SEQs and filters (EP-66, EP-67)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Exists, Expression
from thence.algebra.patterns import (
    Alternative,
    Bgp,
    ChainOperator,
    Extend,
    Filter,
    Graph,
    Inverse,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Select,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.variables import has_aggregate, parts
from thence.engines.temporal.program import Assign, Combine, Node, Project, Restrict, SeqChain, SeqOperand
from thence.errors import InputError, QueryError
from thence.rdf.terms import IRI
from thence.relation.interval_table import Relation

UNRESTRICTED, CHRONOLOGICAL, RECENT = POLICIES = ("unrestricted", "chronological", "recent")


def selects_by(policy: str) -> bool:
    """Whether a policy selects and consumes at all. InputError if there is no such policy."""
    if policy and policy not in POLICIES:
        raise InputError(f'policy="{policy}" is not supported. Try: {UNRESTRICTED}, {CHRONOLOGICAL} or {RECENT}')
    return policy not in ("", UNRESTRICTED)


# Which queries are admitted


def check_policy(file: RuleFile) -> None:
    """QueryError if a statement is not a SELECT over a chain of SEQs and filters (EP-67)."""
    if file.rules:
        raise _refused("this file has CONSTRUCT", "")
    for number, select in enumerate(file.selects, 1):
        for has, hint in _foreign(select):
            which = "this one" if len(file.selects) == 1 else f"SELECT {number}"
            raise _refused(f"{which} has {has}", hint)


def _refused(reason: str, hint: str) -> QueryError:
    reason = f"policy= needs a SELECT over a chain of SEQs and filters; {reason}."
    return QueryError(reason, hint=hint or 'policy="unrestricted"')


def _foreign(select: Select) -> Iterator[tuple[str, str]]:
    """The parts of a SELECT that no policy is defined for, and the cure, in the order of the text."""
    modifiers = select.modifiers
    if select.distinct:
        yield "DISTINCT", "remove DISTINCT"
    if select.reduced:
        yield "REDUCED", "remove REDUCED"
    shown = [each.expression for each in select.columns or () if each.expression is not None]
    if any(map(has_aggregate, shown)):
        yield "an aggregate", ""
    if any(map(_has_exists, shown)):
        yield "EXISTS", ""
    yield from _foreign_group(select.where, is_operand=False)
    words = {
        "GROUP BY": modifiers.group is not None,
        "HAVING": bool(modifiers.having),
        "ORDER BY": bool(modifiers.order),
        "LIMIT": modifiers.limit is not None,
        "OFFSET": modifiers.offset is not None,
        "VALUES": modifiers.values is not None,
    }
    yield from ((word, f"remove {word}") for word, stands in words.items() if stands)


def _foreign_group(group: Pattern, *, is_operand: bool) -> Iterator[tuple[str, str]]:
    """The parts of a group other than one chain (in an operand: one chain or triples) and filters."""
    pattern = group
    if isinstance(group, Filter):
        if _has_exists(group.condition):
            yield "EXISTS", ""
        pattern = group.pattern
    match pattern:
        case Bgp():
            yield from _foreign_triples(pattern, is_operand=is_operand)
        case TemporalJoin(ChainOperator.SEQ):
            yield from _foreign_chain(pattern)
        case TemporalJoin():
            yield pattern.operator.value, ""
        case Filter():
            yield from _foreign_group(pattern, is_operand=is_operand)
        case Join():
            yield from _foreign_join(pattern)
        case _:
            yield _word(pattern), ""


def _foreign_chain(chain: TemporalJoin) -> Iterator[tuple[str, str]]:
    """A left side without filters of its own is the same chain (EP-7)."""
    operands = [chain.right]
    left = chain.left
    while isinstance(left, TemporalJoin) and left.operator is ChainOperator.SEQ:
        operands.append(left.right)
        left = left.left
    for operand in (left, *reversed(operands)):
        yield from _foreign_group(operand, is_operand=True)


def _foreign_triples(triples: Bgp, *, is_operand: bool) -> Iterator[tuple[str, str]]:
    if any(isinstance(each, PathPattern) and _repeats(each.path) for each in triples.triples):
        yield "a path with *, + or ?", ""
    elif not is_operand:
        yield "no SEQ", "{ … } SEQ { … }"
    elif not triples.triples:
        yield "an empty group", "remove it"


def _foreign_join(join: Join) -> Iterator[tuple[str, str]]:
    sides = (join.left, join.right)
    for side in sides:
        if isinstance(side, Join):
            yield from _foreign_join(side)
        elif not isinstance(side, Bgp | Filter | TemporalJoin):
            yield _word(side), ""
    yield "elements beside the chain", "SEQ between the groups"


def _word(
    pattern: Graph | Values | LeftJoin | Union | Minus | Extend | SubSelect | WindowPattern | MatchPattern,
) -> str:
    match pattern:
        case Graph():
            return "GRAPH"
        case Values():
            return "VALUES"
        case LeftJoin():
            return "OPTIONAL"
        case Union():
            return "UNION"
        case Minus():
            return "MINUS"
        case Extend():
            return "BIND"
        case SubSelect():
            return "a sub-select"
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _has_exists(expression: Expression) -> bool:
    return any(isinstance(part, Exists) for part in parts(expression))


def _repeats(path: Path) -> bool:
    match path:
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            return True
        case IRI() | NegatedSet():
            return False
        case Inverse():
            return _repeats(path.path)
        case PathSequence() | Alternative():
            return _repeats(path.left) or _repeats(path.right)
        case _:
            assert_never(path)


# Where the chain is in the network


def chain_of(nodes: Sequence[Node], root: int) -> SeqChain:
    """The chain of a SELECT that `check_policy` admits. `root` is the SELECT's node."""
    number = root
    while isinstance(node := nodes[number], Project | Assign):
        number = node.input
    found = _chain(nodes, number)
    assert found is not None, "the check rejects a SELECT without SEQ"
    return found


def _chain(nodes: Sequence[Node], number: int) -> SeqChain | None:
    """All SEQs that are reached by left operands, through the filters of groups: combinations of the whole chain have
    passed all of them (EP-69)."""
    operands: list[int] = []
    left = number
    while isinstance(joined := _unfiltered(nodes, left), Combine) and joined.relation is Relation.SEQ:
        operands.append(joined.right)
        left = joined.left
    if not operands:
        return None
    operands.append(left)
    return SeqChain(number, tuple(SeqOperand(each, _chain(nodes, each)) for each in reversed(operands)))


def _unfiltered(nodes: Sequence[Node], number: int) -> Node:
    node = nodes[number]
    while isinstance(node, Restrict):
        node = nodes[node.input]
    return node
