"""Translates patterns of EP-SPARQL into nodes of a network (Section 4.2), each after its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import assert_never

from thence.algebra import ep_sparql
from thence.algebra.expressions import Call, Compare, Comparison, Exists, Expression, Not, Or, Variable
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
    Modifiers,
    NegatedSet,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    PatternTerm,
    Projection,
    Select,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.traversal import nodes as all_nodes
from thence.algebra.traversal import numbered, replaced
from thence.algebra.variables import columns, has_aggregate, mentioned, parts
from thence.engines.temporal.plan.bounds import comparable_duration, duration_bounds
from thence.engines.temporal.program import (
    DURATION,
    END_TIME,
    START_TIME,
    Assign,
    Combine,
    Condition,
    Either,
    ExistsTest,
    JoinKeys,
    Merge,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Summarise,
    Timeless,
    Without,
)
from thence.interface.tables import OBJECT, PREDICATE, SUBJECT, AllTriples, EntailedTriples, Table
from thence.rdf.dates import XSD_DURATION
from thence.rdf.terms import IRI, BlankNode, Literal
from thence.relation.interval_table import Relation

_TIME_FUNCTIONS = {
    ep_sparql.DURATION: DURATION,
    ep_sparql.START_TIME: START_TIME,
    ep_sparql.END_TIME: END_TIME,
    "NOW": END_TIME,  # EP-34
}
_RELATIONS = {
    ChainOperator.SEQ: Relation.SEQ,
    ChainOperator.EQUALS: Relation.EQUALS,
    ChainOperator.OPTIONALSEQ: Relation.SEQ_UNTIL,
    ChainOperator.EQUALSOPTIONAL: Relation.EQUALS,
}
_EMPTY = Values((), ((),))


@dataclass(slots=True)
class Translation:
    """The nodes so far, the tables that they read, and which variables each node always binds."""

    stream: str
    reasoning: bool = False
    """Whether scans read what the triples of events entail, too."""
    nodes: list[Node] = field(default_factory=list)
    tables: dict[Table, int] = field(default_factory=dict)
    bound: list[frozenset[Variable]] = field(default_factory=list)
    _hidden: Iterator[int] = field(default_factory=count)
    _places: Iterator[int] = field(default_factory=count)

    def pattern(self, pattern: Pattern) -> int:
        """The number of the node that emits a pattern's solutions."""
        match pattern:
            case Bgp():
                return self._bgp(pattern)
            case Values() | Graph():
                return self._timeless(pattern)
            case Join():
                return self._combine(Relation.ANY, pattern.left, pattern.right)
            case LeftJoin():
                left, right = self.pattern(pattern.left), self.pattern(pattern.right)
                return self._optional(Relation.UNTIL, left, right, pattern.condition)
            case TemporalJoin():
                return self._temporal(pattern)
            case Union():
                return self._either(self.pattern(pattern.left), self.pattern(pattern.right))
            case Minus():
                return self._without(pattern)
            case Filter():
                node = self.pattern(pattern.pattern)
                return self._restrict(node, pattern.condition)
            case Extend():
                return self._assign(pattern)
            case SubSelect():
                return self.select(pattern.select)
            case WindowPattern() | MatchPattern():
                raise AssertionError("RSEP-QL has it, not EP-SPARQL")
            case _:
                assert_never(pattern)

    def select(self, select: Select, *, is_statement: bool = False) -> int:
        """The rows of a SELECT; a statement's rows are also distinguished by the variables that they hide."""
        node = self.pattern(select.where)
        if select.modifiers.values is not None:
            node = self._pair(Relation.ANY, node, self._timeless(select.modifiers.values))
        below = self.nodes[node]
        names = columns(select)
        grouped = is_grouped(select)
        if grouped or select.modifiers.order or select.modifiers.limit is not None or select.modifiers.offset:
            plain = self._with_time_variables(replace(select, where=Bgp(())), below.variables)
            tests = tuple((each, self.pattern(each.pattern)) for each in _exists_in(plain))
            places = () if grouped or select.distinct else below.places
            bound = frozenset(names) & (frozenset() if grouped else self.bound[node])
            return self._add(Summarise(node, plain, tests, grouped, names, places), bound)
        for each in select.columns or ():
            if each.expression is not None:  # it may read the columns before it (18.2.4.4)
                node = self._assign_to(node, each.variable, each.expression)
        below = self.nodes[node]
        shown = _columns_of(names, below.variables)
        bound = frozenset(names) & self.bound[node]
        places = () if select.distinct else below.places  # merged rows list no events (EP-6)
        hidden: tuple[int, ...] = ()
        if is_statement and not select.distinct:
            hidden = tuple(place for place in range(len(below.variables)) if place not in shown)
        return self._add(Project(node, shown, select.distinct, names, places, hidden), bound)

    # Leaves

    def _bgp(self, pattern: Bgp) -> int:
        scans = [self._triple(triple) for triple in pattern.triples]
        if not scans:
            return self._timeless(_EMPTY)
        node = scans[0]
        for part in scans[1:]:
            node = self._pair(Relation.ANY, node, part)
        return node

    def _triple(self, triple: TriplePattern | PathPattern) -> int:
        if isinstance(triple, PathPattern):
            return self._path(_named(triple.subject), triple.path, _named(triple.object))
        return self.scan(TriplePattern(_named(triple.subject), triple.predicate, _named(triple.object)))

    def scan(self, triple: TriplePattern) -> int:
        """The occurrences of a triple pattern without blank nodes."""
        slots = (triple.subject, triple.predicate, triple.object)
        variables = tuple(dict.fromkeys(slot for slot in slots if isinstance(slot, Variable)))
        asked = numbered(Bgp((triple,)), variables)
        assert isinstance(asked, Bgp)
        names = tuple(Variable(str(place)) for place in range(len(variables)))
        pattern: Pattern | EntailedTriples = asked
        if self.reasoning:
            (named,) = asked.triples
            assert isinstance(named, TriplePattern)
            pattern = EntailedTriples(named)
        table = self.tables.setdefault(Table(self.stream, pattern, names), len(self.tables))
        return self._add(Scan(triple, variables, (next(self._places),), table, names), frozenset(variables))

    def triples_table(self) -> int:
        """The number of the table of whole triples."""
        return self.tables.setdefault(Table(self.stream, AllTriples(), (SUBJECT, PREDICATE, OBJECT)), len(self.tables))

    def _path(self, subject: PatternTerm, path: Path, target: PatternTerm) -> int:
        """A path without `*`, `+` and `?` is joins and unions of triples, which may be of different events (EP-63)."""
        match path:
            case IRI():
                return self.scan(TriplePattern(subject, path, target))
            case Inverse():
                return self._path(target, path.path, subject)
            case PathSequence():
                middle = self._fresh()
                return self._pair(
                    Relation.ANY, self._path(subject, path.left, middle), self._path(middle, path.right, target)
                )
            case Alternative():
                return self._either(self._path(subject, path.left, target), self._path(subject, path.right, target))
            case NegatedSet():
                return self._negated(subject, path, target)
            case _:
                slots = (subject, target)
                variables = tuple(dict.fromkeys(slot for slot in slots if isinstance(slot, Variable)))
                node = PathScan(
                    PathPattern(subject, path, target), variables, (next(self._places),), self.triples_table()
                )
                return self._add(node, frozenset(variables))

    def _negated(self, subject: PatternTerm, path: NegatedSet, target: PatternTerm) -> int:
        arms = []
        if path.forward or not path.backward:
            arms.append(self._any_but(subject, path.forward, target))
        if path.backward:
            arms.append(self._any_but(target, path.backward, subject))
        return arms[0] if len(arms) == 1 else self._either(*arms)

    def _any_but(self, subject: PatternTerm, excluded: Sequence[IRI], target: PatternTerm) -> int:
        predicate = self._fresh()
        node = self.scan(TriplePattern(subject, predicate, target))
        if not excluded:
            return node
        same: Expression = Compare(Comparison.EQUAL, predicate, excluded[0])
        for each in excluded[1:]:
            same = Or(same, Compare(Comparison.EQUAL, predicate, each))
        return self._restrict(node, Not(same))

    def _timeless(self, pattern: Graph | Values) -> int:
        if isinstance(pattern, Values):
            variables, bound = pattern.variables, _always_in(pattern)
        else:
            from thence.algebra.variables import always_bound, in_scope

            variables, bound = in_scope(pattern), always_bound(pattern)
        return self._add(Timeless(pattern, variables), bound)

    # Joins

    def _combine(self, relation: Relation, left: Pattern, right: Pattern) -> int:
        return self._pair(relation, self.pattern(left), self.pattern(right))

    def _temporal(self, pattern: TemporalJoin) -> int:
        left, right = self.pattern(pattern.left), self.pattern(pattern.right)
        relation = _RELATIONS[pattern.operator]
        match pattern.operator:
            case ChainOperator.SEQ | ChainOperator.EQUALS:
                return self._pair(relation, left, right)
            case ChainOperator.OPTIONALSEQ:
                return self._optional(relation, right, left, pattern.condition, optional_first=True)
            case ChainOperator.EQUALSOPTIONAL:
                return self._optional(relation, left, right, pattern.condition)
            case _:
                assert_never(pattern.operator)

    def _pair(self, relation: Relation, left: int, right: int) -> int:
        variables, merge = self._merged(left, right)
        places = (*self.nodes[left].places, *self.nodes[right].places)
        bound = self.bound[left] | self.bound[right]
        return self._add(Combine(relation, left, right, self._keys(left, right), merge, variables, places), bound)

    def _optional(
        self,
        relation: Relation,
        mandatory: int,
        optional: int,
        condition: Expression | None,
        *,
        optional_first: bool = False,
    ) -> int:
        variables, merge = self._merged(mandatory, optional)
        sides = (self.nodes[mandatory].places, self.nodes[optional].places)
        places = (*sides[1], *sides[0]) if optional_first else (*sides[0], *sides[1])
        keys = self._keys(mandatory, optional)
        bound = self.bound[mandatory] | self.bound[optional]
        found = None if condition is None else self._filter_over(condition, variables, bound)
        node = OptionalCombine(relation, mandatory, optional, keys, merge, found, optional_first, variables, places)
        return self._add(node, self.bound[mandatory])

    def _without(self, pattern: Minus) -> int:
        left, right = self.pattern(pattern.left), self.pattern(pattern.right)
        below = self.nodes[left]
        node = Without(left, right, self._keys(left, right), below.variables, below.places)
        return self._add(node, self.bound[left])

    def _either(self, left: int, right: int) -> int:
        one, other = self.nodes[left], self.nodes[right]
        variables = tuple(dict.fromkeys((*one.variables, *other.variables)))
        taken = (_columns_of(variables, one.variables), _columns_of(variables, other.variables))
        places = (*one.places, *other.places)
        return self._add(Either(left, right, taken, variables, places), self.bound[left] & self.bound[right])

    def _keys(self, left: int, right: int) -> JoinKeys:
        one, other = self.nodes[left].variables, self.nodes[right].variables
        return join_keys(one, other, self.bound[left] & self.bound[right])

    def _merged(self, left: int, right: int) -> tuple[tuple[Variable, ...], Merge]:
        one, other = self.nodes[left].variables, self.nodes[right].variables
        variables = tuple(dict.fromkeys((*one, *other)))
        return variables, Merge(_columns_of(variables, one), _columns_of(variables, other))

    # Conditions

    def _restrict(self, node: int, condition: Expression) -> int:
        below = self.nodes[node]
        found = self._filter_over(condition, below.variables, self.bound[node])
        return self._add(Restrict(node, found, below.variables, below.places), self.bound[node])

    def _filter_over(
        self, expression: Expression, variables: tuple[Variable, ...], bound: frozenset[Variable]
    ) -> Condition:
        """The condition of a FILTER, what it says of getDURATION() alone apart."""
        rest, shortest, longest = duration_bounds(_timed(expression))
        if shortest is None and longest is None:
            return self._condition_over(expression, variables, bound)
        if rest is None:
            return Condition(None, (), shortest, longest)
        return replace(self._condition_over(rest, variables, bound), shortest=shortest, longest=longest)

    def _assign(self, pattern: Extend) -> int:
        return self._assign_to(self.pattern(pattern.pattern), pattern.variable, pattern.expression)

    def _assign_to(self, node: int, variable: Variable, expression: Expression) -> int:
        below = self.nodes[node]
        condition = self._condition(expression, node)
        assert variable not in below.variables, "the reader rejects a variable that is bound twice"
        variables = (*below.variables, variable)
        return self._add(Assign(node, variable, condition, variables, below.places), self.bound[node])

    def _condition(self, expression: Expression, node: int) -> Condition:
        return self._condition_over(expression, self.nodes[node].variables, self.bound[node])

    def _condition_over(
        self, expression: Expression, variables: tuple[Variable, ...], bound: frozenset[Variable]
    ) -> Condition:
        tests: list[ExistsTest] = []
        return Condition(self._plain(expression, variables, bound, tests), tuple(tests))

    def _plain(
        self,
        expression: Expression,
        variables: tuple[Variable, ...],
        bound: frozenset[Variable],
        tests: list[ExistsTest],
    ) -> Expression:
        """An expression whose time functions and EXISTS are variables."""

        def change(part: Expression) -> Expression | None:
            match part:
                case Call(function, ()) if function in _TIME_FUNCTIONS:
                    return _TIME_FUNCTIONS[function]
                case Literal(datatype=datatype) if datatype == XSD_DURATION:
                    return comparable_duration(part)
                case Exists():
                    node = self.pattern(part.pattern)
                    flag = Variable(f"EXISTS {len(tests)}")
                    keys = join_keys(variables, self.nodes[node].variables, bound & self.bound[node])
                    correlated = not is_plain_join(part.pattern)
                    tests.append(ExistsTest(flag, node, keys, correlated))
                    return flag
                case _:
                    return None

        return replaced(expression, change)

    def _with_time_variables(self, select: Select, variables: Sequence[Variable]) -> Select:
        """A SELECT whose expressions have variables for their time functions; `*` is written out."""
        modifiers = select.modifiers
        shown = select.columns
        if shown is None:
            shown = tuple(Projection(name) for name in variables if not name.name.startswith("_:"))
        keys = modifiers.group
        return replace(
            select,
            columns=tuple(
                each if each.expression is None else replace(each, expression=_timed(each.expression)) for each in shown
            ),
            modifiers=Modifiers(
                group=keys and tuple(replace(key, expression=_timed(key.expression)) for key in keys),
                having=tuple(map(_timed, modifiers.having)),
                order=tuple(replace(key, expression=_timed(key.expression)) for key in modifiers.order),
                offset=modifiers.offset,
                limit=modifiers.limit,
            ),
        )

    def _fresh(self) -> Variable:
        return Variable(f"_:path{next(self._hidden)}")

    def _add(self, node: Node, bound: frozenset[Variable]) -> int:
        self.nodes.append(node)
        self.bound.append(bound)
        return len(self.nodes) - 1


def _timed(expression: Expression) -> Expression:
    """An expression with variables in place of its time functions."""

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Call) and not part.arguments:
            return _TIME_FUNCTIONS.get(part.function)
        if isinstance(part, Literal) and part.datatype == XSD_DURATION:
            return comparable_duration(part)
        return None

    return replaced(expression, change)


def _exists_in(select: Select) -> Iterator[Exists]:
    expressions = [each.expression for each in select.columns or () if each.expression is not None]
    expressions += [*select.modifiers.having, *(key.expression for key in select.modifiers.order)]
    expressions += [key.expression for key in select.modifiers.group or ()]
    for expression in expressions:
        yield from (part for part in parts(expression) if isinstance(part, Exists))


def is_grouped(select: Select) -> bool:
    """Whether a SELECT has groups: GROUP BY, or an aggregate anywhere."""
    if select.modifiers.group is not None:
        return True
    expressions = [each.expression for each in select.columns or () if each.expression is not None]
    expressions += [*select.modifiers.having, *(key.expression for key in select.modifiers.order)]
    return any(map(has_aggregate, expressions))


def is_plain_join(pattern: Pattern) -> bool:
    """Whether to put a solution in for a pattern's variables is to join with it: no condition in it reads a variable
    that its own group does not bind, and nothing in it depends on what is absent."""
    from thence.algebra.variables import always_bound

    match pattern:
        case Bgp():
            return not any(isinstance(node, PathPattern) for node in pattern.triples)
        case Values():
            return True
        case Join() | Union():
            return is_plain_join(pattern.left) and is_plain_join(pattern.right)
        case TemporalJoin():
            plain = pattern.operator in (ChainOperator.SEQ, ChainOperator.EQUALS)
            return plain and is_plain_join(pattern.left) and is_plain_join(pattern.right)
        case Graph():
            return isinstance(pattern.pattern, Bgp) and is_plain_join(pattern.pattern)
        case Filter():
            if any(isinstance(node, Exists) for node in all_nodes(pattern.condition)):
                return False
            return is_plain_join(pattern.pattern) and mentioned(pattern.condition) <= always_bound(pattern.pattern)
        case _:
            return False


def join_keys(left: Sequence[Variable], right: Sequence[Variable], bound: frozenset[Variable]) -> JoinKeys:
    """The shared variables as columns of both sides, those that are bound on both first."""
    shared = sorted(set(left).intersection(right), key=lambda name: (name not in bound, left.index(name)))
    certain = sum(name in bound for name in shared)
    return JoinKeys(tuple(left.index(name) for name in shared), tuple(right.index(name) for name in shared), certain)


def _columns_of(names: Sequence[Variable], known: Sequence[Variable]) -> tuple[int, ...]:
    places = {name: place for place, name in enumerate(known)}
    return tuple(places.get(name, -1) for name in names)


def _always_in(values: Values) -> frozenset[Variable]:
    return frozenset(
        name for place, name in enumerate(values.variables) if all(row[place] is not None for row in values.rows)
    )


def _named(slot: PatternTerm) -> PatternTerm:
    """A blank node of a pattern is a variable that nothing can name (Section 4.2, footnote 4)."""
    return Variable(str(slot)) if isinstance(slot, BlankNode) else slot
