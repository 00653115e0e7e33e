"""Mistakes in EP-SPARQL files, and likely mistakes, are reported in one sentence, with their place and a cure."""

from __future__ import annotations

from contextlib import suppress

import pytest

from thence.errors import QueryError
from thence.lang.ep_sparql.parser import WARNINGS, parse
from thence.rdf.terms import XSD


def complaint(text: str) -> str:
    with pytest.raises(QueryError) as raised:
        parse(text)
    return str(raised.value).removeprefix("query:")


OR_SO = 'language="rsep-ql", or a file that ends in .rsepql'
REFUSED = {
    # The five operators (EP-7 to EP-10)
    "SELECT ?x { {?x p ?y} SQE {?x q ?z} }": '1:23: "SQE" is not known here. Try: SEQ',
    "SELECT ?x WHERE {?x p ?y} SQE {?x q ?z}": '1:27: "SQE" is not known here. Try: SEQ',
    "SELECT ?x WHERE {?x p ?y} SQE ?x q ?z": '1:27: "SQE" is not known here. Try: SEQ',
    "SELECT ?x WHERE {?x p ?y} SEQUENCE {?x q ?z}": (
        '1:27: "SEQUENCE" is not an operator. Try: SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL or UNION'
    ),
    "SELECT ?x WHERE ?x p ?y SQE ?x q ?z": '1:25: "SQE" is not known here. Try: SEQ',
    "SELECT ?x WHERE {?x p ?y} OPTIONAL SEQ {?x q ?z}": "1:27: OPTIONALSEQ is one word. Try: OPTIONALSEQ",
    "SELECT ?x WHERE {?x p ?y} EQUALS OPTIONAL {?x q ?z}": ("1:27: EQUALSOPTIONAL is one word. Try: EQUALSOPTIONAL"),
    "SELECT ?x WHERE {?x p ?y} OPTIONAL EQUALS {?x q ?z}": ("1:27: EQUALSOPTIONAL is one word. Try: EQUALSOPTIONAL"),
    "SELECT ?x WHERE {?x p ?y} OPTIONALEQUALS {?x q ?z}": (
        '1:27: "OPTIONALEQUALS" is not known here. Try: EQUALSOPTIONAL'
    ),
    "SELECT ?x WHERE {?x p ?y} EQUALOPTIONAL {?x q ?z}": (
        '1:27: "EQUALOPTIONAL" is not known here. Try: EQUALSOPTIONAL'
    ),
    "SELECT ?x WHERE {?x p ?y} EQUAL {?x q ?z}": '1:27: "EQUAL" is not known here. Try: EQUALS',
    "SELECT ?x WHERE SEQ {?x q ?z}": (
        "1:17: SEQ is not allowed first in a group: it belongs between two groups. Try: { … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ }": (
        "1:23: SEQ is not allowed last in a group: it belongs between two groups. Try: { … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} UNION }": (
        "1:23: UNION is not allowed last in a group: it belongs between two groups. Try: { … } UNION { … }"
    ),
    "SELECT ?x { UNION {?x q ?z} }": (
        "1:13: UNION is not allowed first in a group: it belongs between two groups. Try: { … } UNION { … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ SEQ {?x q ?z} }": (
        "1:27: SEQ needs a group or triples after it, found SEQ. Try: SEQ { … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ EQUALS {?x q ?z} }": (
        "1:27: SEQ needs a group or triples after it, found EQUALS. Try: SEQ { … } EQUALS { … }"
    ),
    "CONSTRUCT WHERE { ?x p ?y } SEQ { ?y p ?z }": (
        "1:29: CONSTRUCT WHERE takes triples alone, without operators. Try: CONSTRUCT { … } WHERE { … } SEQ { … }"
    ),
    "SELECT ?x WHERE { SEQ({?x p ?y}, {?x q ?z}) }": (
        "1:19: SEQ belongs between two groups, without parentheses. Try: { … } SEQ { … }"
    ),
    "SELECT ?x WHERE { {?x p ?y} AND {?x q ?z} }": (
        '1:29: "AND" is not an operator. Try: SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL or UNION'
    ),
    "SELECT ?x WHERE { {?x p ?y} NOT {?x q ?z} }": (
        "1:29: NOT is not allowed between groups. Try: FILTER NOT EXISTS { … }"
    ),
    "SELECT ?x WHERE {?x p ?y} AFTER {?x q ?z}": (
        '1:27: "AFTER" is not an operator. Try: SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL or UNION'
    ),
    "SELECT ?x WHERE {?x p ?y} LIMIT 3 SEQ {?x q ?z}": (
        "1:35: SEQ belongs between two groups of WHERE. Try: { … } SEQ { … }"
    ),
    # SEQOPTIONAL: query (7) of the paper
    "SELECT ?x WHERE {?x p ?y} SEQOPTIONAL {?x q ?z}": (
        "1:27: SEQOPTIONAL is not supported: a later event would refute a row that was emitted without its"
        " optional part. Try: OPTIONALSEQ, with the optional part first"
    ),
    "SELECT ?x ?y WHERE ?x ?x ?x . SEQOPTIONAL ?y ?y ?y .": (
        "1:31: SEQOPTIONAL is not supported: a later event would refute a row that was emitted without its"
        " optional part. Try: OPTIONALSEQ, with the optional part first"
    ),
    "SELECT ?x WHERE {?x p ?y} SEQ OPTIONAL {?x q ?z}": (
        "1:27: SEQOPTIONAL is not supported: a later event would refute a row that was emitted without its"
        " optional part. Try: OPTIONALSEQ, with the optional part first"
    ),
    # C-SPARQL and RSP-QL have windows
    **{
        text: f"{at} is not supported for EP-SPARQL: it works without windows. Try: RSEP-QL: {OR_SO}"
        for text, at in {
            "REGISTER QUERY q AS SELECT ?x FROM STREAM <x:s> [RANGE 10m] WHERE { ?x p ?y }": "1:1: REGISTER",
            "REGISTER STREAM q COMPUTED EVERY 5m AS CONSTRUCT { ?x p ?y } WHERE { ?x p ?y }": "1:1: REGISTER",
            "SELECT ?x FROM STREAM <x:s> [RANGE 10m STEP 1m] WHERE { ?x p ?y }": "1:11: FROM STREAM",
            "SELECT ?x FROM STREAM <x:s> [RANGE TRIPLES 10] WHERE { ?x p ?y }": "1:11: FROM STREAM",
            "SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10m] WHERE { ?x p ?y }": "1:11: FROM NAMED WINDOW",
            "SELECT ?x FROM NAMED STREAM :s [RANGE 10m] WHERE { ?x p ?y }": "1:11: FROM NAMED STREAM",
            "SELECT ?x FROM NAMED :S WIN [RANGE 9] AS :w WHERE { WINDOW :w { ?x p ?y } }": "1:25: WIN",
            "SELECT ?x FROM NAMED <x:s> WIN [RANGE 9] AS :w WHERE { ?x p ?y }": "1:28: WIN",
            "SELECT ?x { STREAM <x:s> [RANGE 10s] { ?x p ?y } }": "1:13: STREAM",
            "SELECT ?x { WINDOW :w { ?x p ?y } }": "1:13: WINDOW",
            "SELECT ISTREAM ?x WHERE { ?x p ?y }": "1:8: ISTREAM",
            "SELECT RSTREAM * WHERE { ?x p ?y }": "1:8: RSTREAM",
            "CONSTRUCT RSTREAM { ?x p ?y } WHERE { ?x q ?y }": "1:11: RSTREAM",
            "SELECT ?x WHERE { MATCH { A SEQ B } }": "1:19: MATCH",
            "SELECT ?x WHERE { ?x p ?y MATCH { A SEQ B } }": "1:27: MATCH",
            "SELECT ?x WHERE { ?x p ?y . MATCH { :A SEQ :B } }": "1:29: MATCH",
        }.items()
    },
    # RSEP-QL wants a window there
    **{
        f"SELECT ?x FROM STREAM <x:s> {where}": (
            "1:11: FROM STREAM is not supported for EP-SPARQL, which reads one stream. Try: SELECT … WHERE alone, or"
            " RSEP-QL with FROM STREAM <s> [RANGE 10s STEP 5s]"
        )
        for where in ("WHERE { ?x p ?y }", "{ ?x p ?y }", "{ ?x p ?y } # [")
    },
    **{
        text: (
            f'{at}: "timestamp" is no known function: a group has the interval of all that it matched.'
            " Try: getSTARTTIME() or getENDTIME()"
        )
        for text, at in {
            "SELECT ?x { ?x p ?y FILTER(timestamp(?x) > 3) }": "1:28",
            "SELECT ?x { ?x p ?y BIND(timestamp(?x) AS ?t) }": "1:26",
            "SELECT (timestamp(?x) AS ?t) { ?x p ?y }": "1:9",
        }.items()
    },
    # EP-11: what an operator can't stand beside
    "SELECT ?x { {?x q ?z} FILTER(?z > 1) SEQ {?x q ?z} }": (
        "1:38: SEQ is not allowed directly after FILTER: it belongs between two groups. "
        "Try: FILTER after the last group"
    ),
    "SELECT ?x { {?x q ?z} BIND(1 AS ?a) SEQ {?x q ?z} }": (
        "1:37: SEQ is not allowed directly after BIND: it belongs between two groups. Try: { … BIND … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} VALUES ?a {1} SEQ {?x q ?z} }": (
        "1:37: SEQ is not allowed directly after VALUES: it belongs between two groups. Try: { … VALUES … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} MINUS {?x q 1} SEQ {?x q ?z} }": (
        "1:38: SEQ is not allowed directly after MINUS: it belongs between two groups. Try: { … MINUS … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} GRAPH g {?x q 1} SEQ {?x q ?z} }": (
        "1:40: SEQ is not allowed directly after GRAPH: it belongs between two groups. Try: { … GRAPH … } SEQ { … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ FILTER(?z) }": (
        "1:23: SEQ needs a group or triples after it, found FILTER. Try: SEQ { FILTER … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ GRAPH g {?x q ?z} }": (
        "1:23: SEQ needs a group or triples after it, found GRAPH. Try: SEQ { GRAPH … }"
    ),
    "SELECT ?x { {?x q ?z} SEQ BIND(1 AS ?u) }": (
        "1:23: SEQ needs a group or triples after it, found BIND. Try: SEQ { BIND … }"
    ),
    "SELECT ?x WHERE {?x p ?y} VALUES ?x {1} SEQ {?x p ?y}": (
        "1:41: SEQ belongs between two groups of WHERE. Try: { … } SEQ { … }"
    ),
    "SELECT ?x WHERE { {?x p ?y} SEQ {?x q ?z} }  CONSTRUCT": (
        "1:55: CONSTRUCT needs a template, found the end of the text. Try: CONSTRUCT { ?s :p ?o } WHERE { … }"
    ),
    # EP-12: WHERE
    "SELECT ?x WHER { ?x p ?y }": '1:11: "WHER" is not known here. Try: WHERE',
    "SELECT ?x WHER ?x p ?y": '1:11: "WHER" is not known here. Try: WHERE',
    "SELECT ?x": "1:10: WHERE is missing, found the end of the text. Try: WHERE { … }",
    "CONSTRUCT ?x p ?y": "1:18: WHERE is missing, found the end of the text. Try: WHERE { … }",
    "CONSTRUCT { ?x p ?y } SELECT ?x { ?x p ?y }": '1:23: WHERE is missing, found "SELECT". Try: WHERE { … }',
    "SELECT ?x { ?x p ?y } ; SELECT ?x { ?x p ?y }": (
        '1:23: Statements follow one another without ";". Try: no sign between them'
    ),
    "SELECT ?x { ?x p ?y } LIMIT 5 . SELECT ?x { ?x p ?y }": (
        '1:31: Statements follow one another without ".". Try: no sign between them'
    ),
    "SELECT ?x WHERE {?x p ?y} SEQ {?x p ?z} WITHIN 10 MINUTES": (
        "1:41: WITHIN is not supported: a FILTER says how long a match may last. Try: FILTER (getDURATION()"
        ' < "PT10M"^^xsd:duration)'
    ),
    "SELECT ?x WITHIN 10s WHERE {?x p ?y} SEQ {?x p ?z}": (
        "1:11: WITHIN is not supported: a FILTER says how long a match may last. Try: FILTER (getDURATION()"
        ' < "PT10M"^^xsd:duration)'
    ),
    "SELECT ?x WHERE {?x p ?y} LIMT 5": '1:27: "LIMT" is not known here. Try: LIMIT',
    "SELECT ?x WHERE {?x p ?y} ORDRE BY ?x": '1:27: "ORDRE" is not known here. Try: ORDER',
    "SELECT ?x WHERE {?x p ?y} ORDER ?x": '1:33: Expected BY, found "?x". Try: BY',
    "SELECT ?x WHERE {?x p ?y} OPTINAL {?x p ?z}": '1:27: "OPTINAL" is not known here. Try: OPTIONAL',
    "SELECT ?x WHERE {?x p ?y} UNOIN {?x p ?z}": '1:27: "UNOIN" is not known here. Try: UNION',
    "SELEC ?x WHERE {?x p ?y}": '1:1: "SELEC" is not known here. Try: SELECT',
    "SELECT ?x WHERE {?x p ?y} SELEC ?x WHERE {?x p ?y}": '1:27: "SELEC" is not known here. Try: SELECT',
    "WITHIN 10": '1:1: Expected SELECT or CONSTRUCT, found "WITHIN".',
    "SELECT ?x WHERE VALUES ?x {1} {?x p ?y}": ("1:17: VALUES belongs in the braces of WHERE. Try: WHERE { VALUES … }"),
    "SELECT * WHERE { ?x p ?y } GROUPBY ?x": '1:28: "GROUPBY" is not known here. Try: GROUP BY',
    "SELECT ?x WHERE { ?x p ?y } ORDERBY ?x": '1:29: "ORDERBY" is not known here. Try: ORDER BY',
    # EP-13: blank nodes
    "SELECT ?x { {?x q _:a} SEQ {?x r _:a} }": (
        "1:34: The blank node _:a is in two basic graph patterns; a label belongs to one. Try: a variable"
    ),
    # EP-14: columns
    "SELECT x WHERE { ?x p ?y }": '1:8: A column is a variable, found "x". Try: ?x',
    "SELECT ?x, ?y WHERE { ?x p ?y }": (
        "1:10: The columns of SELECT are separated by spaces, without commas. Try: SELECT ?a ?b"
    ),
    "SELECT WHERE { ?x p ?y }": '1:8: SELECT names its columns, found "WHERE". Try: SELECT *',
    "SELECT COUNT(?x) WHERE { ?x p ?y }": "1:8: An expression in SELECT needs a name. Try: (COUNT(?x) AS ?name)",
    "SELECT 1 AS 2 WHERE { ?x p ?y }": "1:8: One side of AS must be a variable. Try: … AS ?name",
    "SELECT ?x AS ?y WHERE { ?x p ?y }": (
        "1:8: SELECT gives ?y a value, but WHERE has used ?y already. Try: a new name"
    ),
    "SELECT ?x WHERE {?x p ?y} GROUP BY ?x HAVING ?x": '1:46: Expected an expression in parentheses, found "?x".',
    "SELECT * WHERE {?x p ?y} GROUP BY ?x": ("1:1: SELECT * can't be combined with groups. Try: naming the columns"),
    "SELECT ?y WHERE {?x p ?y} GROUP BY ?x": (
        "1:8: ?y is not a key of GROUP BY, so a group has many values of it. Try: GROUP BY ?y, or an"
        " aggregate such as SAMPLE(?y)"
    ),
    "SELECT ?x AS ?v ?v AS ?x + 1 { ?x p ?y }": "1:17: SELECT gives ?v a value twice. Try: a new name",
    "SELECT ?x AND ?y AS ?z WHERE { ?x p ?y }": '1:11: "AND" is not known here. Try: &&',
    # EP-15: bare names, functions
    "SELECT ?x { ?x p ?y FILTER(duration() > 1) }": '1:28: "duration" is not a known function. Try: getDURATION()',
    "SELECT ?x { ?x p ?y FILTER foo(?x) }": '1:28: "foo" is not a known function. Try: :foo(…) for one of your own',
    "SELECT ?x { ?x p ?y FILTER(STRLENGTH(?x) > 3) }": '1:28: "STRLENGTH" is not a known function. Try: STRLEN',
    "SELECT ?x WHERE {?x count ?y}": '1:21: "count" is a keyword, not a bare name. Try: :count',
    "SELECT ?x WHERE {?x order ?y}": '1:21: "order" is a keyword, not a bare name. Try: :order',
    "SELECT ?x WHERE {?x p a}": '1:23: "a" is a keyword, not a bare name. Try: :a',
    "SELECT ?x WHERE {?x has-price ?y}": '1:21: A bare name can\'t have "-" in it. Try: :has-price',
    "SELECT ?x WHERE {?x p ?y q r ?z}": ('1:26: A "." is missing between two triple patterns, before "q". Try: . q'),
    "SELECT ?sum / ?count AS ?avg WHERE {?x sum ?y}": '1:40: "sum" is a keyword, not a bare name. Try: :sum',
    # EP-16: what is not supported
    "ASK { ?x p ?y }": "1:1: ASK is not supported for EP-SPARQL. Try: SELECT or CONSTRUCT",
    "SELECT ?x { ?x p ?y } ASK { ?x p ?y }": "1:23: ASK is not supported for EP-SPARQL. Try: SELECT or CONSTRUCT",
    "DESCRIBE ?x": "1:1: DESCRIBE is not supported for EP-SPARQL. Try: SELECT or CONSTRUCT",
    "SELECT ?x FROM <x:g> WHERE { ?x p ?y }": (
        "1:11: FROM is not supported for EP-SPARQL: a file reads the stream that it is run on. Try: GRAPH"
        " for background data"
    ),
    "SELECT ?x { SERVICE <x:g> { ?x p ?y } }": (
        "1:13: SERVICE is not supported: a query reads only the data that it is given. Try: GRAPH, with that"
        " data as background"
    ),
    "SELECT ?x { ?x p ?y FILTER(RAND() > 1) }": (
        "1:28: RAND is not supported: the same events must give the same rows. Try: a value of an event"
    ),
    "SELECT (UUID() AS ?u) { ?x p ?y }": (
        "1:9: UUID is not supported: the same events must give the same rows. Try: a blank node in a template"
    ),
    "SELECT (STRUUID() AS ?u) { ?x p ?y }": (
        "1:9: STRUUID is not supported: the same events must give the same rows. Try: a blank node in a template"
    ),
    # Time functions (EP-29 to EP-32)
    "SELECT ?x { ?x p ?y FILTER(getDURATION(?x) > 1) }": (
        "1:28: getDURATION takes no argument: it reads the interval of its group. Try: getDURATION()"
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATION > 1) }": (
        '1:28: getDURATION needs parentheses, found ">". Try: getDURATION()'
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATON() > 1) }": (
        '1:28: "getDURATON" is not a known function. Try: getDURATION()'
    ),
    'SELECT ?x { ?x p ?y FILTER(getDURATION() < "P30D") }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "P30D", which is a text. Try:'
        ' "P30D"^^xsd:duration'
    ),
    'SELECT ?x { ?x p ?y FILTER(getDURATION() < "30 days") }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "30 days", which is a text. Try:'
        ' "P30D"^^xsd:duration'
    ),
    'SELECT ?x { ?x p ?y FILTER(getDURATION() < "10s") }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "10s", which is a text. Try:'
        ' "PT10S"^^xsd:duration'
    ),
    'SELECT ?x { ?x p ?y FILTER(getENDTIME() - getSTARTTIME() < "10s") }': (
        '1:28: getENDTIME() - getSTARTTIME() is a duration and can\'t be compared with "10s", which is a text. Try:'
        ' "PT10S"^^xsd:duration'
    ),
    'SELECT ?x { ?x p ?y FILTER("1.5 h" > getDURATION()) }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "1.5 h", which is a text. Try:'
        ' "PT1H30M"^^xsd:duration'
    ),
    'SELECT ?x { ?x p ?y FILTER(getDURATION() < "10 ticks") }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "10 ticks", which is a text. Try: 10'
    ),
    'SELECT ?x { ?x p ?y FILTER(getDURATION() < "soon") }': (
        '1:28: getDURATION() is a duration and can\'t be compared with "soon", which is a text. Try:'
        ' "PT10M"^^xsd:duration, or 10 where times are ticks'
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATION() < PT10S) }": (
        '1:28: getDURATION() is a duration and can\'t be compared with "PT10S", which is a name. Try:'
        ' "PT10S"^^xsd:duration'
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATION() < 10s) }": (
        '1:44: A length of time is a literal of xsd:duration, found "10s". Try: "PT10S"^^xsd:duration'
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATION() < 10 MINUTES) }": (
        '1:44: A length of time is a literal of xsd:duration, found "10 MINUTES". Try: "PT10M"^^xsd:duration'
    ),
    f'SELECT ?x {{ ?x p ?y FILTER(getDURATION() < "10s"^^<{XSD}duration>) }}': (
        '1:28: "10s" is not a duration. Try: "PT10S"^^xsd:duration'
    ),
    f'SELECT ?x {{ ?x p ?y FILTER(getDURATION() < "30D"^^<{XSD}duration>) }}': (
        '1:28: "30D" is not a duration. Try: "P30D"^^xsd:duration'
    ),
    f'SELECT ?x {{ ?x p ?y FILTER(getSTARTTIME() < "P30D"^^<{XSD}duration>) }}': (
        '1:28: getSTARTTIME() is a time and can\'t be compared with "P30D", which is a duration. Try:'
        ' "2024-05-06T07:00:00Z"^^xsd:dateTime'
    ),
    f'SELECT ?x {{ ?x p ?y FILTER(getSTARTTIME() < "2020-01-01"^^<{XSD}date>) }}': (
        '1:28: getSTARTTIME() is a time and can\'t be compared with "2020-01-01", which is a date. Try:'
        ' "2024-05-06T07:00:00Z"^^xsd:dateTime'
    ),
    f'SELECT ?x {{ ?x p ?y FILTER(getDURATION() < 5 && getDURATION() < "P1D"^^<{XSD}duration>) }}': (
        '1:49: getDURATION() < "P1D" needs times that are dates, and getDURATION() < 5 at 1:28 needs ticks.'
        " Try: numbers in both"
    ),
    (
        "SELECT ?x { ?x p ?y FILTER(5 > getDURATION()) } SELECT ?x { ?x p ?y FILTER(getENDTIME() >"
        f' "2020-01-01T00:00:00Z"^^<{XSD}dateTime>) }}'
    ): (
        '1:76: getENDTIME() > "2020-01-01T00:00:00Z" needs times that are dates, and 5 > getDURATION() at'
        " 1:28 needs ticks. Try: numbers in both"
    ),
    "SELECT ?x WHERE {?x p ?y FILTER(getDURATION() < 5}": (
        '1:50: Found "}", but the "(" at 1:32 is still open. Try: )'
    ),
    "SELECT ?x { ?x p ?y FILTER(getDURATION() = true) }": (
        '1:28: getDURATION() is a duration and can\'t be compared with "true", which is true or false. Try:'
        ' "PT10M"^^xsd:duration, or 10 where times are ticks'
    ),
    'SELECT ?x { ?x p ?y FILTER(getENDTIME() IN (5, "later")) }': (
        '1:28: getENDTIME() is a time and can\'t be compared with "later", which is a text. Try:'
        ' "2024-05-06T07:00:00Z"^^xsd:dateTime'
    ),
    # Brackets and the rest
    "SELECT ?x WHERE { {?x p ?y} SEQ {?x p ?z} SELECT ?x { ?x p ?y }": (
        '1:43: The "{" at 1:17 is not closed before SELECT. Try: }'
    ),
    "SELECT ?x WHERE { {?x p ?y} SEQ {?x p ?z}": '1:42: The "{" at 1:17 is never closed. Try: }',
    "SELECT ?x WHERE { {?x p ?y} SEQ {?x p ?z} }}": '1:44: This "}" has no opening bracket.',
    "SELECT ?x WHERE { {?x p ?y SEQ {?x p ?z} }": '1:43: The "{" at 1:17 is never closed. Try: }',
    "SELECT ?x WHERE {?x p ?y} FILTR (?y > 1)": '1:27: "FILTR" is not known here. Try: FILTER',
    "SELECT ?x WHERE {?x p ?y} FILTER ?y > 1": (
        '1:34: FILTER needs parentheses around its condition, found "?y". Try: FILTER(?y …)'
    ),
    "PREFX : <x:> SELECT ?x WHERE {?x p ?y}": '1:1: "PREFX" is not known here. Try: PREFIX',
    "SELECT ?x WHERE {?x p ?y ?z}": '1:26: A "." is missing between two triple patterns, before "?z". Try: . ?z',
    "SELECT ?x WHERE {?x p}": '1:22: Expected a term, "*", "+", "/" or "?", found "}".',
    "SELECT ?x WHERE {?x :p ?y}": '1:21: The prefix ":" is not defined. Try: PREFIX : <http://example.org/>',
    "SELECT ?x WHERE {?x ex:p ?y}": ('1:21: The prefix "ex:" is not defined. Try: PREFIX ex: <http://example.org/>'),
    "PREFIX : <x:>": "1:14: Expected SELECT or CONSTRUCT, found the end of the text.",
    "INSERT { ?x p ?y }": '1:1: Expected SELECT or CONSTRUCT, found "INSERT".',
    "SELECT ?x WHERE {?x p ?y FILTER(?x < 5}}": '1:39: Found "}", but the "(" at 1:32 is still open. Try: )',
    "SELECT ?x WHERE { {?x p ?y} ; {?x q ?z} }": '1:29: Expected a triple pattern, "." or "}", found ";".',
    "SELECT ?x { ?x p ?y BIND(1 AS ?y) }": (
        "1:21: BIND gives ?y a value, but the group has used ?y before. Try: a new name"
    ),
    'SELECT ?x WHERE { ?x p "text }': (
        '1:24: The string that begins here is not closed on its line. Try: """ around several lines'
    ),
    "SELECT ?x WHERE { ?x p <x y> }": "1:24: An IRI can't have a space in it.",
    "SELECT ?x WHERE { ?x p ?y FILTER(?x == 1) }": '1:38: Equality is written with one "=". Try: =',
    "SELECT ?x WHERE { ?x p ?y FILTER(?x AND ?y) }": '1:37: "AND" is not an operator. Try: &&',
    "": "1:1: Expected SELECT or CONSTRUCT, found the end of the text.",
    "SELECT ?x WHERE { ?x p ?y FILTER(?x <> 1) }": '1:37: "<>" is not an operator. Try: !=',
}

WARNED = {
    "SELECT ?x WHERE { ?x p ?y { SELECT ?x (COUNT(*) AS ?n) { ?x q ?z } GROUP BY ?x } }": [
        "1:1: An aggregate in a sub-select gives a row for each of its running values, and joins with all.",
    ],
    (
        "SELECT ?x WHERE { ?x p ?y } ORDER BY ?y LIMIT 2 SELECT ?y (SUM(?x) AS ?n) { ?x p ?y }"
        " GROUP BY ?y HAVING (SUM(?x) > 2) VALUES ?y { 1 }"
    ): [],
    "SELECT ?k AS ?z { ?x p ?y } GROUP BY (?y AS ?k)": [],
    f'SELECT ?x WHERE {{ ?x p ?y FILTER(getDURATION() < "P1M"^^<{XSD}duration>) }}': [
        '1:34: getDURATION() < "P1M" is never true: a month has no fixed length. Try: days, as in "P30D"',
    ],
    "SELECT ?x WHERE {?x p ?y} ?x q ?z": [],
    "SELECT ?x ?w WHERE {?x p ?y}": [
        "1:11: SELECT names ?w, which nothing binds.",
    ],
    "SELECT ?sum / ?count AS ?avg WHERE {?x hasSum ?prevsum}": [
        "1:8: SELECT names ?sum, which nothing binds.",
        "1:15: SELECT names ?count, which nothing binds.",
    ],
    "SELECT ?x WHERE {?x p ?p1} SEQ {?x p ?p2 FILTER(?p2 < ?p1)}": [
        (
            "1:55: FILTER names ?p1, which its own group does not bind: there it has no value. Try: FILTER in"
            " the group that holds both"
        ),
    ],
    "SELECT ?x WHERE {?x p ?p1} SEQ {?x p ?p2} FILTER(?p2 < ?p3)": [
        "1:56: FILTER names ?p3, which nothing binds.",
    ],
    "SELECT ?x WHERE {?x p ?p1} SEQ {?x p ?p2 FILTER(EXISTS { ?x q ?z FILTER(?z < ?p2) }) }": [],
    "SELECT ?x WHERE {?x p ?p1 FILTER(?p1 < ?p2)} OPTIONALSEQ {?x p ?p2}": [],
    "SELECT ?x WHERE { GRAPH g { ?x p ?y } }": [
        (
            "1:1: This SELECT emits no row: no solution of its pattern has a time of the stream. Try: a"
            " mandatory pattern outside GRAPH"
        ),
    ],
    "SELECT ?x WHERE { VALUES ?x { 1 } OPTIONAL { ?x p ?y } }": [
        (
            "1:1: This SELECT emits no row: no solution of its pattern has a time of the stream. Try: a"
            " mandatory pattern outside GRAPH"
        ),
    ],
    "SELECT ?x WHERE { { VALUES ?x { 1 } } SEQ { ?x p ?y } }": [],
    "CONSTRUCT { ?x q ?z . ?x r ?y } WHERE { ?x p ?y }": [
        "1:18: The template names ?z, which nothing binds: its triple is left out.",
    ],
    "SELECT ?x WHERE { ?x p ?y . } SEQ { ?x p ?y OPTIONAL { ?x q ?z FILTER(?w > 1) } }": [
        "1:71: FILTER names ?w, which nothing binds.",
    ],
    "SELECT ?x WHERE { { SELECT ?x { ?x p ?y } SEQ { ?x p ?y } } }": [],
    "SELECT ?x WHERE { ?x p ?y } SEQ { }": [],
    "SELECT ?x WHERE { GRAPH g { ?x p ?y } } EQUALS { ?x p ?y }": [
        (
            "1:1: This SELECT emits no row: no solution of its pattern has a time of the stream. Try: a"
            " mandatory pattern outside GRAPH"
        ),
    ],
    "SELECT ?x WHERE { OPTIONAL { ?x p ?y } }": [
        (
            "1:1: This SELECT emits no row: no solution of its pattern has a time of the stream. Try: a"
            " mandatory pattern outside GRAPH"
        ),
    ],
    "SELECT ?x WHERE { { ?x p ?y } OPTIONALSEQ { VALUES ?x { 1 } } }": [
        (
            "1:1: This SELECT emits no row: no solution of its pattern has a time of the stream. Try: a"
            " mandatory pattern outside GRAPH"
        ),
    ],
    "SELECT ?x WHERE { ?x p ?y FILTER(?x <1 && ?y> 3) }": [],
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_its_place_and_a_cure(text: str) -> None:
    assert complaint(text) == REFUSED[text]


@pytest.mark.parametrize("text", WARNED)
def test_what_is_hardly_meant_is_told_in_warnings(text: str) -> None:
    assert [warning.removeprefix("query:") for warning in parse(text).warnings] == WARNED[text]


@pytest.mark.parametrize("function", ["getDURATION", "getSTARTTIME", "getENDTIME"])
def test_a_time_function_takes_no_argument(function: str) -> None:
    assert complaint(f"SELECT ?x {{ ?x p ?y FILTER({function.upper()}(?x, 1) > 1) }}") == (
        f"1:28: {function} takes no argument: it reads the interval of its group. Try: {function}()"
    )


def test_warnings_are_no_more_than_anyone_reads() -> None:
    assert len(parse("SELECT ?x " + "{ ?x p ?y FILTER(?z > 1) } " * 200).warnings) == WARNINGS


def test_a_source_is_named_in_errors_and_warnings() -> None:
    with pytest.raises(QueryError, match=r"^rules\.epsparql:2:1: ASK is not supported"):
        parse("SELECT ?x { ?x p ?y }\nASK { }", source="rules.epsparql")
    assert parse("SELECT ?z { ?x p ?y }", source="rules.epsparql").warnings[0].startswith("rules.epsparql:1:8: ")


@pytest.mark.parametrize("text", [*REFUSED, *WARNED])
def test_no_cut_or_doubled_word_breaks_the_parser(text: str) -> None:
    """Whatever is left of a text, or stands in it twice: it is read, or refused with a QueryError."""
    for index in range(len(text)):
        with suppress(QueryError):
            parse(text[:index])
    words = text.split()
    for index in range(len(words)):
        for changed in (
            words[:index] + words[index + 1 :],
            words[:index] + words[index : index + 1] * 2 + words[index:],
        ):
            with suppress(QueryError):
                parse(" ".join(changed))
