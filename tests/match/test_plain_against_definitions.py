"""The reference evaluator against the definitions of SPARQL 1.1, 18.3 - 18.6, literally: without index,
hash or order, over every pair of solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from thence.algebra import patterns as algebra
from thence.algebra.expressions import Bound, Compare, Comparison, Exists, Expression, Not, Or, Variable
from thence.algebra.patterns import (
    Alternative,
    Bgp,
    Extend,
    Filter,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    PatternTerm,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.match.reference_evaluator import evaluate
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

NODES = [IRI("x:a"), IRI("x:b"), IRI("x:c"), BlankNode("n"), IRI("x:p")]
PREDICATES = [IRI("x:p"), IRI("x:q"), IRI("x:r")]
NUMBERS = [Literal("1", XSD + "integer"), Literal("01", XSD + "integer"), Literal("2", XSD + "integer")]
NAMES = [IRI("x:g"), IRI("x:h"), IRI("x:p")]
VARIABLES = [Variable(name) for name in "uvwxy"]
ELSEWHERE = IRI("x:elsewhere")  # in no graph

Pair = tuple[Term, Term]


# The definitions


def defined(pattern: Pattern, dataset: Dataset, graph: IndexedGraph) -> list[Solution]:
    """eval(D(G), pattern)."""

    def of(part: Pattern) -> list[Solution]:
        return defined(part, dataset, graph)

    context = Context()
    match pattern:
        case Bgp():
            return bgp(pattern, graph)
        case Join():
            return join(of(pattern.left), of(pattern.right))
        case LeftJoin():
            return left_join(of(pattern.left), of(pattern.right), pattern.condition)
        case Union():
            return of(pattern.left) + of(pattern.right)
        case Minus():
            right = of(pattern.right)
            return [a for a in of(pattern.left) if all(not agree(a, b) or not a.keys() & b.keys() for b in right)]
        case Filter(Exists(inner), part):
            found = of(inner)
            return [a for a in of(part) if any(agree(a, b) for b in found)]
        case Filter():
            return [a for a in of(pattern.pattern) if passes(pattern.condition, a, context)]
        case Extend():
            values = [(a, attempt(pattern.expression, a, context)) for a in of(pattern.pattern)]
            return [a if term is None else a | {pattern.variable: term} for a, term in values]
        case Values():
            rows = (zip(pattern.variables, row, strict=True) for row in pattern.rows)
            return [{name: term for name, term in row if term is not None} for row in rows]
        case algebra.Graph(Variable() as name, part):
            each = [(known, defined(part, dataset, inside)) for known, inside in dataset.named.items()]
            return [merged for known, found in each for merged in join(found, [{name: known}])]
        case algebra.Graph(IRI() as name, part):
            return defined(part, dataset, dataset.named[name]) if name in dataset.named else []
    raise AssertionError(pattern)


def agree(a: Solution, b: Solution) -> bool:
    return all(a[name] == b[name] for name in a.keys() & b.keys())


def join(left: list[Solution], right: list[Solution]) -> list[Solution]:
    return [a | b for a in left for b in right if agree(a, b)]


def left_join(left: list[Solution], right: list[Solution], condition: Expression | None) -> list[Solution]:
    found = []
    for a in left:
        partners = [c for c in join([a], right) if condition is None or passes(condition, c, Context())]
        found += partners or [a]
    return found


def bgp(pattern: Bgp, graph: IndexedGraph) -> list[Solution]:
    found: list[Solution] = [{}]
    for triple in pattern.triples:
        if isinstance(triple, TriplePattern):
            found = join(found, list(matches((triple.subject, triple.predicate, triple.object), graph)))
        else:
            ends = {term for term in (triple.subject, triple.object) if not isinstance(term, Variable | BlankNode)}
            pairs = [pair for pair, times in ways(triple.path, graph, ends).items() for _ in range(times)]
            found = join(found, list(matches((triple.subject, triple.object), pairs)))
    return [{name: term for name, term in a.items() if not name.name.startswith("_:")} for a in found]


def matches(slots: tuple[PatternTerm, ...], rows: IndexedGraph | list[Pair]) -> Iterator[Solution]:
    """One solution for each row that fits; a blank node of the pattern is a variable."""
    for row in rows:
        found: Solution = {}
        for slot, term in zip(slots, row, strict=True):
            name = Variable(f"_:{slot.value}") if isinstance(slot, BlankNode) else slot
            if (found.setdefault(name, term) if isinstance(name, Variable) else name) != term:
                break
        else:
            yield found


def ways(path: Path, graph: IndexedGraph, ends: set[Term]) -> Counter[Pair]:
    """How often a path joins two terms: nodes of the graph, or the ends that the pattern itself names."""
    nodes = {*graph.nodes, *ends}
    match path:
        case IRI():
            return Counter((t.subject, t.object) for t in graph if t.predicate == path)
        case Inverse():
            return Counter({(b, a): n for (a, b), n in ways(path.path, graph, ends).items()})
        case Alternative():
            return ways(path.left, graph, ends) + ways(path.right, graph, ends)
        case PathSequence():
            found: Counter[Pair] = Counter()
            for (a, b), n in ways(path.left, graph, ends).items():
                for (c, d), m in ways(path.right, graph, ends).items():
                    found[a, d] += n * m * (b == c)
            return +found
        case ZeroOrOne():
            return Counter({(node, node) for node in nodes} | set(ways(path.path, graph, ends)))
        case OneOrMore():
            return Counter(closure(set(ways(path.path, graph, ends))))
        case ZeroOrMore():
            return Counter({(node, node) for node in nodes} | closure(set(ways(path.path, graph, ends))))
        case NegatedSet():
            forward = [(t.subject, t.object) for t in graph if t.predicate not in path.forward]
            backward = [(t.object, t.subject) for t in graph if t.predicate not in path.backward]
            return Counter((forward if path.forward or not path.backward else []) + (backward if path.backward else []))


def closure(pairs: set[Pair]) -> set[Pair]:
    while True:
        longer = pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
        if longer == pairs:
            return pairs
        pairs = longer


# Random cases


def graphs() -> st.SearchStrategy[IndexedGraph]:
    subjects, objects = st.sampled_from(NODES), st.sampled_from(NODES + NUMBERS)
    return st.lists(st.builds(Triple, subjects, st.sampled_from(PREDICATES), objects), max_size=16).map(IndexedGraph)


def paths() -> st.SearchStrategy[Path]:
    some = st.lists(st.sampled_from(PREDICATES), max_size=2).map(tuple)
    leaf = st.one_of(st.sampled_from(PREDICATES), st.builds(NegatedSet, some, some))
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.builds(Inverse, inner),
            st.builds(PathSequence, inner, inner),
            st.builds(Alternative, inner, inner),
            st.builds(ZeroOrMore, inner),
            st.builds(OneOrMore, inner),
            st.builds(ZeroOrOne, inner),
        ),
        max_leaves=4,
    )


VARIABLE = st.sampled_from(VARIABLES)
CONSTANT = st.sampled_from([*NODES[:3], *NUMBERS, ELSEWHERE])
SLOT = st.one_of(VARIABLE, VARIABLE, VARIABLE, CONSTANT, st.just(BlankNode("b")))
TRIPLE = st.builds(TriplePattern, SLOT, st.one_of(st.sampled_from(PREDICATES), VARIABLE), SLOT)
BGP = st.lists(TRIPLE, max_size=3).map(lambda triples: Bgp(tuple(triples)))
PATHS = st.lists(st.one_of(TRIPLE, st.builds(PathPattern, SLOT, paths(), SLOT)), max_size=2).map(
    lambda triples: Bgp(tuple(triples))
)
VALUES = st.lists(VARIABLE, unique=True, max_size=2).flatmap(
    lambda names: st.lists(st.tuples(*(st.one_of(st.none(), CONSTANT) for _ in names)), max_size=3).map(
        lambda rows: Values(tuple(names), tuple(rows))
    )
)
COMPARISON = st.builds(Compare, st.sampled_from(Comparison), VARIABLE, st.one_of(VARIABLE, st.sampled_from(NUMBERS)))
CONDITION = st.one_of(
    COMPARISON, st.builds(Bound, VARIABLE), st.builds(Not, COMPARISON), st.builds(Or, COMPARISON, COMPARISON)
)


def binary(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    return st.one_of(
        st.builds(Join, inner, inner),
        st.builds(LeftJoin, inner, inner, st.one_of(st.none(), CONDITION)),
        st.builds(Union, inner, inner),
        st.builds(Minus, inner, inner),
        st.builds(Filter, CONDITION, inner),
        st.builds(Filter, st.builds(Exists, BGP), inner),
        st.builds(Extend, inner, st.just(Variable("new")), st.one_of(VARIABLE, CONDITION)),
        st.builds(algebra.Graph, st.one_of(st.sampled_from([*NAMES, ELSEWHERE]), VARIABLE), inner),
    )


def tidy(pattern: Pattern) -> bool:
    """BIND names a variable that is new, as the grammar demands."""
    return repr(pattern).count("Extend(") < 2


PATTERNS = st.recursive(st.one_of(BGP, BGP, PATHS, VALUES), binary, max_leaves=4).filter(tidy)


def counted(solutions: list[Solution]) -> Counter[frozenset[tuple[Variable, Term]]]:
    return Counter(frozenset(solution.items()) for solution in solutions)


@given(PATTERNS, graphs(), graphs(), graphs())
def test_a_pattern_has_the_solutions_that_the_definitions_give_it(
    pattern: Pattern, default: IndexedGraph, first: IndexedGraph, second: IndexedGraph
) -> None:
    data = Dataset(default, {NAMES[0]: first, NAMES[1]: second})
    assert counted(evaluate(pattern, data)) == counted(defined(pattern, data, default))


@given(st.builds(PathPattern, SLOT, paths(), SLOT), st.lists(TRIPLE, max_size=1), graphs())
def test_a_path_leads_where_its_definition_says_as_often_as_it_says(
    path: PathPattern, triples: list[TriplePattern], graph: IndexedGraph
) -> None:
    data = Dataset(graph)
    for order in ((path, *triples), (*triples, path)):
        assert counted(evaluate(Bgp(order), data)) == counted(defined(Bgp(order), data, graph))
