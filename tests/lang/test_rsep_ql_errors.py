"""Mistakes in RSEP-QL: each is reported with its place, its reason and a cure (RS-64 to RS-67)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from thence.errors import QueryError
from thence.lang.rsep_ql.parser import WARNINGS, parse
from thence.rdf.terms import XSD

P = "PREFIX : <http://e/>\n"


def complaint(text: str) -> str:
    with pytest.raises(QueryError) as caught:
        parse(P + text)
    return str(caught.value).splitlines()[0].removeprefix("query:")


REFUSED = {
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ E1"
        " FILTER(?s > 1) } }"
    ): ("2:95: FILTER belongs beside MATCH, not in it. Try: MATCH { E1 SEQ E2 } FILTER …"),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ E1 WITHIN 10 } }": (
        "2:95: WITHIN is not supported in MATCH: FILTER compares the times of EVENTs. Try: AS E1 END"
        " ?s, AS E2 START ?t, and FILTER(?t - ?s <= 10) beside MATCH"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5m] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ E1 WITHIN 2 min } }": (
        "2:96: WITHIN is not supported in MATCH: FILTER compares the times of EVENTs. Try: AS E1 END"
        ' ?s, AS E2 START ?t, and FILTER(?t - ?s <= "PT120S"^^xsd:dayTimeDuration) beside MATCH'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { (EVENT :w { ?s ?p ?o }) SEQ E1 }": (
        "2:78: MATCH names EVENTs, whose patterns come before WHERE. Try: EVENT ON :w { … } AS E1"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { E1 SEQ E1 }": (
        '2:77: EVENTs follow each other in MATCH, found "E1". Try: MATCH { E1 SEQ … }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { {E1} SEQ {E1} }": (
        '2:78: EVENTs follow each other in MATCH, found "E1". Try: MATCH { E1 SEQ … }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { LAST(E1) }": (
        "2:77: LAST belongs in MATCH, before an EVENT's name. Try: MATCH { LAST E1 }"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w COMPUTED EVERY 3 { WINDOW :w { ?s ?p ?o } }": (
        "2:44: COMPUTED EVERY belongs between REGISTER QUERY name and AS. Try: REPORT EVERY, after FROM"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ E1 . } }": (
        '2:95: "." is not needed in MATCH, which holds names of EVENTs. Try: MATCH { E1 SEQ E2 }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1+ } }": (
        '2:87: "+" is not supported in MATCH, where a name stands for one event. Try: SPAseQ or SASE+, which'
        " have closures"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 OR E1 } }": (
        '2:88: "OR" is not an operator of MATCH. Try: { MATCH { E1 } } UNION { MATCH { E2 } }'
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { (EVENT :w"
        " { ?s ?p ?o }) SEQ E1 } }"
    ): ("2:86: MATCH names EVENTs, whose patterns come before WHERE. Try: EVENT ON :w { … } AS E1"),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 } WITHIN 10 }": (
        "2:90: WITHIN is not supported: a window says how far back the query looks. Try: FROM NAMED :S"
        " WIN [RANGE 10m] AS :w"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 AT ?t { MATCH { E1 } }": (
        "2:75: An EVENT binds its times by START and END. Try: AS E1 END ?t"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 END ?t START ?u { MATCH { E1 } }": (
        "2:82: START must come before END, each at most once. Try: AS E1 START ?s END ?t"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 END t { MATCH { E1 } }": (
        '2:79: END needs a variable, found "t". Try: END ?t'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 START ?s { MATCH { E1 } }": (
        "2:75: START binds ?s, which this EVENT binds already. Try: START with a variable of its own"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 START ?t END ?t { MATCH { E1 } }": (
        "2:84: END binds ?t, which this EVENT binds already. Try: END with a variable of its own"
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 }"
        " FILTER(getENDTIME() > 3) }"
    ): ("2:97: getENDTIME() is EP-SPARQL's: in RSEP-QL an EVENT binds its times. Try: AS E1 START ?s END ?t"),
    "SELECT ?s FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } GROUP BY ?s": (
        '2:70: The "{" at 2:45 is not closed before GROUP. Try: }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] :w { WINDOW :w { ?s ?p ?o } }": ('2:38: Expected AS, found ":w". Try: AS'),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS w { WINDOW :w { ?s ?p ?o } }": (
        '2:41: A window\'s name is an IRI, found "w". Try: :w'
    ),
    "SELECT * FROM NAMED :S WIN RANGE 5 AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:28: A window is written in brackets, found "RANGE". Try: [RANGE 10s SLIDE 5s]'
    ),
    "SELECT * FROM NAMED :S WINDOW [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:24: WIN is missing, found "WINDOW". Try: FROM NAMED :S WIN [RANGE 10s] AS :w'
    ),
    "SELECT * FROM NAMED :S AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:24: WIN is missing, found "AS". Try: FROM NAMED :S WIN [RANGE 10s] AS :w'
    ),
    "SELECT * FROM NAMED :S [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:24: WIN is missing, found "[". Try: FROM NAMED :S WIN [RANGE 10s] AS :w'
    ),
    "SELECT * FROM :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:18: NAMED is missing after FROM: a window needs a name. Try: FROM NAMED :S WIN [RANGE 10s] AS :w"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:34: RANGE needs a length of time, found "]". Try: RANGE 10s'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE ten] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:35: RANGE needs a length of time, found "ten". Try: RANGE 10s'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10 FORTNIGHTS] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:38: "FORTNIGHTS" is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10ns] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:37: "ns" is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS'
    ),
    "SELECT * FROM NAMED :S WIN [RAGNE 10] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:29: "RAGNE" is not known here. Try: RANGE'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10 SLID 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:38: "SLID" is not known here. Try: SLIDE'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10, SLIDE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:37: The parts of a window are separated by spaces, without commas. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [10] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:29: RANGE says how long a window is, found "10". Try: RANGE 10'
    ),
    "SELECT * FROM NAMED :S WIN [10s 5s] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:29: RANGE says how long a window is, found "10". Try: RANGE 10'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10 AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:38: The "[" at 2:28 is not closed before "AS". Try: ]'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 0] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:35: RANGE must be longer than 0, found 0. Try: RANGE 10s"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE -5s] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:35: RANGE must be longer than 0, found -5s. Try: RANGE 10s"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5 SLIDE 0] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:43: SLIDE must be longer than 0, found 0. Try: SLIDE 10s"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE P1M] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:35: "P1M" has no fixed length: years and months differ. Try: days'
    ),
    (
        'SELECT * FROM NAMED :S WIN [RANGE "P1M"^^<http://www.w3.org/2001/XMLSchema#yearMonthDuration>] AS :w'
        " { WINDOW :w { ?s ?p ?o } }"
    ): '2:35: "P1M" has no fixed length: years and months differ. Try: days',
    "SELECT * FROM NAMED :S WIN [RANGE 1.5] AS :w { WINDOW :w { ?s ?p ?o } }": ('2:35: "1.5" is finer than a tick.'),
    "SELECT * FROM NAMED :S WIN [FROM 9 TO 3] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: FROM 9 is after TO 3. Try: [FROM 3 TO 9]"
    ),
    "SELECT * FROM NAMED :S WIN [FROM 9] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: FROM needs TO in the same brackets. Try: LND for an open end"
    ),
    "SELECT * FROM NAMED :S WIN [TO 9] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: TO needs FROM in the same brackets. Try: [FROM 1 TO 10]"
    ),
    "SELECT * FROM NAMED :S WIN [LND] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:32: LND needs a time, found "]". Try: LND 5, or LND 2024-05-06T07:00:00Z'
    ),
    "SELECT * FROM NAMED :S WIN [LND 2020-01-01] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:33: "2020-01-01" is not a time. Try: "2024-05-06T07:00:00Z"'
    ),
    "SELECT * FROM NAMED :S WIN [LND 10s] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:35: A time has no unit, found "s": it is a number of ticks, or a date. Try: 2024-05-06T07:00:00Z'
    ),
    "SELECT * FROM NAMED :S WIN [LND 1 SLIDE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:35: SLIDE belongs to RANGE, but these brackets have LND. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [SLIDE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: SLIDE needs RANGE before it. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5 RANGE 6] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:37: RANGE is given twice in these brackets. Try: one RANGE"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5 LND 6] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:37: RANGE and LND are not allowed in the same brackets. Try: one of them"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5 STEP 2 TUMBLING] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:44: TUMBLING is SLIDE by the whole RANGE: only one of them is allowed. Try: SLIDE or TUMBLING"
    ),
    "SELECT * FROM NAMED :S WIN [ELEMENTS 10 STEP 2] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: Windows by count (ELEMENTS 10) are not supported: a window holds the events of a length of"
        " time. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE TRIPLES 10] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: Windows by count (TRIPLES 10) are not supported: a window holds the events of a length of"
        " time. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [TRIPLES 100] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: Windows by count (TRIPLES 100) are not supported: a window holds the events of a length of"
        " time. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 10 TRIPLES] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:38: Windows by count (TRIPLES) are not supported: a window holds the events of a length of"
        " time. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM NAMED :S WIN [ALL] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:29: ALL is not supported: empty brackets hold the whole stream. Try: []"
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w FROM NAMED :S WIN [RANGE 5s] AS :v { WINDOW :w { ?s ?p ?o"
        " } WINDOW :v {} }"
    ): (
        "2:69: RANGE 5 SECONDS needs times that are dates, and RANGE 5 TICKS at 2:35 needs ticks. Try: numbers in both"
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w FROM NAMED :S WIN [RANGE 6] AS :w { WINDOW :w { ?s ?p ?o } }"
    ): "2:75: The window :w is defined twice, first at 2:41. Try: a new name",
    "SELECT * FROM NAMED :w FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:55: FROM NAMED gives the name :w to a graph and to a window. Try: a new name"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w1 { WINDOW :w2 { ?s ?p ?o } }": (
        "2:54: There is no window :w2. Try: :w1"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w1 { WINDOW ?w { ?s ?p ?o } }": (
        "2:54: WINDOW names one window, and ?w is a variable. Try: WINDOW :w1"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS ?w { WINDOW ?w { ?s ?p ?o } }": (
        "2:41: AS names one window, and ?w is a variable. Try: AS :w"
    ),
    "SELECT * FROM NAMED ?S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:21: A stream\'s name is an IRI, found "?S". Try: :S'
    ),
    "SELECT * FROM NAMED S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:21: A stream\'s name is an IRI, found "S". Try: :S'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDO :w { ?s ?p ?o } }": (
        '2:46: "WINDO" is not known here. Try: WINDOW'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW { ?s ?p ?o } }": (
        '2:53: WINDOW needs a window\'s name, found "{". Try: WINDOW :w'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w ?s ?p ?o }": '2:56: Expected "{", found "?s". Try: {',
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } E1 { MATCH { E1 } }": (
        '2:69: Expected AS, found "E1". Try: AS'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS :E1 { MATCH { E1 } }": (
        '2:72: An EVENT\'s name is a plain word, found ":E1". Try: E1'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { :E1 } }": (
        '2:85: An EVENT\'s name is a plain word, found ":E1". Try: E1'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS ?E1 { MATCH { E1 } }": (
        '2:72: An EVENT\'s name is a plain word, found "?E1". Try: E1'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E2 } }": (
        '2:85: There is no EVENT "E2". Try: E1'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { MATCH { E2 } }": (
        '2:54: There is no EVENT "E2". Try: EVENT ON :w { … } AS E2, before WHERE'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { } }": (
        '2:85: MATCH needs an EVENT\'s name here, found "}". Try: MATCH { E1 SEQ E2 }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH E1 }": (
        '2:83: MATCH needs braces, found "E1". Try: MATCH { E1 SEQ E2 }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 E1 } }": (
        '2:88: SEQ is missing before "E1". Try: SEQ E1'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQQ E1 } }": (
        '2:88: "SEQQ" is not known here. Try: SEQ'
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ CHRONOLOGICL E1 } }"
    ): '2:92: "CHRONOLOGICL" is not known here. Try: CHRONOLOGICAL',
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 CHRONOLOGICAL"
        " SEQ E1 } }"
    ): "2:88: CHRONOLOGICAL must follow SEQ. Try: SEQ CHRONOLOGICAL",
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ UNRESTRICTED E1 } }"
    ): "2:92: SEQ without a policy is unrestricted. Try: SEQ alone",
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 ; E1 } }": (
        '2:88: ";" is not an operator of MATCH. Try: SEQ'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 AND E1 } }": (
        '2:88: "AND" is not an operator of MATCH: two MATCHes join, in any order. Try: MATCH { E1 } MATCH { E2 }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { SEQ(E1, E1) } }": (
        "2:85: SEQ belongs between two events. Try: E1 SEQ E2"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 SEQ } }": (
        '2:92: MATCH needs an EVENT\'s name here, found "}". Try: MATCH { E1 SEQ E2 }'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { SEQ E1 } }": (
        "2:85: SEQ belongs between two events. Try: E1 SEQ E2"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { (E1 SEQ E1 } }": (
        '2:96: Found "}", but the "(" at 2:85 is still open. Try: )'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { FRIST E1 } }": (
        '2:85: "FRIST" is not known here. Try: FIRST'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { NOT E1 } }": (
        "2:85: NOT is not supported in MATCH. Try: FILTER NOT EXISTS { … } beside it"
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MATCH { { ?s ?p ?o } SEQ E1 } }"
    ): "2:85: MATCH names EVENTs, whose patterns come before WHERE. Try: EVENT ON :w { … } AS E1",
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 { MACTH { E1 } }": (
        '2:77: "MACTH" is not known here. Try: MATCH'
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 EVENT ON :w { ?s ?p ?o }"
        " AS E1 { MATCH { E1 } }"
    ): '2:103: The EVENT "E1" is defined twice, first at 2:72. Try: a new name',
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :v { ?s ?p ?o } AS E1 { MATCH { E1 } }": (
        "2:53: There is no window :v. Try: :w"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON ?w { ?s ?p ?o } AS E1 { MATCH { E1 } }": (
        "2:53: EVENT ON names one window, and ?w is a variable. Try: EVENT ON :w"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT :w { ?s ?p ?o } AS E1 { MATCH { E1 } }": (
        '2:50: Expected ON, found ":w". Try: ON'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVNT ON :w { ?s ?p ?o } AS E1 { MATCH { E1 } }": (
        '2:44: "EVNT" is not known here. Try: EVENT'
    ),
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { WINDOW :w { ?s ?p ?o } } AS E1 { MATCH { E1 } }"
    ): "2:58: WINDOW is not allowed in EVENT, which reads one event at a time. Try: WINDOW in WHERE",
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS E1 EVENT ON :w { MATCH { E1 }"
        " } AS E2 { MATCH { E1 } }"
    ): "2:89: MATCH is not allowed in EVENT, which reads one event at a time. Try: MATCH in WHERE",
    (
        "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o FILTER EXISTS { STREAM :S [NOW] {}"
        " } } AS E1 { MATCH { E1 } }"
    ): "2:83: STREAM is not allowed in EVENT, which reads one event at a time. Try: STREAM in WHERE",
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?s ?p ?o } AS SEQ { MATCH { E1 } }": (
        "2:72: SEQ is a keyword of MATCH and can't name an EVENT. Try: E1"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { EVENT ON :w { ?s ?p ?o } AS E1 MATCH { E1 } }": (
        "2:46: EVENT must come before WHERE. Try: EVENT … WHERE { … }"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w WHERE { MATCH { E1 } } EVENT ON :w { ?s ?p ?o } AS E1": (
        "2:67: EVENT must come before WHERE. Try: EVENT … WHERE { … }"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT ON CLOSE { WINDOW :w { ?s ?p ?o } }": (
        "2:44: REPORT ON CLOSE needs a window with SLIDE: no other window closes. Try: [RANGE 10s SLIDE"
        " 5s], or REPORT ON CONTENT"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT ON WINDOW_CLOSE { WINDOW :w { ?s ?p ?o } }": (
        '2:54: REPORT ON needs CONTENT, CLOSE or NON_EMPTY_CONTENT, found "WINDOW_CLOSE". Try: REPORT ON CLOSE'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT ON CHANGE { WINDOW :w { ?s ?p ?o } }": (
        '2:54: REPORT ON needs CONTENT, CLOSE or NON_EMPTY_CONTENT, found "CHANGE". Try: REPORT ON CONTENT'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT CONTENT { WINDOW :w { ?s ?p ?o } }": (
        '2:51: REPORT needs ON CONTENT, ON CLOSE, EVERY or AT, found "CONTENT". Try: REPORT ON CONTENT'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT { WINDOW :w { ?s ?p ?o } }": (
        '2:51: REPORT needs ON CONTENT, ON CLOSE, EVERY or AT, found "{". Try: REPORT ON CONTENT'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT EVERY { WINDOW :w { ?s ?p ?o } }": (
        '2:57: REPORT EVERY needs a length of time, found "{". Try: REPORT EVERY 10s'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT EVERY 0 { WINDOW :w { ?s ?p ?o } }": (
        "2:57: EVERY must be longer than 0, found 0. Try: EVERY 10s"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT EVERY 5s { WINDOW :w { ?s ?p ?o } }": (
        "2:57: EVERY 5 SECONDS needs times that are dates, and RANGE 5 TICKS at 2:35 needs ticks. Try: numbers in both"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT AT { WINDOW :w { ?s ?p ?o } }": (
        '2:54: REPORT AT needs a time, found "{". Try: REPORT AT 5, or REPORT AT 2024-05-06T07:00:00Z'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT AT 1 2 { WINDOW :w { ?s ?p ?o } }": (
        '2:56: A "," is missing between two times, before "2". Try: , 2'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT AT noon { WINDOW :w { ?s ?p ?o } }": (
        '2:54: REPORT AT needs a time, found "noon". Try: REPORT AT 5, or REPORT AT 2024-05-06T07:00:00Z'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT ON CONTENT REPORT EVERY 5 { WINDOW :w { ?s ?p ?o } }": (
        "2:62: REPORT is given twice, first at 2:44. Try: one REPORT"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } } REPORT ON CONTENT": (
        "2:71: REPORT must come before WHERE. Try: REPORT … WHERE { … }"
    ),
    "ASK FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } } LIMIT 1": (
        "2:1: ASK tests whether WHERE has an answer, so nothing may follow WHERE. Try: ASK WHERE { { SELECT … } }"
    ),
    "DESCRIBE ?x FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:1: DESCRIBE is not supported for RSEP-QL. Try: SELECT, CONSTRUCT or ASK"
    ),
    "SELECT * { ?s ?p ?o }": (
        "2:1: The query has no window, so it reads no stream. Try: FROM NAMED :S WIN [RANGE 10s SLIDE 5s] AS :w"
    ),
    "SELECT * FROM STREAM <s> { ?s ?p ?o }": (
        '2:26: FROM STREAM needs a window in brackets, found "{". Try: FROM STREAM <s> [RANGE 10s STEP 5s]'
    ),
    "SELECT * FROM STREAM S <s> { ?s ?p ?o }": (
        '2:24: FROM STREAM needs a window in brackets, found "<s>". Try: FROM STREAM <s> [RANGE 10s STEP 5s]'
    ),
    "SELECT * { STREAM <s> { ?s ?p ?o } }": (
        "2:12: STREAM :s needs a window, and no FROM STREAM gives it one. Try: STREAM :s [RANGE 10s]"
    ),
    "SELECT * FROM STREAM Sensors [RANGE 1h] { STREAM Sensor { ?s ?p ?o } }": (
        "2:43: STREAM :Sensor needs a window, and no FROM STREAM gives it one. Try: STREAM :Sensors"
    ),
    "SELECT * { STREAM ?s [RANGE 1h] { ?s ?p ?o } }": '2:19: A stream\'s name is an IRI, found "?s". Try: :s',
    "SELECT * { STREAM <s> [RANGE 1h] ?s ?p ?o }": '2:34: Expected "{", found "?s". Try: {',
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o FILTER(:timestamp(?s, :p, ?o) > 4) }": (
        "2:64: C-SPARQL's timestamp() is not supported: triples have no time of their own. Try: EVENT ON"
        " :w { … } AS E1 END ?t, and MATCH { E1 SEQ NAIVE E2 }"
    ),
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o FILTER(timestamp(?s, :p, ?o) > 4) }": (
        "2:64: C-SPARQL's timestamp() is not supported: triples have no time of their own. Try: EVENT ON"
        " :w { … } AS E1 END ?t, and MATCH { E1 SEQ NAIVE E2 }"
    ),
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o FILTER(f:timestamp(?s, :p, ?o) > 4) }": (
        '2:64: The prefix "f:" is not defined. Try: PREFIX f: <http://example.org/>'
    ),
    "REGISTER QUERY q COMPUTED EVERY 5m AS SELECT * FROM STREAM <s> [RANGE 10s] REPORT EVERY 3m { ?s :p ?o }": (
        "2:76: COMPUTED EVERY at 2:18 is a REPORT already. Try: one of them"
    ),
    "REGISTER QUERY q SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        '2:18: Expected AS, found "SELECT". Try: AS'
    ),
    "REGISTER q AS SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        '2:10: REGISTER needs RSTREAM, ISTREAM, DSTREAM, STREAM or QUERY, found "q". Try: REGISTER QUERY q AS'
    ),
    "REGISTER QUERY AS SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        "2:19: REGISTER needs a name before AS. Try: REGISTER QUERY name AS"
    ),
    "REGISTER RSTREAM <q> AS SELECT ISTREAM * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        "2:32: REGISTER RSTREAM and ISTREAM contradict each other. Try: one of them"
    ),
    "REGSTER RSTREAM <q> AS SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        '2:1: "REGSTER" is not known here. Try: REGISTER'
    ),
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { { SELECT ISTREAM ?s { ?s :p ?o } } }": (
        "2:57: ISTREAM is not allowed in a sub-select: it applies to the whole query. Try: SELECT"
        " ISTREAM at the beginning"
    ),
    "SELECT COUNT(?s) FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        "2:18: An aggregate in SELECT needs a name. Try: AS ?name"
    ),
    "SELECT STRLEN(?s) AS ?n FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        "2:8: An expression in SELECT needs parentheses and a name. Try: (STRLEN(…) AS ?name)"
    ),
    (
        "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 10 REPORT PERIODICALLY TICK TIME_DRIVEN] {"
        " WINDOW :w { ?s ?p ?o } }"
    ): (
        "2:63: The report policy PERIODICALLY is not supported. Try: ON_WINDOW_CLOSE or"
        " ON_CONTENT_CHANGE or NON_EMPTY_CONTENT"
    ),
    "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 10 REPORT PERIODIC] { WINDOW :w { ?s ?p ?o } }": (
        "2:63: The report policy PERIODIC is not supported. Try: REPORT EVERY 10s after FROM"
    ),
    (
        "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 10 REPORT ON_WINDOW_CLOSE TICK TUPLE_DRIVEN] {"
        " WINDOW :w { ?s ?p ?o } }"
    ): ("2:79: TICK TUPLE_DRIVEN is not supported: a window moves with the events' time. Try: TICK TIME_DRIVEN"),
    "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 REPORT ON_WINDOW_CLOSE] { WINDOW :w { ?s ?p ?o } }": (
        "2:47: REPORT ON CLOSE needs a window with SLIDE: no other window closes. Try: [RANGE 10s SLIDE"
        " 5s], or REPORT ON CONTENT"
    ),
    (
        "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 6 REPORT ON_WINDOW_CLOSE] FROM NAMED WINDOW :v"
        " ON :s [RANGE 60 SLIDE 6 REPORT ON_CONTENT_CHANGE] { WINDOW :w { ?s ?p ?o } WINDOW :v { } }"
    ): ("2:124: This REPORT differs from the one at 2:55. Try: the same in all brackets, or one REPORT after FROM"),
    (
        "SELECT * FROM NAMED WINDOW :w ON :s [RANGE 60 SLIDE 6 REPORT ON_WINDOW_CLOSE] REPORT EVERY 5 {"
        " WINDOW :w { ?s ?p ?o } }"
    ): ("2:55: This REPORT differs from the one at 2:79. Try: the same in all brackets, or one REPORT after FROM"),
    "SELECT * FROM NAMED WINDOW :w ON ?s [RANGE 60 SLIDE 6] { WINDOW :w { ?s ?p ?o } }": (
        '2:34: A stream\'s name is an IRI, found "?s". Try: :s'
    ),
    "SELECT * FROM NAMED WINDOW :w [RANGE 60 SLIDE 6] { WINDOW :w { ?s ?p ?o } }": (
        '2:50: Expected ON, found "{". Try: ON'
    ),
    "SELECT * FROM NAMED WINDOW :w :s [RANGE 60 SLIDE 6] { WINDOW :w { ?s ?p ?o } }": (
        '2:31: ON is missing before ":s". Try: ON :s'
    ),
    "SELECT * FROM NAMED WINDOW w ON s [RANGE 60 SLIDE 6] { WINDOW :w { ?s ?p ?o } }": (
        '2:28: A window\'s name is an IRI, found "w". Try: :w'
    ),
    "SELECT * FROM NAMED WINDOW :w ON :s [OFFSET 5 RANGE 60 SLIDE 6] { WINDOW :w { ?s ?p ?o } }": (
        '2:38: "OFFSET" is not part of a window. Try: [RANGE 10s SLIDE 5s], [LND 5], [FROM 1 TO 5] or [NOW]'
    ),
    "SELECT * FROM NAMED STREAM <s> [NOW 300 S] { ?s ?p ?o }": (
        "2:33: NOW and a length need a sign between them, found 300 S. Try: NOW - 10s"
    ),
    "SELECT * FROM NAMED STREAM <s> [NOW - ] { ?s ?p ?o }": (
        '2:39: NOW - needs a length of time, found "]". Try: NOW - 10s'
    ),
    "SELECT * FROM NAMED STREAM <s> [START 5] { ?s ?p ?o }": (
        "2:33: START needs END in the same brackets. Try: LND for an open end"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } SERVICE <x> { } }": (
        "2:69: SERVICE is not supported: a query reads only the data that it is given. Try: GRAPH, with"
        " that data as background"
    ),
    "SELECT (RAND() AS ?x) FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        "2:9: RAND is not supported: the same events must give the same rows. Try: a value of an event"
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p _:a } WINDOW :w { ?s ?p _:a } }": (
        "2:88: The blank node _:a is in two basic graph patterns; a label belongs to one. Try: a variable"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w": (
        "2:44: WHERE is missing, found the end of the text. Try: WHERE { … }"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?s ?p ?x }": (
        '2:75: The "{" at 2:51 is never closed. Try: }'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?s ?p ?x } }}": (
        '2:77: This "}" has no opening bracket.'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE WINDOW :w { ?s ?p ?x }": (
        '2:51: WHERE needs braces, found "WINDOW". Try: WHERE { … }'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?s ?p ?x } } WITHIN 10": (
        "2:78: WITHIN is not supported: a window says how far back the query looks. Try: FROM NAMED :S"
        " WIN [RANGE 10m] AS :w"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5 SLIDE 2 SECONDS] AS :w WHERE { WINDOW :w { ?s ?p ?x } }": (
        "2:44: SLIDE 2 SECONDS needs times that are dates, and RANGE 5 TICKS at 2:36 needs ticks. Try: numbers in both"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 99999999999999999999] AS :w WHERE { WINDOW :w { ?s ?p ?x } }": (
        '2:36: "99999999999999999999" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS'
    ),
    "SELECT ?x FROM NAMED :S WIN [LND 99999999999999999999] AS :w WHERE { WINDOW :w { ?s ?p ?x } }": (
        '2:34: "99999999999999999999" is out of range: times have 64 bits.'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w REPORT AT 3, 9223372036854775807 WHERE { WINDOW :w { ?s ?p ?x } }": (
        '2:58: "9223372036854775807" is out of range: no evaluation is later than 9223372036854775806.'
    ),
    "SELECT ?x FROM NAMED :S WIN[RANGE 5]AS :w WHERE { WINDOW :w { ?s ?p ?x } }  SELECT ?x { ?x ?y ?z }": (
        "2:77: The query has no window, so it reads no stream. Try: FROM NAMED :S WIN [RANGE 10s SLIDE 5s] AS :w"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { { ?x ?y ?z } SEQ { ?x ?y ?z } }": (
        "2:66: SEQ belongs in MATCH, between the names of EVENTs. Try: MATCH { E1 SEQ E2 }"
    ),
    "SELECT ISTREAM FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?s ?p ?x } }": (
        '2:16: SELECT names its columns, found "FROM". Try: SELECT *'
    ),
    "CONSTRUCT ISTREAM WHERE { ?x ?y ?z }": (
        "2:1: The query has no window, so it reads no stream. Try: FROM NAMED :S WIN [RANGE 10s SLIDE 5s] AS :w"
    ),
    "": "1:21: Expected SELECT, CONSTRUCT, ASK or REGISTER, found the end of the text.",
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT ON CONTNET { WINDOW :w { ?s ?p ?o } }": (
        '2:54: "CONTNET" is not known here. Try: CONTENT'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPROT ON CONTENT { WINDOW :w { ?s ?p ?o } }": (
        '2:44: "REPROT" is not known here. Try: REPORT'
    ),
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w REPORT EVRY 5 { WINDOW :w { ?s ?p ?o } }": (
        '2:51: "EVRY" is not known here. Try: EVERY'
    ),
    "SELECT * FROM NAMD :S WIN [RANGE 5] AS :w { WINDOW :w { ?s ?p ?o } }": (
        '2:15: "NAMD" is not known here. Try: NAMED'
    ),
    "SELECT * FROM NAMED WINDW :w ON :s [RANGE 5] { WINDOW :w { ?s ?p ?o } }": (
        '2:21: "WINDW" is not known here. Try: WINDOW'
    ),
    "SELECT * FROM NAMED WINDOW :w ON STREM :s [RANGE 5] { WINDOW :w { ?s ?p ?o } }": (
        '2:34: "STREM" is not known here. Try: STREAM'
    ),
    "SELECT * FROM STREM <s> [RANGE 5] { ?s ?p ?o }": '2:15: "STREM" is not known here. Try: STREAM',
    "SELECT * FROM STREAM <s> [RANGE 5s TUMBLNG] { ?s ?p ?o }": ('2:36: "TUMBLNG" is not known here. Try: TUMBLING'),
    "SELECT * FROM STREAM <s> [RANGE 5s STPE 5s] { ?s ?p ?o }": '2:36: "STPE" is not known here. Try: STEP',
    "SELECT * FROM STREAM <s> [RANGE 5s SLIDE] { ?s ?p ?o }": (
        '2:41: SLIDE needs a length of time, found "]". Try: SLIDE 10s'
    ),
    "SELECT * FROM STREAM <s> [RANGE 5s TO 6] { ?s ?p ?o }": (
        "2:36: RANGE and TO are not allowed in the same brackets. Try: one of them"
    ),
    "SELECT * FROM STREAM <s> [NOW SLIDE 5] { ?s ?p ?o }": (
        "2:31: SLIDE belongs to RANGE, but these brackets have NOW. Try: [RANGE 10s SLIDE 5s]"
    ),
    "SELECT * FROM STREAM <s> [TO NOW] { ?s ?p ?o }": (
        "2:27: TO NOW needs NOW - and a length before it. Try: [NOW - 10s]"
    ),
    "SELECT ITSREAM ?x FROM STREAM <s> [RANGE 5s] { ?x ?p ?o }": '2:8: "ITSREAM" is not known here. Try: ISTREAM',
    "SELECT ?x WHER { STREAM <s> [NOW] { ?x ?p ?o } }": '2:11: "WHER" is not known here. Try: WHERE',
    "SELECT ?x { STREM <s> [NOW] { ?x ?p ?o } }": '2:13: "STREM" is not known here. Try: STREAM',
    "SELECT ?x { STREAM <s> NOW { ?x ?p ?o } }": (
        '2:24: A window is written in brackets, found "NOW". Try: [RANGE 10s SLIDE 5s]'
    ),
    "SELECT ?x { STREAM <s> [NOW { ?x ?p ?o } }": '2:29: The "[" at 2:24 is not closed before "{". Try: ]',
    "SELECT ?x, ?y { STREAM <s> [NOW] { ?x ?p ?y } }": (
        "2:10: The columns of SELECT are separated by spaces, without commas. Try: SELECT ?a ?b"
    ),
    "SELECT ?x { STREAM <s> [NOW] { ?x ?p ?y } WINDOW <s> { ?x ?p ?y } }": (
        "2:50: There is no window :s. Try: FROM NAMED :S WIN [RANGE 10s] AS :s"
    ),
    "SELECT ?x FROM STREAM <s> [NOW] FROM STREAM <s> [] { STREAM <s> { ?x ?p ?y } }": (
        "2:54: FROM STREAM gives :s two windows, so this STREAM block must choose one. Try: STREAM :s [RANGE 10s] { … }"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1 { MATCH { E1 SEQ RECENT } }": (
        '2:100: MATCH needs an EVENT\'s name here, found "}". Try: MATCH { E1 SEQ E2 }'
    ),
    (
        "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS Start EVENT ON :w { ?x :p ?y"
        " } AS Finish { MATCH { Strat SEQ Finish } }"
    ): '2:124: There is no EVENT "Strat". Try: Start',
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1 { MATCH { FIRST } }": (
        '2:92: MATCH needs an EVENT\'s name here, found "}". Try: MATCH { E1 SEQ E2 }'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1 { MATCH { SEQ } }": (
        "2:86: SEQ belongs between two events. Try: E1 SEQ E2"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS E1 { MATCH { E1 SEQ E1 ) } }": (
        '2:96: This ")" has no opening bracket.'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?y } AS { MATCH { E1 } }": (
        '2:73: EVENT needs a name after AS, found "{". Try: AS E1'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w ?x :p ?y AS E1 { MATCH { E1 } }": (
        '2:57: Expected "{", found "?x". Try: {'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON { ?x :p ?y } AS E1 { MATCH { E1 } }": (
        '2:54: ON needs a window\'s name, found "{". Try: ON :w'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS { WINDOW :w { ?x :p ?y } }": (
        '2:42: AS needs a window\'s name, found "{". Try: AS :w'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW w { ?x :p ?y } }": (
        '2:54: A window\'s name is an IRI, found "w". Try: :w'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w FROM :g { ?x :p ?y FROM :g }": (
        "2:64: FROM must come before WHERE. Try: FROM … WHERE { … }"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w { ?x :p ?y REPORT ON CONTENT }": (
        "2:56: REPORT must come before WHERE. Try: REPORT … WHERE { … }"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w { ?x :p ?y WINDOW :w ?x }": ('2:66: Expected "{", found "?x". Try: {'),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS e:w { WINDOW e:w { ?x :p ?y } }": (
        '2:42: The prefix "e:" is not defined. Try: PREFIX e: <http://example.org/>'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } } LIMT 5": (
        '2:78: "LIMT" is not known here. Try: LIMIT'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y FILTER ?x > 5 } }": (
        '2:81: FILTER needs parentheses around its condition, found "?x". Try: FILTER(?x …)'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } BIND(1 AS ?x) }": (
        "2:76: BIND gives ?x a value, but the group has used ?x before. Try: a new name"
    ),
    "SELECT (1 AS ?x) FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } }": (
        "2:8: SELECT gives ?x a value, but WHERE has used ?x already. Try: a new name"
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5s] AS :w REPORT AT 5 WHERE { WINDOW :w { ?x :p ?y } }": (
        "2:56: AT 5 needs times that are ticks, and RANGE 5 SECONDS at 2:36 needs dates. Try: durations"
        " or dates in both"
    ),
    "SELECT ?x FROM NAMED :S WIN [FROM 5 TO 2024-05-06T07:00:00Z] AS :w WHERE { WINDOW :w { ?x :p ?y } }": (
        "2:40: TO 2024-05-06T07:00:00Z needs times that are dates, and FROM 5 at 2:35 needs ticks. Try: numbers in both"
    ),
    'SELECT ?x FROM NAMED :S WIN [LND "soon"] AS :w WHERE { WINDOW :w { ?x :p ?y } }': (
        '2:34: "soon" is not a time. Try: "2024-05-06T07:00:00Z"'
    ),
    'SELECT ?x FROM NAMED :S WIN [RANGE "soon"] AS :w WHERE { WINDOW :w { ?x :p ?y } }': (
        '2:36: "soon" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS'
    ),
    'SELECT ?x FROM NAMED :S WIN [RANGE "5"@en] AS :w WHERE { WINDOW :w { ?x :p ?y } }': (
        '2:36: "5"@en is not a length of time. Try: "PT10M"^^xsd:duration'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE ?n] AS :w WHERE { WINDOW :w { ?x :p ?y } }": (
        '2:36: RANGE needs a length of time, found "?n". Try: RANGE 10s'
    ),
    "SELECT ?x FROM NAMED :S WIN [RANGE 5 REPORT ON CLOSE] AS :w WHERE { WINDOW :w { ?x :p ?y } }": (
        "2:48: REPORT ON belongs after FROM, not in brackets. Try: REPORT ON CLOSE"
    ),
    "SELECT ?x FROM NAMED WINDOW ?w ON :S [RANGE 5] WHERE { WINDOW :w { ?x :p ?y } }": (
        "2:29: FROM NAMED WINDOW names one window, and ?w is a variable. Try: FROM NAMED WINDOW :w"
    ),
    "INSERT { ?x :p ?y } WHERE { }": '2:1: Expected SELECT, CONSTRUCT, ASK or REGISTER, found "INSERT".',
    "REGISTER RSTREM <q> AS SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }": (
        '2:10: "RSTREM" is not known here. Try: RSTREAM'
    ),
    'REGISTER STREAM "q" AS SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o }': (
        '2:17: REGISTER needs a name, which is a word or an IRI, found ""q"". Try: REGISTER QUERY name AS'
    ),
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] WITHIN 10 { ?s :p ?o }": (
        "2:46: WITHIN is not supported: a window says how far back the query looks. Try: FROM NAMED :S"
        " WIN [RANGE 10m] AS :w"
    ),
    "SELECT * FROM STREAM <s> [RANGE 10s STEP 4s] { ?s :p ?o MATCH { ?s :p ?o } }": (
        "2:65: MATCH names EVENTs, whose patterns come before WHERE. Try: EVENT ON :w { … } AS E1"
    ),
}

EVENTS = (
    "SELECT * FROM NAMED :S WIN [RANGE 5 SLIDE 2] AS :w EVENT ON :w { ?x :p ?z } AS E1 START ?s END ?e"
    " EVENT ON :w { ?y :q ?z } AS E2 START ?t END ?f WHERE { "
)
TIMES = "EVENT ON :w { … } AS E1 START ?s END ?e, and another AS E2 START ?t END ?f; "
RELATIONS = {  # of other languages: what MATCH has instead
    "BEFORE": "SEQ",
    "AFTER": "SEQ, with the earlier event first",
    "OPTIONALSEQ": "MATCH { E2 } OPTIONAL { MATCH { E1 SEQ E2 } }",
    "WITHOUT": "MATCH { E1 } FILTER NOT EXISTS { MATCH { E2 } }",
    "EQUALS": f"{TIMES}MATCH {{ E1 }} MATCH {{ E2 }} FILTER(?s = ?t && ?e = ?f)",
    "EQUALSOPTIONAL": f"{TIMES}MATCH {{ E1 }} OPTIONAL {{ MATCH {{ E2 }} FILTER(?s = ?t && ?e = ?f) }}",
    "DURING": f"{TIMES}MATCH {{ E1 }} MATCH {{ E2 }} FILTER(?t <= ?s && ?e <= ?f)",
    "meets": f"{TIMES}MATCH {{ E1 }} MATCH {{ E2 }} FILTER(?e = ?t)",
}
REFUSED |= {
    f"{EVENTS}MATCH {{ E1 {word} E2 }} }}": (
        f'2:165: "{word}" is not an operator of MATCH; a FILTER beside MATCH compares START and END. Try: {cure}'
    )
    for word, cure in RELATIONS.items()
}
REFUSED |= {
    f"{EVENTS}MATCH {{ {inside} }} }}": f"2:{column}: FILTER belongs beside MATCH, not in it."
    " Try: MATCH { E1 SEQ E2 } FILTER …"
    for inside, column in {"FILTER(?y>1) E1 SEQ E2": 162, "E1 SEQ FILTER(?y>1)": 169, "FILTER ?y E1": 162}.items()
}
REFUSED |= {
    f"{EVENTS}MATCH {{ E1 START ?a SEQ E2 }} }}": (
        "2:165: The times of an EVENT are bound where it is declared, before WHERE. Try: AS E1 START ?a"
    ),
    f"{EVENTS}MATCH {{ E1 SEQ E2 END }} }}": (
        "2:172: The times of an EVENT are bound where it is declared, before WHERE. Try: AS E2 END ?t"
    ),
    "REGISTER QUERY q COMPUTED EVERY 5 AS SELECT * FROM STREAM <s> [RANGE 5 STEP 2] REPORT ON CLOSE { ?s :p ?o }": (
        "2:80: COMPUTED EVERY at 2:18 is a REPORT already. Try: one of them"
    ),
}
CLOSING = "SELECT * FROM NAMED :S WIN [RANGE 5 SLIDE 2{0}] AS :w {1} {{ WINDOW :w {{ ?x :p ?z }} }}"
REFUSED |= {
    CLOSING.format("", "REPORT ON NON-EMPTY-CONTENT"): (
        '2:62: "NON-EMPTY-CONTENT" is not known here. Try: NON_EMPTY_CONTENT'
    ),
    CLOSING.format("", "REPORT ON NON_EMPTY"): '2:62: "NON_EMPTY" is not known here. Try: NON_EMPTY_CONTENT',
    CLOSING.format("", "REPORT non-empty"): '2:59: "non-empty" is not known here. Try: ON NON_EMPTY_CONTENT',
    CLOSING.format(" REPORT NON-EMPTY-CONTENT", ""): (
        '2:52: "NON-EMPTY-CONTENT" is not known here. Try: NON_EMPTY_CONTENT'
    ),
}

WARNED = {
    **{
        f"{EVENTS}MATCH {{ E1 SEQ E2 }} FILTER(?t - ?e <= {constant}) }}": [
            f"2:174: ?t - ?e can't be compared with {constant.partition('^')[0]}, which is {kind}. Try: {cure}"
        ]
        for constant, kind, cure in (
            ('"5s"', "a text", '"PT5S"^^xsd:dayTimeDuration'),
            ('"5 TICKS"', "a text", "5"),
            ('"soon"', "a text", '"PT10M"^^xsd:dayTimeDuration, or 10 where times are ticks'),
            (f'"PT5S"^^<{XSD}duration>', "an xsd:duration", '"PT5S"^^xsd:dayTimeDuration'),
        )
    },
    f'{EVENTS}MATCH {{ E1 SEQ E2 }} FILTER(?t - ?e <= "PT5S"^^<{XSD}dayTimeDuration> || ?t - ?e < 5) }}': [],
    "SELECT * FROM NAMED :S WIN [RANGE 5] AS :w { ?s ?p ?o } ": [
        (
            "2:41: No WINDOW block reads :w: triples outside are the default graph's, as in SPARQL. Try:"
            " WHERE { WINDOW :w { … } }"
        ),
    ],
    "SELECT ?x ?zz FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?z } AS E1 WHERE { MATCH { E1 } }": [
        "2:11: SELECT names ?zz, which nothing binds.",
    ],
    (
        "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w FROM NAMED :S WIN [RANGE 5] AS :v WHERE { WINDOW :w { ?x :p ?z } }"
    ): [
        "2:76: The window :v is never read. Try: WINDOW :v { … }",
    ],
    (
        "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?z } AS E1 EVENT ON :w { ?y :p ?z"
        " FILTER(?x > 5) } AS E2 WHERE { MATCH { E1 } }"
    ): [
        '2:119: No MATCH names the EVENT "E2". Try: MATCH { E2 }',
        (
            "2:106: FILTER names ?x, which its own group does not bind: there it has no value. Try:"
            " FILTER in the group that holds both"
        ),
    ],
    (
        "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w EVENT ON :w { ?x :p ?z } AS E1 WHERE { MATCH { E1 }"
        " FILTER(?z > 5 && ?q > 6) }"
    ): [
        "2:114: FILTER names ?q, which nothing binds.",
    ],
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { GRAPH :w { ?x :p ?z } WINDOW :w { ?x :p ?z } }": [
        "2:53: :w is a window, which GRAPH can't read. Try: WINDOW :w { … }",
    ],
    "CONSTRUCT { ?x :p ?q } FROM NAMED :S WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?z } }": [
        "2:19: The template names ?q, which nothing binds: its triple is left out.",
    ],
    "SELECT ?x FROM NAMED :S WIN [RANGE 5] AS :w WHERE { GRAPH :g { ?x :p ?z } }": [
        "2:42: The window :w is never read. Try: WINDOW :w { … }",
    ],
    "SELECT ?x FROM STREAM :S [RANGE 5 STEP 6] WHERE { ?x :p ?z }": [
        "2:35: STEP 6 is longer than RANGE 5: no window holds the events between.",
    ],
    "SELECT ?x COUNT(*) AS ?n FROM STREAM :S [RANGE 6 STEP 6] WHERE { ?x :p ?z } GROUP BY ?x": [
        (
            "2:11: SPARQL requires brackets around an aggregate and its name; this is read as if it"
            " had them. Try: (COUNT(*) AS ?n)"
        ),
    ],
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_its_place_and_a_cure(text: str) -> None:
    assert complaint(text) == REFUSED[text]


@pytest.mark.parametrize("cure", [each.removeprefix(TIMES) for each in RELATIONS.values() if "MATCH" in each])
def test_what_match_has_instead_of_a_relation_can_be_read(cure: str) -> None:
    assert parse(f"{P}{EVENTS}{cure} }}").warnings == ()


@pytest.mark.parametrize("text", WARNED)
def test_what_is_hardly_meant_is_told_in_warnings(text: str) -> None:
    assert [warning.removeprefix("query:") for warning in parse(P + text).warnings] == WARNED[text]


@pytest.mark.parametrize("prefix", ["f:", ":", "http"])
def test_rs_64_timestamp_is_refused_however_it_is_called(prefix: str) -> None:
    larkc = "http://larkc.eu/csparql/sparql/jena/ext#"
    called = f"<{larkc}timestamp>" if prefix == "http" else f"{prefix}timestamp"
    text = (
        f"PREFIX f: <{larkc}> SELECT * FROM STREAM <s> [RANGE 5 STEP 2] {{ ?x :p ?y FILTER({called}(?x,:p,?y) < 4) }}"
    )
    assert "C-SPARQL's timestamp() is not supported" in complaint(text)


def test_warnings_are_no_more_than_anyone_reads() -> None:
    windows = "".join(f"FROM NAMED :S WIN [RANGE 2 SLIDE 3] AS :w{number} " for number in range(200))
    assert len(parse(f"{P} SELECT * {windows} {{ }}").warnings) == WARNINGS


def test_a_source_is_named_in_errors_and_warnings() -> None:
    text = "SELECT ?z FROM NAMED <s> WIN AS <w> { WINDOW <w> { ?x ?y 1 } }"
    assert parse(text, source="q.rsepql").warnings[0].startswith("q.rsepql:1:8: ")
    with pytest.raises(QueryError, match=r"^q\.rsepql:1:1: DESCRIBE is not supported for RSEP-QL"):
        parse(text.replace("SELECT ?z", "DESCRIBE ?z"), source="q.rsepql")


@pytest.mark.parametrize("text", [*REFUSED, *WARNED])
def test_no_cut_or_doubled_word_breaks_the_parser(text: str) -> None:
    """Whatever is left of a text, or stands in it twice: it is read, or refused with a QueryError."""
    for index in range(0, len(text), 3):
        with suppress(QueryError):
            parse(P + text[:index])
    words = text.split()
    for index in range(len(words)):
        for changed in (
            words[:index] + words[index + 1 :],
            words[:index] + words[index : index + 1] * 2 + words[index:],
        ):
            with suppress(QueryError):
                parse(P + " ".join(changed))
