"""SPARQL 1.1 queries, patterns and expressions: text in, algebra out.

>>> query = parse_query("PREFIX ex: <http://example.org/> SELECT ?house { ?house ex:power ?w FILTER(?w > 3000) }")
>>> query.where.condition
Compare(comparison=<Comparison.GREATER: '>'>, left=Variable(name='w'), right=Literal(value='3000', \
datatype='http://www.w3.org/2001/XMLSchema#integer', language=None))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thence.algebra.expressions import Expression
from thence.algebra.patterns import Pattern, SparqlQuery
from thence.algebra.traversal import DEPTH, depth
from thence.lang.sparql.group_reader import QueryReader
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.text import text as read_text

SYNTAX = Syntax(GRAMMARS / "sparql" / "sparql.lark", "query_unit", "pattern_unit", "expression_unit")


def parse_query(
    text: str,
    *,
    source: str = "query",
    base: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    nesting: int = 200,
) -> SparqlQuery:
    """The algebra of a query, or a QueryError.

    `source` names the text in errors; `base` and `prefixes` hold until the text declares its own.
    """
    query: SparqlQuery = _parse(text, "query_unit", source, base, prefixes, nesting)
    return query


def parse_pattern(
    text: str,
    *,
    source: str = "pattern",
    base: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    nesting: int = 200,
) -> Pattern:
    """The algebra of a group `{ … }`; PREFIX and BASE may be before it.

    >>> parse_pattern("{ ?s a ?type }").triples[0].object
    Variable(name='type')
    """
    pattern: Pattern = _parse(text, "pattern_unit", source, base, prefixes, nesting)
    return pattern


def parse_expression(
    text: str,
    *,
    source: str = "expression",
    base: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    nesting: int = 200,
) -> Expression:
    """The algebra of an expression; PREFIX and BASE may be before it.

    >>> parse_expression("!BOUND(?x)")
    Not(operand=Bound(variable=Variable(name='x')))
    """
    expression: Expression = _parse(text, "expression_unit", source, base, prefixes, nesting)
    return expression


def _parse(
    written: str, start: str, source: str, base: str | None, prefixes: Mapping[str, str] | None, nesting: int
) -> Any:
    text = read_text(written, source)
    tree = SYNTAX.parse(text, start, nesting=nesting)
    result = QueryReader(text, base=base, prefixes=prefixes).read(tree)
    if (found := depth(result)) > DEPTH:
        raise text.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    return result
