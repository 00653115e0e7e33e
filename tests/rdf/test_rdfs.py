"""RDFS reasoning (EP-55 to EP-57): over terms and over columns, against the six rules as they are written and against
owlrl."""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.columns.dictionary import Terms
from thence.errors import LimitError
from thence.match.rdfs_columns import SchemaArrays, SchemaColumns
from thence.rdf import rdfs
from thence.rdf.documents import Format, parse
from thence.rdf.rdfs import DOMAIN, RANGE, SCHEMA_PREDICATES, SUB_CLASS_OF, SUB_PROPERTY_OF, TYPE, Schema, closed
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

EX = "http://example.org/"

CLASSES = tuple(IRI(EX + name) for name in ("A", "B", "C"))
PROPERTIES = tuple(IRI(EX + name) for name in ("p", "q"))
THINGS = (IRI(EX + "x"), IRI(EX + "y"), BlankNode("z"))
LITERALS = (Literal("5", XSD + "integer"), Literal("five"))
VOCABULARY = (TYPE, SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE)


def t(subject: Term | str, predicate: Term | str, object: Term | str) -> Triple:
    """A triple; a text is a name at example.org."""
    return Triple(*(IRI(EX + term) if isinstance(term, str) else term for term in (subject, predicate, object)))


# the rules, as RDF 1.1 Semantics writes them


def by_one_rule(schema: Triple, fact: Triple) -> Iterator[Triple]:
    """What a schema triple and another triple entail by rdfs2, rdfs3, rdfs7 or rdfs9."""
    if schema.predicate == DOMAIN and fact.predicate == schema.subject:
        yield Triple(fact.subject, TYPE, schema.object)
    if schema.predicate == RANGE and fact.predicate == schema.subject:
        yield Triple(fact.object, TYPE, schema.object)
    if schema.predicate == SUB_PROPERTY_OF and fact.predicate == schema.subject:
        yield Triple(fact.subject, schema.object, fact.object)
    if schema.predicate == SUB_CLASS_OF and fact.predicate == TYPE and fact.object == schema.subject:
        yield Triple(fact.subject, TYPE, schema.object)


def by_transitivity(first: Triple, second: Triple) -> Iterator[Triple]:
    """What two schema triples entail by rdfs5 or rdfs11."""
    for predicate in (SUB_PROPERTY_OF, SUB_CLASS_OF):
        if first.predicate == second.predicate == predicate and first.object == second.subject:
            yield Triple(first.subject, predicate, second.object)


def is_rdf(triple: Triple) -> bool:
    return not isinstance(triple.subject, Literal) and isinstance(triple.predicate, IRI)


def fixpoint_of_background(triples: Iterable[Triple]) -> set[Triple]:
    found = set(triples)
    while True:
        schema = [each for each in found if each.predicate in SCHEMA_PREDICATES]
        steps = [each for link in schema for fact in found for each in by_one_rule(link, fact)]
        steps += [each for first in schema for second in schema for each in by_transitivity(first, second)]
        new = {*filter(is_rdf, steps)} - found
        if not new:
            return found
        found |= new


def fixpoint_of_stream(background: Iterable[Triple], triple: Triple) -> set[Triple]:
    """What a triple of the stream entails: the schema comes from the background only."""
    schema = [each for each in fixpoint_of_background(background) if each.predicate in SCHEMA_PREDICATES]
    found = {triple}
    while True:
        steps = {each for link in schema for fact in found for each in by_one_rule(link, fact)}
        new = {*filter(is_rdf, steps)} - found
        if not new:
            return found - {triple}
        found |= new


@cache
def six_rules_of_owlrl() -> type:
    """owlrl's RDFS without axioms and without the rules that are not ours. It derives these types for every triple, and
    its other rules need a type of rdfs:Class, rdfs:Datatype or the like, which no test has."""
    owlrl = pytest.importorskip("owlrl")
    from rdflib import RDF, RDFS, URIRef
    from rdflib import Literal as RdflibLiteral

    class SixRules(owlrl.RDFSClosure.RDFS_Semantics):  # type: ignore[misc,name-defined]
        def store_triple(self, triple: tuple[object, object, object]) -> None:
            subject, predicate, object = triple
            not_ours = predicate == RDF.type and object in (RDF.Property, RDFS.Resource)
            if not not_ours and not isinstance(subject, RdflibLiteral) and isinstance(predicate, URIRef):
                super().store_triple(triple)

    return SixRules


def closed_by_owlrl(triples: Iterable[Triple]) -> set[Triple]:
    from rdflib import BNode, Graph, URIRef
    from rdflib import Literal as RdflibLiteral

    def there(term: Term) -> object:
        match term:
            case IRI():
                return URIRef(term.value)
            case BlankNode():
                return BNode(term.value)
            case Literal():
                return RdflibLiteral(term.value, datatype=URIRef(term.datatype))

    def back(term: object) -> Term:
        match term:
            case URIRef():
                return IRI(str(term))
            case BNode():
                return BlankNode(str(term))
            case RdflibLiteral():
                return Literal(str(term), str(term.datatype))
        raise AssertionError(term)

    rules = six_rules_of_owlrl()
    graph = Graph()
    for triple in triples:
        graph.add(tuple(map(there, triple)))
    rules(graph, False, False, True).closure()
    return {Triple(*map(back, triple)) for triple in graph}


# random schemas


def triples_of(
    subjects: Sequence[Term], predicates: Sequence[Term], objects: Sequence[Term]
) -> st.SearchStrategy[Triple]:
    return st.builds(Triple, *map(st.sampled_from, (subjects, predicates, objects)))


USUAL = st.one_of(
    triples_of(CLASSES, (SUB_CLASS_OF,), CLASSES),
    triples_of(PROPERTIES, (SUB_PROPERTY_OF,), PROPERTIES),
    triples_of(PROPERTIES, (DOMAIN, RANGE), CLASSES),
)
"""Schema triples of every day."""

META = st.one_of(
    triples_of(
        (*PROPERTIES, *VOCABULARY), (SUB_PROPERTY_OF, *PROPERTIES), (*PROPERTIES, *VOCABULARY, *THINGS, *LITERALS)
    ),
    triples_of((*PROPERTIES, *VOCABULARY, BlankNode("z")), (DOMAIN, RANGE), (*CLASSES, *THINGS, *LITERALS)),
    triples_of((*CLASSES, *THINGS), (SUB_CLASS_OF, *PROPERTIES), (*CLASSES, *THINGS, *LITERALS)),
)
"""Schema triples about the vocabulary itself, about blank nodes and literals, and properties between classes."""

FACTS = st.one_of(
    triples_of((*THINGS, *CLASSES), PROPERTIES, (*THINGS, *CLASSES, *LITERALS)),
    triples_of((*THINGS, *CLASSES), (TYPE,), CLASSES),
)
STREAMS = st.lists(st.one_of(FACTS, FACTS, USUAL, META), min_size=2, max_size=6)


def background(schema: list[Triple], meta: list[Triple], facts: list[Triple]) -> list[Triple]:
    return [*schema, *meta, *facts]


BACKGROUNDS = st.builds(
    background, st.lists(USUAL, min_size=2, max_size=6), st.lists(META, max_size=4), st.lists(FACTS, max_size=3)
)


@given(BACKGROUNDS)
def test_a_closed_background_is_the_fixpoint_of_the_six_rules(background: list[Triple]) -> None:
    assert closed(background) == fixpoint_of_background(background)


@given(BACKGROUNDS)
def test_owlrl_closes_a_background_in_the_same_way(background: list[Triple]) -> None:
    assert closed(background) == closed_by_owlrl(background)


@given(BACKGROUNDS, STREAMS)
def test_a_stream_triple_entails_the_fixpoint_under_the_background_s_schema(
    background: list[Triple], stream: list[Triple]
) -> None:
    schema = Schema.of(background)
    for triple in stream:
        entailed = schema.entailed(triple)
        assert set(entailed) == fixpoint_of_stream(background, triple)
        assert len(set(entailed)) == len(entailed)


@given(BACKGROUNDS)
def test_the_schema_of_a_closed_background_is_the_same(background: list[Triple]) -> None:
    first, second = Schema.of(background), Schema.of(closed(background))
    assert set(first.hierarchies()) == set(second.hierarchies())
    for predicate in (*PROPERTIES, *VOCABULARY):
        assert first.entailed_predicates(predicate) == second.entailed_predicates(predicate)
        assert set(first.domains(predicate)) == set(second.domains(predicate))
        assert set(first.ranges(predicate)) == set(second.ranges(predicate))


@given(BACKGROUNDS, STREAMS)
def test_the_predicates_that_may_be_entailed_are_known_before(background: list[Triple], stream: list[Triple]) -> None:
    schema = Schema.of(background)
    for triple in stream:
        predicates = {each.predicate for each in schema.entailed(triple)}
        assert predicates <= schema.entailed_predicates(triple.predicate)
        if not schema.derives_schema(triple.predicate):
            assert SCHEMA_PREDICATES.isdisjoint({triple.predicate, *predicates})


# over columns


def in_columns(columns: SchemaColumns, triples: Sequence[Triple]) -> list[tuple[Triple, ...]]:
    """What each triple entails, over columns."""
    terms = columns.terms
    ids = [terms.add_all(each[place] for each in triples) for place in range(3)]
    rows, *parts = columns.inferred(*ids)
    assert [rows.dtype, *(part.dtype for part in parts)] == [np.int64, np.int32, np.int32, np.int32]
    assert np.all(np.diff(rows) >= 0)
    found: list[list[Triple]] = [[] for _ in triples]
    for row, *inferred in zip(rows.tolist(), *(part.tolist() for part in parts), strict=True):
        found[row].append(Triple(*(terms[i] for i in inferred)))
    return [tuple(each) for each in found]


@pytest.mark.numba
@given(BACKGROUNDS, STREAMS, STREAMS)
def test_columns_entail_what_terms_do_as_the_dictionary_grows(
    background: list[Triple], first: list[Triple], second: list[Triple]
) -> None:
    schema = Schema.of(background)
    columns = SchemaColumns(schema, Terms())
    assert in_columns(columns, first) == [schema.entailed(each) for each in first]
    columns.terms.add(IRI(EX + "something else"))
    assert in_columns(columns, second) == [schema.entailed(each) for each in second]


@pytest.mark.numba
def test_the_arrays_of_a_schema_serve_several_dictionaries() -> None:
    schema = Schema.of([t("A", SUB_CLASS_OF, "B")])
    arrays = SchemaArrays.of(schema)
    for names in (["x"], ["y", "B", "A"]):
        terms = Terms()
        terms.add_all(IRI(EX + name) for name in names)
        assert in_columns(SchemaColumns(arrays, terms), [t("x", TYPE, "A")]) == [(t("x", TYPE, "B"),)]


def test_each_new_term_is_looked_up_once() -> None:
    terms, schema = Terms(), Terms()
    ids = terms.add_all([IRI(EX + name) for name in "ABA"])
    schema.add_all([IRI(EX + name) for name in "CB"])
    known = np.full(len(terms), -1, np.int32)
    assert schema.look_up(terms, ids, known, unknown=-1, missing=9).tolist() == [9, 1, 9]
    known[0] = 5  # what is noted, right or wrong, is not asked again
    assert schema.look_up(terms, ids, known, unknown=-1, missing=9).tolist() == [5, 1, 5]


# what patterns see


SLOTS = st.sampled_from([Variable("v"), Variable("w"), *CLASSES, *THINGS[:2], LITERALS[0]])
PATTERNS = st.lists(
    st.builds(TriplePattern, SLOTS, st.sampled_from([Variable("w"), TYPE, *PROPERTIES]), SLOTS), min_size=1, max_size=3
)


@pytest.mark.numba
@given(BACKGROUNDS, STREAMS, PATTERNS)
def test_what_patterns_see_of_a_schema_entails_all_that_they_match(
    background: list[Triple], stream: list[Triple], patterns: list[TriplePattern]
) -> None:
    schema = Schema.of(background)
    whole, seen = SchemaArrays.of(schema), SchemaArrays.of(schema).seen_by(patterns)
    for pattern in patterns:
        found = []
        for arrays in (whole, seen):
            inferred = in_columns(SchemaColumns(arrays, Terms()), stream)
            found.append([[each for each in some if _matches(pattern, each)] for some in inferred])
        assert [set(each) for each in found[0]] == [set(each) for each in found[1]]
        assert all(len(set(each)) == len(each) for each in found[1])


def _matches(pattern: TriplePattern, triple: Triple) -> bool:
    bound: dict[object, Term] = {}
    slots = (pattern.subject, pattern.predicate, pattern.object)
    return all(
        bound.setdefault(slot, term) == term if isinstance(slot, Variable) else slot == term
        for slot, term in zip(slots, triple, strict=True)
    )


# one by one


def test_a_range_types_no_literal() -> None:
    schema = Schema.of([t("age", RANGE, "Age"), t("age", DOMAIN, "Person")])
    assert schema.entailed(t("ann", "age", Literal("5", XSD + "integer"))) == (t("ann", TYPE, "Person"),)
    assert set(schema.entailed(t("ann", "age", BlankNode("b")))) == {
        t("ann", TYPE, "Person"),
        t(BlankNode("b"), TYPE, "Age"),
    }


def test_a_super_property_brings_its_domain_range_and_superclasses() -> None:
    schema = Schema.of(
        [
            t("drives", SUB_PROPERTY_OF, "uses"),
            t("uses", DOMAIN, "Agent"),
            t("uses", RANGE, "Tool"),
            t("Agent", SUB_CLASS_OF, "Thing"),
        ]
    )
    assert set(schema.entailed(t("ann", "drives", "bus"))) == {
        t("ann", "uses", "bus"),
        t("ann", TYPE, "Agent"),
        t("ann", TYPE, "Thing"),
        t("bus", TYPE, "Tool"),
    }
    assert schema.domains(IRI(EX + "drives")) == (IRI(EX + "Agent"), IRI(EX + "Thing"))
    assert schema.ranges(IRI(EX + "drives")) == (IRI(EX + "Tool"),)
    assert schema.superproperties[IRI(EX + "drives")] == (IRI(EX + "uses"),)


def test_a_sub_property_of_type_is_a_type() -> None:
    schema = Schema.of([t("isA", SUB_PROPERTY_OF, TYPE), t("Cat", SUB_CLASS_OF, "Animal")])
    assert schema.entailed(t("tom", "isA", "Cat")) == (t("tom", TYPE, "Cat"), t("tom", TYPE, "Animal"))


def test_a_range_of_type_types_the_class_at_the_time_of_the_instance() -> None:
    schema = Schema.of([t(TYPE, RANGE, "Class"), t("Cat", SUB_CLASS_OF, "Animal")])
    assert set(schema.entailed(t("tom", TYPE, "Cat"))) == {
        t("tom", TYPE, "Animal"),
        *(t(name, TYPE, "Class") for name in ("Cat", "Animal", "Class")),
    }


def test_a_literal_class_is_not_typed() -> None:
    schema = Schema.of([t("p", DOMAIN, Literal("A")), t(TYPE, RANGE, "Class"), t("B", SUB_CLASS_OF, Literal("A"))])
    assert set(schema.entailed(t("x", "p", "y"))) == {t("x", TYPE, Literal("A"))}
    types = {t("x", TYPE, Literal("A")), t("B", TYPE, "Class"), t("Class", TYPE, "Class")}
    assert set(schema.entailed(t("x", TYPE, "B"))) == types
    assert in_columns(SchemaColumns(schema, Terms()), [t("x", TYPE, "B")]) == [schema.entailed(t("x", TYPE, "B"))]


def test_a_triple_that_follows_twice_is_entailed_once() -> None:
    background = [t("p", DOMAIN, "A"), t("p", RANGE, "A"), t("q", SUB_PROPERTY_OF, TYPE), t("q", DOMAIN, "A")]
    schema = Schema.of([*background, t("B", SUB_CLASS_OF, "A")])
    stream = [t("x", "p", "x"), t("x", "q", "B"), t("x", "q", "A"), t("x", TYPE, "A")]
    entailed = [
        (t("x", TYPE, "A"),),
        (t("x", TYPE, "B"), t("x", TYPE, "A")),
        (t("x", TYPE, "A"),),
        (),
    ]
    assert [schema.entailed(each) for each in stream] == entailed
    assert in_columns(SchemaColumns(schema, Terms()), stream) == entailed


def test_schema_in_the_stream_is_plain_data() -> None:
    """EP-56: it triggers nothing, and the background's schema entails nothing schematic of it."""
    schema = Schema.of([t("B", SUB_CLASS_OF, "C")])
    assert schema.entailed(t("A", SUB_CLASS_OF, "B")) == ()
    assert schema.entailed(t("x", TYPE, "A")) == ()


def test_the_background_s_own_words_for_schema_are_schema() -> None:
    background = [t("kindOf", SUB_PROPERTY_OF, SUB_CLASS_OF), t("Cat", "kindOf", "Animal"), t("tom", TYPE, "Cat")]
    assert closed(background) - {*background} == {t("Cat", SUB_CLASS_OF, "Animal"), t("tom", TYPE, "Animal")}
    schema = Schema.of(background)
    assert schema.entailed(t("kit", TYPE, "Cat")) == (t("kit", TYPE, "Animal"),)
    assert schema.derives_schema(IRI(EX + "kindOf"))


def test_schema_may_take_several_rounds_to_appear() -> None:
    names = [f"p{i}" for i in range(6)]
    background = [t(names[0], SUB_PROPERTY_OF, SUB_PROPERTY_OF)]
    background += [t(upper, lower, SUB_PROPERTY_OF) for lower, upper in pairwise(names)]
    background += [t("q", names[-1], "r")]
    assert t("q", SUB_PROPERTY_OF, "r") in closed(background)
    assert closed(background) == fixpoint_of_background(background)
    assert Schema.of(background).entailed(t("x", "q", "y")) == (t("x", "r", "y"),)


def test_schema_that_follows_from_a_transitive_super_property_is_schema() -> None:
    node = BlankNode("b")  # of which no triple is the predicate, so that nothing follows step by step
    background = [
        t(SUB_PROPERTY_OF, SUB_PROPERTY_OF, DOMAIN),
        t("p", SUB_PROPERTY_OF, node),
        t(node, SUB_PROPERTY_OF, "r"),
    ]
    assert t("p", DOMAIN, "r") in closed(background)
    entailed = {t("x", "r", "y"), t("x", TYPE, node), t("x", TYPE, "r")}
    assert set(Schema.of(background).entailed(t("x", "p", "y"))) == entailed


@pytest.mark.parametrize("predicate", [SUB_CLASS_OF, SUB_PROPERTY_OF])
def test_what_is_in_a_cycle_is_above_itself_and_nothing_else_is(predicate: IRI) -> None:
    background = [t("A", predicate, "B"), t("B", predicate, "A"), t("C", predicate, "A")]
    pairs = {(each.subject.value[-1], each.object.value[-1]) for each in closed(background)}
    assert pairs == {("A", "A"), ("A", "B"), ("B", "A"), ("B", "B"), ("C", "A"), ("C", "B")}


def test_in_a_cycle_an_instance_entails_the_other_classes() -> None:
    schema = Schema.of([t("A", SUB_CLASS_OF, "B"), t("B", SUB_CLASS_OF, "A")])
    assert schema.entailed(t("x", TYPE, "A")) == (t("x", TYPE, "B"),)


def test_a_predicate_is_an_iri() -> None:
    """What would have a blank node or a literal as its predicate is not a triple, and entails nothing."""
    node = BlankNode("b")
    schema = Schema.of([t("p", SUB_PROPERTY_OF, node), t(node, SUB_PROPERTY_OF, "q"), t(node, DOMAIN, "A")])
    assert schema.entailed(t("x", "p", "y")) == (t("x", "q", "y"),)


def test_what_derives_schema_is_named_before_it_runs() -> None:
    schema = Schema.of(
        [t("kindOf", SUB_PROPERTY_OF, SUB_CLASS_OF), t("sortOf", SUB_PROPERTY_OF, "kindOf"), t("p", DOMAIN, "A")]
    )
    derive = [str(each) for each in (*SCHEMA_PREDICATES, IRI(EX + "kindOf"), IRI(EX + "sortOf"))]
    known = (*VOCABULARY, *(IRI(EX + name) for name in ("kindOf", "sortOf", "p", "q")))
    assert sorted(str(each) for each in known if schema.derives_schema(each)) == sorted(derive)
    assert schema.entailed_predicates(IRI(EX + "p")) == {TYPE}
    assert schema.entailed_predicates(TYPE) == {TYPE}
    assert schema.entailed_predicates(IRI(EX + "q")) == frozenset()
    assert schema.entailed_predicates(IRI(EX + "sortOf")) == {IRI(EX + "kindOf"), SUB_CLASS_OF}


def test_no_schema_entails_nothing() -> None:
    schema = Schema.of([])
    assert schema.entailed(t("x", TYPE, "A")) == ()
    assert closed([t("x", TYPE, "A")]) == {t("x", TYPE, "A")}
    assert in_columns(SchemaColumns(schema, Terms()), [t("x", TYPE, "A"), t("x", "p", "y")]) == [(), ()]
    assert in_columns(SchemaColumns(schema, Terms()), []) == []


def test_a_schema_travels() -> None:
    schema = Schema.of([t("p", DOMAIN, "A"), t("p", RANGE, "B"), t("A", SUB_CLASS_OF, "B")])
    sent = pickle.loads(pickle.dumps(schema))
    for triple in (t("x", "p", "y"), t("x", TYPE, "A")):
        assert sent.entailed(triple) == schema.entailed(triple)


def test_a_hierarchy_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfs, "MAX_PAIRS", 9)
    chain = [t(f"c{i}", SUB_CLASS_OF, f"c{i + 1}") for i in range(4)]
    assert len(closed(chain[:3])) == 6
    with pytest.raises(LimitError, match=r"rdfs:subClassOf has more than 9 pairs.* Try: "):
        Schema.of(chain)


# large hierarchies


def tree(classes: int, depth: int) -> list[Triple]:
    """A tree of so many subclasses below `c0`, with as many at each depth."""
    width = classes // depth
    parents = [0] * width + list(range(1, classes - width + 1))
    return [t(f"c{i}", SUB_CLASS_OF, f"c{parent}") for i, parent in enumerate(parents, 1)]


class Counting(dict[Term, object]):
    """A dictionary that counts its lookups."""

    lookups = 0

    def get(self, key: Term, default: object = None) -> object:  # type: ignore[override]
        self.lookups += 1
        return super().get(key, default)


@cache
def large() -> Schema:
    return Schema.of(tree(40_080, 8))


def test_a_type_in_a_large_hierarchy_costs_a_lookup_of_its_predicate_and_one_of_its_class() -> None:
    schema = large()
    assert len(schema.superclasses) == 40_080
    assert sum(map(len, schema.superclasses.values())) == 5_010 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8)
    superclasses, consequences = Counting(schema.superclasses), Counting(schema.consequences)
    counted = replace(schema, superclasses=superclasses, consequences=consequences)  # type: ignore[arg-type]
    stream = [t(f"x{i}", TYPE, f"c{40_080 - i}") for i in range(1_000)] + [t("x", "p", f"c{i}") for i in range(1_000)]
    found = [counted.entailed(triple) for triple in stream]
    assert (consequences.lookups, superclasses.lookups) == (2_000, 1_000)
    assert {len(each) for each in found[:1_000]} == {8} and {len(each) for each in found[1_000:]} == {0}
    parents = [40_080 - 5_010 * i for i in range(1, 8)]
    assert found[0] == tuple(t("x0", TYPE, f"c{parent}") for parent in (*parents, 0))


@pytest.mark.numba
def test_columns_of_types_in_a_large_hierarchy_entail_all_superclasses() -> None:
    schema = large()
    stream = [t(f"x{i % 7}", TYPE, f"c{i}") for i in range(0, 40_081, 13)]
    assert in_columns(SchemaColumns(schema, Terms()), stream) == [schema.entailed(each) for each in stream]


def test_a_large_background_is_closed() -> None:
    instances = [t(f"x{i}", TYPE, f"c{i}") for i in range(1, 40_081)]
    pairs = 5_010 * 36
    assert len(closed([*tree(40_080, 8), *instances])) == pairs + 40_080 + pairs


def plants() -> Path | None:
    folder = os.environ.get("THENCE_DATA")
    path = Path(folder) / "vascular_plants" / "subclass_40080.nt.gz" if folder else None
    return path if path and path.is_file() else None


@pytest.mark.skipif(
    plants() is None, reason="the plants are not here: THENCE_DATA must name the folder that holds them"
)
def test_the_vascular_plants_are_a_schema() -> None:
    path = plants()
    assert path is not None
    with gzip.open(path) as file:
        triples = [Triple(*quad[:3]) for quad in parse(file.read(), Format.N_TRIPLES)]
    schema = Schema.of(triples)
    assert len(schema.superclasses) == 40_080
    depths = {len(above) for above in schema.superclasses.values()}
    assert depths == {1, 2, 3, 4}
    root = triples[0].object
    assert all(above[-1] == root for above in schema.superclasses.values())
