"""The algebra back to text: what `show` writes, the parser of the language reads as the same algebra."""

from __future__ import annotations

from typing import TypeAlias

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.patterns import Ask
from thence.algebra.rsep_ql import WindowFile, WindowQuery
from thence.algebra.show_rsep_ql import clause_lines, operator_text, prologue_lines, with_streams
from thence.algebra.show_sparql import SparqlNode, base_of, query_items, sparql_group, sparql_items
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
from thence.algebra.text_items import LayoutMark, TextItem, on_lines, write
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI

Written: TypeAlias = SequenceQuery | RuleFile | WindowQuery | TefFile | TefStatement | Arm | TefPattern | SparqlNode


def show(node: Written | WindowFile) -> str:
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
    group = with_streams(node, sparql_group) if isinstance(node, WindowQuery) else sparql_group
    return ("" if base is None else f"BASE {base}\n") + write(_items(node), group)


def _items(node: Written) -> list[TextItem]:
    match node:
        case SequenceQuery():
            return sequence_items(node)
        case RuleFile():
            return _file(node)
        case WindowQuery():
            form = Ask(node.form.where, dataset=node.form.dataset) if node.is_ask else node.form
            return on_lines([*prologue_lines(node), query_items(form, operator_text(node), clause_lines(node))])
        case TefFile():
            return tef_file_items(node)
        case ConstructStatement() | SelectStatement():
            return on_lines(statement_lines(node))
        case Plain() | Since() | Until() | Replace() | OnInit():
            return arm_items(node)
        case Times() | Conjunction() | Either() | Test() | Assignment() | Related() | Absent() | OnStart() | OnEnd():
            return tef_items(node)
        case _:
            return sparql_items(node)


def _file(file: RuleFile) -> list[TextItem]:
    """The statements of EP-SPARQL in order, an empty line between each two; before them the namespace, unless it is the
    default."""
    blocks: list[list[TextItem]] = []
    base: IRI | None = None
    for statement in file.statements:
        needed = base_of(statement)
        declared = needed is not None and needed != base
        blocks.append(on_lines([[f"BASE {needed}"], query_items(statement)]) if declared else query_items(statement))
        base = needed or base
    items: list[TextItem] = []
    for block in blocks:
        items += [LayoutMark.LINE, LayoutMark.LINE, *block]
    if file.namespace == DEFAULT_NAMESPACE and base is None:
        return items[2:]
    return [f"PREFIX : {IRI(file.namespace)}", *items]
