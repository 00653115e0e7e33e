"""pyoxigraph as a judge, and where it is none.

Its store knows a literal by its value, so cases are made of canonical literals; and it deviates from SPARQL 1.1, or
goes beyond it, in the constructs below. `judged` puts a guard before each of them, so that what is left out is exactly
the deviation: where a guard does not hold, both evaluators are asked something else, or get an error.

==============================  =================================================================================
construct                       what the standard says, and what pyoxigraph does
==============================  =================================================================================
effective boolean value of      17.2.2: a plain literal, with a language or without, is false if it is empty, else
texts with a language           true. pyoxigraph: a type error.
`< <= > >=` with NaN            XPath, op:numeric-less-than: false. pyoxigraph: a type error.
… of two booleans               17.3: op:boolean-less-than. pyoxigraph: a type error.
… of IRIs, texts with a         17.3 has no operator, so a type error. pyoxigraph: an order of its own, or that a
language, unknown datatypes     term is not less than itself.
… of durations                  XPath orders dayTime and yearMonth durations each alone. pyoxigraph: all of them.
`=` and `<` of times with and   17.3 takes XPath's operators, which have an implicit time zone (UTC here).
without a time zone             pyoxigraph: XML Schema's partial order. So a case has one sort only.
`+ - * /` of times and          not SPARQL's: XPath's, as an extension. pyoxigraph has another selection of them.
durations, `+` and `-` before
quotients of decimals           XPath leaves the digits to the implementation (17.3; F&O 6.2): 34 here, 18 there.
IN with no choices              17.4.1.9: an empty disjunction, false, that asks for no operand. pyoxigraph: asks.
SUBSTR at a fraction            fn:substring rounds. pyoxigraph: a type error.
REPLACE, a pattern that matches F&O 7.6.3: an error. pyoxigraph: replaces.
nothing, `\\` or `$` in the
replacement
STR of a double or float        the lexical form as it is. pyoxigraph: the value's shortest.
STRDT with a known datatype     the lexical form as it is. pyoxigraph: the value's own.
cast of a double to decimal     F&O 17.1.3.3: the nearest decimal, which is the exact one. pyoxigraph: the shortest.
GRAPH ?g of anything but        18.6: the group is evaluated in each graph, then joined with ?g. pyoxigraph: ?g is
triples                         bound in the group's triples, and only by them. So the graph is named instead.
==============================  =================================================================================
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyoxigraph as ox
from hypothesis import strategies as st

from strategies.expressions import FUNCTIONS, Language
from strategies.graphs import GRAPHS
from strategies.terms import STRINGS, UNKNOWN, Theme, World, typed
from support.agreement import CONTEXT, Answers, Case, cases
from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Compare,
    Comparison,
    Expression,
    If,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.algebra.patterns import Bgp, Filter, Graph, LeftJoin, Pattern
from thence.algebra.show import show
from thence.rdf.documents import FromOx, to_ox
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT, literal

# Canonical literals

_NUMBERS: Theme = (
    *typed("integer", "0", "1", "-1", "2", "3", "7", "10", "1000"),
    *typed("decimal", "0.1", "0.5", "1.1", "-2.5", "0.3", "1.5"),
    *typed("double", "1.0E-1", "1.5E0", "-2.5E0", "0.0E0", "-0.0E0", "1.0E2", "NaN", "INF", "-INF"),
    *typed("float", "5.0E-1", "1.5E0", "2.5E0", "1.0E-1", "NaN", "INF"),
)
_ZONED: Theme = (
    *typed("dateTime", "2020-01-01T00:00:00Z", "2019-12-31T19:00:00-05:00", "2020-01-01T00:00:00.5Z"),
    *typed("dateTime", "2020-02-29T12:30:45.25+01:00"),
    *typed("date", "2020-01-01Z", "2020-01-02Z", "2020-01-02+01:00"),
    *typed("time", "12:30:00Z", "12:30:00.5-05:00"),
)
_LOCAL: Theme = (
    *typed("dateTime", "2020-01-01T00:00:00", "2020-01-01T00:00:00.5", "2020-02-29T12:30:45.25"),
    *typed("date", "2020-01-01", "2020-01-02"),
    *typed("time", "12:30:00", "12:30:00.5"),
)
_DURATIONS: Theme = (
    *typed("dayTimeDuration", "P1D", "PT0S", "-P1DT2H3M4.5S"),
    *typed("yearMonthDuration", "P1Y", "P0M", "-P1M"),
    *typed("duration", "P1Y2M3DT4H5M6.7S"),
)
_STRINGS = tuple(text for text in STRINGS if not text.value.startswith("2020"))  # which a cast would give a zone
_UNKNOWN = tuple(term for term in UNKNOWN if term.datatype.startswith("http://example.org"))
_COMMON = (_NUMBERS, _NUMBERS, _STRINGS, _DURATIONS, typed("boolean", "true", "false"), _UNKNOWN)
CANONICAL: tuple[tuple[Theme, ...], ...] = ((*_COMMON, _ZONED), (*_COMMON, _LOCAL))
"""The themes of a case: times either with time zones or without."""

DETERMINISTIC = Language(
    World((), (), ()),
    (),
    functions=tuple(function for function in FUNCTIONS if function.name != "NOW"),
    casts=("integer", "decimal", "float", "double", "string", "boolean", "dateTime", "date", "time"),  # all it has
    constants=False,  # others than the case's own might not be canonical
)
"""What expressions are made of."""


# Guards

_ERROR = Variable("nowhere")
_ORDER = (Comparison.LESS, Comparison.GREATER, Comparison.LESS_OR_EQUAL, Comparison.GREATER_OR_EQUAL)
_BOOLEAN = (And, Or, Not, In, Bound, Compare)


def judged(node: Any) -> Any:
    """A pattern or an expression with every construct guarded."""
    if isinstance(node, tuple):
        return tuple(map(judged, node))
    if not dataclasses.is_dataclass(node) or isinstance(node, IRI | BlankNode | Literal | Variable):
        return node
    parts = {field.name: judged(getattr(node, field.name)) for field in dataclasses.fields(node)}
    return _guarded(dataclasses.replace(node, **parts))  # type: ignore[type-var]


def _guarded(node: Expression | Pattern) -> Expression | Pattern:
    match node:
        case And() | Or():
            return type(node)(_truth(node.left), _truth(node.right))
        case Not():
            return Not(_truth(node.operand))
        case If():
            return If(_truth(node.condition), node.then, node.otherwise)
        case Filter():
            return Filter(_truth(node.condition), node.pattern)
        case LeftJoin(condition=None):
            return node
        case LeftJoin():
            return LeftJoin(node.left, node.right, _truth(node.condition))
        case Compare() if node.comparison in _ORDER:
            return And(_ordered(node.left, node.right), node)
        case In(choices=()):
            return In(Literal(""), ())
        case Arithmetic():
            return _only_if(_computable(node), node)
        case Negate() | Plus():
            return _only_if(_call("ISNUMERIC", node.operand), node)
        case Cast(function=IRI(value)) if value == XSD_DECIMAL:
            return _only_if(Not(_floating(node.arguments[0])), node)
        case Call():
            return _guarded_call(node)
        case Graph(Variable(), Bgp((_, *_))):
            return node
        case Graph(Variable(), pattern):
            return Graph(GRAPHS[0], pattern)
        case _:
            return node


def _guarded_call(node: Call) -> Expression:
    match node.function, node.arguments:
        case "STR", (text,):
            return _only_if(Not(_floating(text)), node)
        case "STRDT", (text, _):
            return Call("STRDT", (text, IRI("http://example.org/type")))
        case "SUBSTR", (text, *places):
            return Call("SUBSTR", (text, *(Cast(IRI(XSD + "integer"), (place,)) for place in places)))
        case "REPLACE", (_, pattern, replacement, *flags):
            special = Or(_call("CONTAINS", replacement, Literal("\\")), _call("CONTAINS", replacement, Literal("$")))
            return _only_if(Not(Or(special, _call("REGEX", Literal(""), pattern, *flags))), node)
        case _:
            return node


def _call(function: str, *arguments: Expression) -> Expression:
    return Call(function, arguments)


def _only_if(guard: Expression, node: Expression) -> Expression:
    return If(guard, node, _ERROR)


def _all(conditions: Sequence[Expression]) -> Expression:
    return reduce(And, conditions)


def _truth(condition: Expression) -> Expression:
    if isinstance(condition, _BOOLEAN):
        return condition
    return And(Compare(Comparison.EQUAL, _call("LANG", condition), Literal("")), condition)


def _of_type(expression: Expression, *datatypes: str) -> Expression:
    known: Expression = In(_call("DATATYPE", expression), tuple(map(IRI, datatypes)))
    return And(_call("ISLITERAL", expression), known)


def _floating(expression: Expression) -> Expression:
    return _of_type(expression, XSD_FLOAT, XSD_DOUBLE)


def _ordered(left: Expression, right: Expression) -> Expression:
    both = (left, right)
    numbers = [_call("ISNUMERIC", side) for side in both] + [Compare(Comparison.EQUAL, side, side) for side in both]
    of_one_type = [
        _all([_of_type(side, XSD + name) for side in both]) for name in ("string", "dateTime", "date", "time")
    ]
    return reduce(Or, [_all(numbers), *of_one_type])


def _computable(node: Arithmetic) -> Expression:
    numbers = And(_call("ISNUMERIC", node.left), _call("ISNUMERIC", node.right))
    if node.operation is not Operation.DIVIDE:
        return numbers
    return And(numbers, Or(_floating(node.left), _floating(node.right)))


# Answers


def canonical_cases(*, background: bool = False) -> st.SearchStrategy[Case]:
    """Cases that pyoxigraph can judge."""
    themes = st.sampled_from(CANONICAL)
    return themes.flatmap(lambda it: cases(themes=it, language=DETERMINISTIC, background=background))


def _guarded_case(case: Case) -> Case:
    """Its default graph is the event, so that all of the background has a name."""
    named = tuple(quad for quad in case.quads if quad.graph is not None)
    return dataclasses.replace(case, pattern=judged(case.pattern), quads=named)


def pyoxigraph_answers(case: Case) -> Answers:
    """The answers of pyoxigraph's own evaluator to the guarded pattern, asked event by event."""
    case = _guarded_case(case)
    found: Answers = Counter()
    batch, terms = case.batch, FromOx()
    text = f"BASE <{CONTEXT.base}> SELECT * WHERE {show(case.pattern)}"
    background = [ox.Quad(*(to_ox(_labelled(term)) for term in quad)) for quad in case.quads]
    for event in range(len(batch)):
        store = ox.Store()
        store.extend([*(ox.Quad(*map(to_ox, triple)) for triple in batch.triples(event)), *background])
        rows = store.query(text)
        assert isinstance(rows, ox.QuerySolutions)
        names = [variable.value for variable in rows.variables]
        for row in rows:
            bound = zip(names, row, strict=True)
            mapping = frozenset((name, _canonical(terms.term(term))) for name, term in bound if term is not None)
            found[event, mapping] += 1
    return found


def by_value(case: Case) -> Answers:
    """Our answers to the same, floats and doubles by their values: pyoxigraph writes `1` where we write `1.0E0`."""
    found: Answers = Counter()
    for (event, mapping), times in _guarded_case(case).answers(vectorise=True).items():
        found[event, frozenset((name, _canonical(term)) for name, term in mapping)] += times
    return found


def _canonical(term: Term) -> Term:
    if isinstance(term, Literal) and term.datatype in (XSD_FLOAT, XSD_DOUBLE):
        number = float(term.value.replace("INF", "inf"))
        return Literal(literal(number).value, term.datatype)
    return term


def _labelled(term: Term | None) -> Term:
    """As blank nodes of the background are labelled by us."""
    assert term is not None
    return BlankNode(f"bg-0_{term.value}") if isinstance(term, BlankNode) else term
