"""xsd:, rdf:, rdfs: and owl: are known without PREFIX in every language; a query's own PREFIX overrides them."""

from __future__ import annotations

import pytest

import thence

SPASEQ = """SELECT ?x FROM STREAM S <x:s> { SEQ (A) DEFINE GPM A ON S {
?x rdf:type owl:Thing ; rdfs:label ?l FILTER(datatype(?l) = xsd:string) } }"""
EP_SPARQL = "SELECT ?x WHERE { ?x rdf:type owl:Thing ; rdfs:label ?l FILTER(datatype(?l) = xsd:string) }"
RSEP_QL = """SELECT ?x FROM NAMED WINDOW <x:w> ON <x:s> [RANGE 10 STEP 1]
WHERE { WINDOW <x:w> { ?x rdf:type owl:Thing ; rdfs:label ?l FILTER(datatype(?l) = xsd:string) } }"""
TEF_SPARQL = "SELECT ?x WHERE ?x rdfs:label ?l, datatype(?l) = xsd:string"
SASE = "PATTERN ANY a WHERE a.rdfs:label = 'x' RETURN a.rdfs:label AS x"
LANGUAGES = {"spaseq": SPASEQ, "ep-sparql": EP_SPARQL, "rsep-ql": RSEP_QL, "tef-sparql": TEF_SPARQL, "sase+": SASE}


@pytest.mark.parametrize("language", LANGUAGES)
def test_known_prefixes_need_no_declaration(language: str) -> None:
    owl, rdfs = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
    event = thence.Event(1, f'<x:a> a <{owl}Thing> ; <{rdfs}label> "x" .')
    assert len(list(thence.parse(LANGUAGES[language], language=language).match([event]))) > 0
    own = f"PREFIX rdfs: <x:>\n{LANGUAGES[language]}"
    assert list(thence.parse(own, language=language).match([event])) == []
    with pytest.raises(thence.QueryError, match='The prefix "foaf:" is not defined'):
        thence.parse(LANGUAGES[language].replace("rdfs:", "foaf:"), language=language)
