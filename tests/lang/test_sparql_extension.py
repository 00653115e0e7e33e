"""Another language over SPARQL: its grammar imports rules and extends them, its reader subclasses SPARQL's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from lark import Token

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, Extend, Filter, Graph, Join, Pattern
from thence.errors import QueryError
from thence.lang.sparql.group_reader import GroupDraft, QueryReader
from thence.lang.sparql.parser import parse_pattern
from thence.lang.syntax import Syntax
from thence.lang.text import text
from thence.rdf.terms import IRI

GRAMMAR = r"""
%import sparql (prologue, group_graph_pattern, graph_pattern_not_triples, var_or_iri, INTEGER, WS, COMMENT)
%extend graph_pattern_not_triples: event_graph_pattern

event_query: prologue "WITHIN" INTEGER group_graph_pattern
event_graph_pattern: _EVENT var_or_iri group_graph_pattern

_EVENT: /EVENT\b/i
%ignore WS
%ignore COMMENT
"""


@dataclass(frozen=True)
class EventQuery:
    within: int
    pattern: Pattern


class EventReader(QueryReader):
    def event_query(self, _: None, within: Token, group: GroupDraft) -> EventQuery:
        return EventQuery(int(within), group.whole)

    def event_graph_pattern(self, name: Variable | IRI, group: GroupDraft) -> Pattern:
        return Graph(name, group.whole)


@pytest.fixture(scope="module")
def syntax(tmp_path_factory: pytest.TempPathFactory) -> Syntax:
    grammar: Path = tmp_path_factory.mktemp("language") / "event.lark"
    grammar.write_text(GRAMMAR)
    return Syntax(grammar, "event_query")


def parse(syntax: Syntax, written: str) -> EventQuery:
    read = text(written, "query")
    query: EventQuery = EventReader(read).read(syntax.parse(read, "event_query", nesting=200))
    return query


def test_rules_of_sparql_work_in_another_grammar(syntax: Syntax) -> None:
    query = parse(syntax, "PREFIX : <x:> WITHIN 10 { ?s :p/:q ?o FILTER(STRLEN(?o) + 1 > 2) event :w { ?o :r 1 } }")
    expected = parse_pattern("{ ?s <x:p>/<x:q> ?o FILTER(STRLEN(?o) + 1 > 2) GRAPH <x:w> { ?o <x:r> 1 } }")
    assert query == EventQuery(10, expected)
    assert isinstance(expected, Filter)
    assert isinstance(expected.pattern, Join)


def test_a_new_rule_stands_wherever_the_extended_one_did(syntax: Syntax) -> None:
    query = parse(syntax, "WITHIN 1 { OPTIONAL { EVENT ?w { BIND(1 AS ?x) } } }")
    inner = parse_pattern("{ BIND(1 AS ?x) }")
    assert query.pattern == parse_pattern("{ OPTIONAL { GRAPH ?w { BIND(1 AS ?x) } } }")
    assert isinstance(inner, Extend)
    assert inner.pattern == Bgp(())


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("WITHIN 1 { EVNT ?w { } }", 'query:1:12: "EVNT" is not known here. Try: EVENT'),
        ("WITHIN 1 { EVENT { } }", 'query:1:18: Expected an IRI or a variable, found "{".'),
        ("WITHIN 1 { OPTINAL { } }", 'query:1:12: "OPTINAL" is not known here. Try: OPTIONAL'),
        (
            "WITHIN 1 { FILTER ?x }",
            'query:1:19: FILTER needs parentheses around its condition, found "?x". Try: FILTER(?x …)',
        ),
        (
            "WITHIN 1 { ?a ?b ?c ?d ?e ?f }",
            'query:1:21: A "." is missing between two triple patterns, before "?d". Try: . ?d',
        ),
        ("WITHIN ten { }", 'query:1:8: Expected a number, found "ten".'),
    ],
)
def test_errors_speak_of_both_languages(syntax: Syntax, written: str, message: str) -> None:
    with pytest.raises(QueryError) as refused:
        parse(syntax, written)
    assert str(refused.value) == message
