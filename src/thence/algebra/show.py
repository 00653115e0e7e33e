"""The algebra back to text: what `show` writes, the parser of the language reads as the same algebra."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias, assert_never

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Alternative,
    Ask,
    BasicEvent,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    EventExpression,
    EventSeq,
    Extend,
    Filter,
    First,
    Graph,
    GroupKey,
    Inverse,
    Join,
    Last,
    LeftJoin,
    MatchPattern,
    Minus,
    Modifiers,
    NegatedSet,
    OneOrMore,
    OrderKey,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Projection,
    Select,
    SparqlQuery,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.rsep_ql import WindowFile, WindowQuery
from thence.algebra.show_ep_sparql import base_of, file_items
from thence.algebra.show_rsep_ql import clause_lines, operator_text, prologue_lines, with_streams
from thence.algebra.show_sparql import (
    BracedGroup,
    TextItem,
    event_items,
    expression_items,
    group_items,
    on_lines,
    path_items,
    template_items,
    term_text,
    triple_items,
    values_items,
    write,
)
from thence.algebra.show_spaseq import sequence_items
from thence.algebra.show_tef_sparql import arm_items, statement_lines, tef_file_items, tef_items
from thence.algebra.spaseq import SequenceQuery
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
)
from thence.rdf.terms import BlankNode

Node: TypeAlias = (
    SequenceQuery
    | RuleFile
    | WindowQuery
    | TefFile
    | TefStatement
    | Arm
    | TefPattern
    | SparqlQuery
    | Pattern
    | TriplePattern
    | PathPattern
    | Expression
    | Path
    | EventExpression
    | BlankNode
)


def show(node: Node | WindowFile) -> str:
    """The text of a query (SPARQL, SPAseQ, EP-SPARQL, RSEP-QL, TEF-SPARQL) or of a part of one: a statement, an arm, a
    pattern (a group with its braces, where the language has them), an expression, a path, an event expression, a term.

    >>> from thence.lang.sparql.parser import parse_query
    >>> print(show(parse_query("SELECT * { ?s <x:p>/<x:q>* 1 OPTIONAL { ?s a ?t FILTER(?t != <x:T>) } } LIMIT 5")))
    SELECT * WHERE {
      ?s <x:p> _:b0 .
      _:b0 <x:q>* 1 .
      OPTIONAL {
        ?s a ?t .
        FILTER (?t != <x:T>)
      }
    }
    LIMIT 5
    """
    if isinstance(node, WindowFile):
        return "\n\n".join(map(show, node.queries))
    base = None if isinstance(node, RuleFile | TefFile) else base_of(node)
    group = with_streams(node, _group) if isinstance(node, WindowQuery) else _group
    return ("" if base is None else f"BASE {base}\n") + write(_items(node), group)


def _items(node: Node) -> list[TextItem]:
    match node:
        case SequenceQuery():
            return sequence_items(node)
        case RuleFile():
            return file_items(node, _query)
        case WindowQuery():
            form = Ask(node.form.where, dataset=node.form.dataset) if node.is_ask else node.form
            return on_lines([*prologue_lines(node), _query(form, operator_text(node), clause_lines(node))])
        case TefFile():
            return tef_file_items(node)
        case ConstructStatement() | SelectStatement():
            return on_lines(statement_lines(node))
        case Plain() | Since() | Until() | Replace() | OnInit():
            return arm_items(node)
        case Times() | Conjunction() | Either() | Test() | Assignment() | Related() | Absent() | OnStart() | OnEnd():
            return tef_items(node)
        case Select() | Construct() | Ask() | Describe():
            return _query(node)
        case TriplePattern() | PathPattern():
            return triple_items(node)
        case Inverse() | PathSequence() | Alternative() | ZeroOrMore() | OneOrMore() | ZeroOrOne() | NegatedSet():
            return path_items(node)
        case BasicEvent() | First() | Last() | EventSeq():
            return event_items(node)
        case BlankNode():
            return [term_text(node)]
        case Bgp() | Join() | LeftJoin() | Filter() | Union() | Graph() | Extend() | Minus() | Values() | SubSelect():
            return [BracedGroup(node)]
        case TemporalJoin() | WindowPattern() | MatchPattern():
            return [BracedGroup(node)]
        case _:
            return expression_items(node)


def _group(pattern: Pattern) -> list[TextItem]:
    return group_items(pattern, lambda sub_select: _query(sub_select.select))


def _query(query: SparqlQuery, operator: str = "", clauses: Sequence[list[TextItem]] = ()) -> list[TextItem]:
    """A query; what RSEP-QL has after SELECT or CONSTRUCT, and its clauses before WHERE."""
    match query:
        case Select():
            lines = [_select_clause(query, operator)]
        case Construct():
            lines = [["CONSTRUCT ", operator, *template_items(query.template)]]
        case Ask():
            lines = [[f"ASK {operator}".rstrip()]]
        case Describe():
            targets = "*" if query.targets is None else " ".join(map(str, query.targets))
            lines = [["DESCRIBE ", targets]]
        case _:
            assert_never(query)
    sources = [*_dataset(query.dataset), *clauses]
    if query.where is not None and sources:
        sources.append(["WHERE ", BracedGroup(query.where)])
    elif query.where is not None:
        lines[-1] += [" WHERE ", BracedGroup(query.where)]
    return on_lines([*lines, *sources, *_modifiers(query.modifiers)])


def _select_clause(query: Select, operator: str) -> list[TextItem]:
    quantifier = operator + ("DISTINCT " if query.distinct else "REDUCED " if query.reduced else "")
    if query.columns is None:
        return ["SELECT ", quantifier, "*"]
    columns = [item for column in query.columns for item in (" ", *_column(column))]
    return ["SELECT ", quantifier, *columns[1:]]


def _column(column: Projection) -> list[TextItem]:
    return [str(column.variable)] if column.expression is None else _named(column.expression, column.variable)


def _named(expression: Expression, variable: Variable) -> list[TextItem]:
    return ["(", partial(expression_items, expression), f" AS {variable})"]


def _dataset(dataset: DatasetClause) -> list[list[TextItem]]:
    sources = [*(f"FROM {iri}" for iri in dataset.default), *(f"FROM NAMED {iri}" for iri in dataset.named)]
    return [[source] for source in sources]


def _modifiers(modifiers: Modifiers) -> list[list[TextItem]]:
    lines: list[list[TextItem]] = []
    if modifiers.group is not None:
        lines.append(["GROUP BY", *(item for key in modifiers.group for item in (" ", *_group_key(key)))])
    if modifiers.having:
        lines.append(["HAVING", *(item for condition in modifiers.having for item in (" ", *_bracketed(condition)))])
    if modifiers.order:
        lines.append(["ORDER BY", *(item for key in modifiers.order for item in (" ", *_order_key(key)))])
    if modifiers.limit is not None:
        lines.append([f"LIMIT {modifiers.limit}"])
    if modifiers.offset is not None:
        lines.append([f"OFFSET {modifiers.offset}"])
    if modifiers.values is not None:
        lines.append(values_items(modifiers.values))
    return lines


def _group_key(key: GroupKey) -> list[TextItem]:
    return _bracketed(key.expression) if key.variable is None else _named(key.expression, key.variable)


def _order_key(key: OrderKey) -> list[TextItem]:
    return ["DESC" if key.descending else "ASC", "(", partial(expression_items, key.expression), ")"]


def _bracketed(expression: Expression) -> list[TextItem]:
    return [str(expression)] if isinstance(expression, Variable) else ["(", partial(expression_items, expression), ")"]
