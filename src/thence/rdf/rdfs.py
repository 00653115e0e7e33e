"""RDFS reasoning (EP-55 to EP-57): `Schema`, compiled from the background, says what a triple entails.

The rules are rdfs2, rdfs3, rdfs5, rdfs7, rdfs9 and rdfs11 of RDF 1.1 Semantics, section 9.2.1, applied to the fixpoint.
A rule gives only triples that RDF allows: a literal is not a subject, and a predicate is an IRI.

rdfs5 and rdfs11 have two premises of the schema; the other rules have one of the schema and one of the data. The schema
comes from the background only (EP-56), so each stream triple entails what it does by itself: by its predicate, and by
its class where it is a type.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from thence.errors import LimitError
from thence.rdf.terms import IRI, RDF, RDFS, Literal, Term, Triple

TYPE = IRI(RDF + "type")
SUB_CLASS_OF = IRI(RDFS + "subClassOf")
SUB_PROPERTY_OF = IRI(RDFS + "subPropertyOf")
DOMAIN = IRI(RDFS + "domain")
RANGE = IRI(RDFS + "range")

SCHEMA_PREDICATES: frozenset[Term] = frozenset({SUB_CLASS_OF, SUB_PROPERTY_OF, DOMAIN, RANGE})
"""The predicates of schema triples."""

MAX_PAIRS = 1 << 24
"""The most pairs of one hierarchy: of a class and a superclass, or of a property and a super-property."""

Hierarchy: TypeAlias = Mapping[Term, tuple[Term, ...]]


class Position(Enum):
    """The position of an entailed triple's term in the triple that entails it."""

    SUBJECT = "subject"
    OBJECT = "object"


class Template(NamedTuple):
    """An entailed triple: terms, and positions in the triple that entails it."""

    subject: Term | Position
    predicate: IRI
    object: Term | Position

    def of(self, subject: Term, object: Term) -> Triple:
        """The triple that a triple with this subject and this object entails."""
        return Triple(_filled(self.subject, subject, object), self.predicate, _filled(self.object, subject, object))


def _filled(part: Term | Position, subject: Term, object: Term) -> Term:
    if part is Position.SUBJECT:
        return subject
    return object if part is Position.OBJECT else part


@dataclass(frozen=True, slots=True)
class Consequences:
    """The triples that a triple entails by its predicate. `typed`: the predicate is rdf:type or a sub-property of it,
    so the triple also entails types by its object's superclasses."""

    of_resource: tuple[Template, ...]  # where its object is an IRI or a blank node
    of_literal: tuple[Template, ...]  # where its object is a literal: some of the same
    typed: bool

    def templates(self, object: Term) -> tuple[Template, ...]:
        return self.of_literal if isinstance(object, Literal) else self.of_resource


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The schema triples of a background and of all that it entails, compiled.

    >>> def iri(name): return IRI("http://example.org/" + name)
    >>> schema = Schema.of([
    ...     Triple(iri("drives"), SUB_PROPERTY_OF, iri("uses")),
    ...     Triple(iri("drives"), DOMAIN, iri("Driver")),
    ...     Triple(iri("Driver"), SUB_CLASS_OF, iri("Person")),
    ... ])
    >>> for triple in schema.entailed(Triple(iri("ann"), iri("drives"), iri("bus"))): print(*triple)
    <http://example.org/ann> <http://example.org/uses> <http://example.org/bus>
    <http://example.org/ann> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Driver>
    <http://example.org/ann> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Person>
    """

    superproperties: Hierarchy
    """All super-properties of a property; the property itself only if it is in a cycle (rdfs5)."""
    superclasses: Hierarchy
    """All superclasses of a class; the class itself only if it is in a cycle (rdfs11)."""
    consequences: Mapping[Term, Consequences]
    """The consequences of a triple, by its predicate. rdf:type is always here; a predicate that is not here entails
    nothing."""

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Schema:
        """The schema of a background. The background need not be closed: schema triples that it entails count
        (EP-56)."""
        by_predicate: dict[Term, list[Triple]] = {}
        for triple in triples:
            by_predicate.setdefault(triple.predicate, []).append(triple)
        links = dict.fromkeys(link for each in by_predicate.keys() & SCHEMA_PREDICATES for link in by_predicate[each])
        while True:
            schema = _compiled(links)
            known = len(links)
            links.update(dict.fromkeys(schema._entailed_links(by_predicate)))
            if len(links) == known:
                return schema

    def entailed(self, triple: Triple) -> tuple[Triple, ...]:
        """The triples that a triple entails under this schema, without the triple itself: rdfs2, rdfs3, rdfs7 and rdfs9
        (EP-57)."""
        consequences = self.consequences.get(triple.predicate)
        if consequences is None:
            return ()
        subject, _, object = triple
        triples = [template.of(subject, object) for template in consequences.templates(object)]
        if consequences.typed:
            superclasses = self.superclasses.get(object, ())
            triples += [Triple(subject, TYPE, each) for each in superclasses]
            of_type = self.consequences[TYPE]
            if of_type.of_resource:
                triples += [template.of(subject, each) for each in superclasses for template in of_type.templates(each)]
        distinct = dict.fromkeys(triples)
        distinct.pop(triple, None)
        return tuple(distinct)

    def closed(self, triples: Iterable[Triple]) -> set[Triple]:
        """The background of this schema, with all that it entails (EP-39, EP-55)."""
        closure = {*triples, *self.hierarchies()}
        by_rules = [triple for triple in closure if triple.predicate in self.consequences]
        for triple in by_rules:
            closure.update(self.entailed(triple))
        return closure

    def hierarchies(self) -> Iterator[Triple]:
        """All triples with rdfs:subClassOf and rdfs:subPropertyOf, including those of rdfs5 and rdfs11."""
        for predicate in (SUB_PROPERTY_OF, SUB_CLASS_OF):
            yield from self._hierarchy(predicate)

    def _hierarchy(self, predicate: Term) -> Iterator[Triple]:
        by_predicate: dict[Term, Hierarchy] = {SUB_PROPERTY_OF: self.superproperties, SUB_CLASS_OF: self.superclasses}
        pairs = by_predicate.get(predicate, {})
        return (Triple(lower, predicate, upper) for lower, uppers in pairs.items() for upper in uppers)

    def entailed_predicates(self, predicate: Term) -> frozenset[IRI]:
        """The predicates of the triples that a triple with this predicate may entail (EP-51)."""
        consequences = self.consequences.get(predicate)
        if consequences is None:
            return frozenset()
        typed = {TYPE} if consequences.typed else set()
        return frozenset({*typed, *(template.predicate for template in consequences.of_resource)})

    def derives_schema(self, predicate: Term) -> bool:
        """Whether a triple with this predicate is schema, or entails schema (EP-56)."""
        return predicate in SCHEMA_PREDICATES or not SCHEMA_PREDICATES.isdisjoint(self.entailed_predicates(predicate))

    def domains(self, predicate: Term) -> tuple[Term, ...]:
        """The classes that a triple with this predicate entails for its subject, whatever its object is."""
        return self._classes(predicate, Position.SUBJECT)

    def ranges(self, predicate: Term) -> tuple[Term, ...]:
        """The classes that a triple with this predicate entails for its object, unless that is a literal."""
        return self._classes(predicate, Position.OBJECT)

    def _classes(self, predicate: Term, position: Position) -> tuple[Term, ...]:
        consequences = self.consequences.get(predicate)
        templates = consequences.of_resource if consequences else ()
        return tuple(
            each.object
            for each in templates
            if each.subject is position and each.predicate == TYPE and not isinstance(each.object, Position)
        )

    def _entailed_links(self, by_predicate: Mapping[Term, list[Triple]]) -> Iterator[Triple]:
        """The schema triples that other schema triples entail, as `:isA rdfs:subPropertyOf rdfs:subClassOf` does."""
        for predicate in dict.fromkeys([*by_predicate, SUB_PROPERTY_OF, SUB_CLASS_OF]):
            if SCHEMA_PREDICATES.isdisjoint(self.entailed_predicates(predicate)):
                continue
            for triple in (*by_predicate.get(predicate, ()), *self._hierarchy(predicate)):
                yield from (each for each in self.entailed(triple) if each.predicate in SCHEMA_PREDICATES)


def closed(triples: Iterable[Triple]) -> set[Triple]:
    """A background with all that it entails (EP-39, EP-55).

    >>> a, b, c = (IRI("http://example.org/" + name) for name in "abc")
    >>> len(closed([Triple(a, SUB_CLASS_OF, b), Triple(b, SUB_CLASS_OF, c), Triple(c, TYPE, a)]))
    6
    """
    listed = list(triples)
    return Schema.of(listed).closed(listed)


def _compiled(links: Iterable[Triple]) -> Schema:
    """The schema of schema triples that entail each other only by rdfs5 and rdfs11."""
    direct: dict[Term, dict[Term, list[Term]]] = {predicate: {} for predicate in SCHEMA_PREDICATES}
    for subject, predicate, object in links:
        direct[predicate].setdefault(subject, []).append(object)
    rules = _Rules(
        superproperties=_transitive(direct[SUB_PROPERTY_OF], "rdfs:subPropertyOf"),
        superclasses=_transitive(direct[SUB_CLASS_OF], "rdfs:subClassOf"),
        domains=direct[DOMAIN],
        ranges=direct[RANGE],
    )
    consequences: dict[Term, Consequences] = {}
    for predicate in (TYPE, *rules.superproperties, *rules.domains, *rules.ranges):
        if isinstance(predicate, IRI) and predicate not in consequences:
            consequences[predicate] = rules.consequences(predicate)
    return Schema(rules.superproperties, rules.superclasses, consequences)


def _transitive(direct: Mapping[Term, list[Term]], name: str) -> Hierarchy:
    """All terms above each term, the nearest first; the term itself only if it is in a cycle."""
    above: dict[Term, tuple[Term, ...]] = {}
    pairs = 0
    for term, nearest in direct.items():
        ancestors = dict.fromkeys(nearest)
        queue = deque(ancestors)
        while queue:
            for each in direct.get(queue.popleft(), ()):
                if each not in ancestors:
                    ancestors[each] = None
                    queue.append(each)
            if pairs + len(ancestors) > MAX_PAIRS:
                raise LimitError(
                    f"background: the transitive closure of {name} has more than {MAX_PAIRS:,} pairs (rdfs5, rdfs11). "
                    "Try: a less deep hierarchy, or the query without reasoning."
                )
        pairs += len(ancestors)
        above[term] = tuple(ancestors)
    return above


@dataclass(frozen=True, slots=True)
class _Rules:
    """The four rules that have a premise of the data, over templates."""

    superproperties: Hierarchy
    superclasses: Hierarchy
    domains: Mapping[Term, list[Term]]
    ranges: Mapping[Term, list[Term]]

    def consequences(self, predicate: IRI) -> Consequences:
        given = Template(Position.SUBJECT, predicate, Position.OBJECT)
        of_resource = self._fixpoint(given, literal=False)
        typed = Template(Position.SUBJECT, TYPE, Position.OBJECT) in {given, *of_resource}
        return Consequences(of_resource, self._fixpoint(given, literal=True), typed)

    def _fixpoint(self, given: Template, *, literal: bool) -> tuple[Template, ...]:
        closure = {given: None}
        queue = deque(closure)
        while queue:
            for each in self._step(queue.popleft(), literal=literal):
                if each not in closure:
                    closure[each] = None
                    queue.append(each)
        del closure[given]
        return tuple(closure)

    def _step(self, template: Template, *, literal: bool) -> Iterator[Template]:
        """The triples that follow in one step; `literal`: the object of the given triple is a literal."""
        subject, predicate, object = template
        for each in self.superproperties.get(predicate, ()):  # rdfs7
            if isinstance(each, IRI):
                yield Template(subject, each, object)
        for each in self.domains.get(predicate, ()):  # rdfs2
            yield Template(subject, TYPE, each)
        if not (literal if object is Position.OBJECT else isinstance(object, Literal)):
            for each in self.ranges.get(predicate, ()):  # rdfs3
                yield Template(object, TYPE, each)
        if predicate == TYPE and not isinstance(object, Position):
            for each in self.superclasses.get(object, ()):  # rdfs9
                yield Template(subject, TYPE, each)
