"""Graph patterns: the algebra of SPARQL 1.1, section 18.2. Every node names its definition there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from thence.algebra.expressions import Expression, Variable
from thence.rdf.terms import IRI, BlankNode, Literal, Term

PatternTerm: TypeAlias = Variable | IRI | BlankNode | Literal
"""A place in a triple pattern. A blank node there is a variable that can't be selected (18.2.1)."""


# Property paths (18.2.2.3, 18.4)


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class PathSequence:
    """`left / right`."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    """`left | right`."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """`path*`: pairs of nodes, each once."""

    path: Path


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """`path+`: pairs of nodes, each once."""

    path: Path


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """`path?`: pairs of nodes, each once."""

    path: Path


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """`!(a | ^b)`: one triple with none of these predicates, forward or backward."""

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...]


Path: TypeAlias = IRI | Inverse | PathSequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedSet


@dataclass(frozen=True, slots=True)
class TriplePattern:
    subject: PatternTerm
    predicate: Variable | IRI
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A triple pattern whose predicate is a path that 18.2.2.4 leaves a path."""

    subject: PatternTerm
    path: Path
    object: PatternTerm


# Patterns (18.2.2.5 – 18.2.2.8, 18.5)


@dataclass(frozen=True, slots=True)
class Bgp:
    """A basic graph pattern: all of its triples, and nothing else, share its blank nodes. Empty: one empty solution."""

    triples: tuple[TriplePattern | PathPattern, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """`left . right`: all compatible pairs."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """`left OPTIONAL { right FILTER(condition) }`; no condition: true."""

    left: Pattern
    right: Pattern
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """`pattern FILTER(condition)`: several filters of a group are one conjunction, in textual order."""

    condition: Expression
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Union:
    """`{ left } UNION { right }`."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Graph:
    """`GRAPH name { pattern }`."""

    name: Variable | IRI
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Extend:
    """`pattern BIND(expression AS ?variable)`: an error leaves the variable unbound."""

    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Minus:
    """`left MINUS { right }`."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Values:
    """`VALUES (?a ?b) { (1 UNDEF) … }`; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SubSelect:
    """A SELECT inside a group (ToMultiset)."""

    select: Select


class ChainOperator(Enum):
    """The operators of EP-SPARQL (Section 4.1), by keyword."""

    SEQ = "SEQ"
    EQUALS = "EQUALS"
    OPTIONALSEQ = "OPTIONALSEQ"
    EQUALSOPTIONAL = "EQUALSOPTIONAL"


@dataclass(frozen=True, slots=True)
class TemporalJoin:
    """`left SEQ right` and the like: SeqJoin, EqJoin, SeqRightJoin, EqLeftJoin (EP-SPARQL, Section 4.2). `condition` is
    the F of the last two: the filters of the optional group, which is the left one of OPTIONALSEQ (EP-20, EP-21)."""

    operator: ChainOperator
    left: Pattern
    right: Pattern
    condition: Expression | None = None


# Event patterns (RSEP-QL, Section 3.3)


class SeqPolicy(Enum):
    """The selection policy of a SEQ, by keyword (RSEP-QL, Section 4.3)."""

    CHRONOLOGICAL = "CHRONOLOGICAL"  # (10)
    RECENT = "RECENT"  # (11)
    NAIVE = "NAIVE"  # (9)


@dataclass(frozen=True, slots=True)
class BasicEvent:
    """The name of an EVENT (4)."""

    name: str


@dataclass(frozen=True, slots=True)
class First:
    """`FIRST E` (5)."""

    events: EventExpression


@dataclass(frozen=True, slots=True)
class Last:
    """`LAST E` (6)."""

    events: EventExpression


@dataclass(frozen=True, slots=True)
class EventSeq:
    """`left SEQ right` (7), or with a selection policy (9), (10), (11)."""

    left: EventExpression
    right: EventExpression
    policy: SeqPolicy | None = None


EventExpression: TypeAlias = BasicEvent | First | Last | EventSeq


@dataclass(frozen=True, slots=True)
class WindowPattern:
    """`WINDOW name { pattern }` (3): in the merge of a window's graphs."""

    name: IRI
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class MatchPattern:
    """`MATCH { E }` (8). `place` numbers the MATCHes in the order of the text, from 0: each is evaluated once (RS-47).
    `variables` are those of its EVENTs, each once, in the order of the text."""

    events: EventExpression
    place: int
    variables: tuple[Variable, ...]


Pattern: TypeAlias = (
    Bgp
    | Join
    | LeftJoin
    | Filter
    | Union
    | Graph
    | Extend
    | Minus
    | Values
    | SubSelect
    | TemporalJoin
    | WindowPattern
    | MatchPattern
)


# Queries (18.2.4, 18.2.5; 16)


@dataclass(frozen=True, slots=True)
class Projection:
    """One column of SELECT: `?v`, or `(expression AS ?v)`."""

    variable: Variable
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One key of GROUP BY: an expression, `(expression AS ?v)`, or `?v`."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Clauses after WHERE (18.2.4, 18.2.5). `group` is None without GROUP BY; aggregates alone make one group."""

    group: tuple[GroupKey, ...] | None = None
    having: tuple[Expression, ...] = ()
    order: tuple[OrderKey, ...] = ()
    offset: int | None = None
    limit: int | None = None
    values: Values | None = None  # the VALUES clause after the query: joined after grouping and HAVING


@dataclass(frozen=True, slots=True)
class DatasetClause:
    """FROM and FROM NAMED. They name graphs that the caller supplies: nothing is ever fetched."""

    default: tuple[IRI, ...] = ()
    named: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT`. `columns` is None for `*`; `reduced` permits what `distinct` commands."""

    columns: tuple[Projection, ...] | None
    where: Pattern
    modifiers: Modifiers = Modifiers()
    distinct: bool = False
    reduced: bool = False
    dataset: DatasetClause = DatasetClause()


@dataclass(frozen=True, slots=True)
class Construct:
    """`CONSTRUCT`: blank nodes of the template are fresh for each solution."""

    template: tuple[TriplePattern, ...]
    where: Pattern
    modifiers: Modifiers = Modifiers()
    dataset: DatasetClause = DatasetClause()


@dataclass(frozen=True, slots=True)
class Ask:
    where: Pattern
    modifiers: Modifiers = Modifiers()
    dataset: DatasetClause = DatasetClause()


@dataclass(frozen=True, slots=True)
class Describe:
    """`DESCRIBE`. `targets` is None for `*`."""

    targets: tuple[Variable | IRI, ...] | None
    where: Pattern | None
    modifiers: Modifiers = Modifiers()
    dataset: DatasetClause = DatasetClause()


SparqlQuery: TypeAlias = Select | Construct | Ask | Describe
