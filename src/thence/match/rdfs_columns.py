"""RDFS reasoning over columns of ids (EP-55 to EP-57): what triples entail, and the background closed under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import Terms
from thence.columns.hashing import without_duplicates
from thence.match.background import Background
from thence.rdf.rdfs import TYPE, Consequences, Position, Schema, Template
from thence.rdf.terms import BlankNode, Term, Triple

# RDFS reasoning over columns of ids (EP-55 to EP-57): what each triple entails, all of them at once.

SUBJECT, OBJECT = -1, -2
"""In a template, instead of an id: the term at that position of the triple that entails it."""

UNKNOWN = -1
"""An id that has not been translated yet."""


class InferredTriples(NamedTuple):
    """Triples that others entail, by those others' rows. `rows`: which triple each follows from."""

    rows: Ints
    subjects: Ids
    predicates: Ids
    objects: Ids


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """Lists of numbers, end to end: list i is at `offsets[i]:offsets[i+1]`."""

    offsets: Ints

    @classmethod
    def of(cls, lengths: Sequence[int]) -> _Lists:
        return cls(np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]))

    def places(self, lists: Ints) -> tuple[Ints, Ints]:
        """The places of all members of some lists; and of which each is a member, by its index in `lists`."""
        starts = self.offsets[lists]
        lengths = self.offsets[lists + 1] - starts
        ends = np.cumsum(lengths)
        members = np.repeat(np.arange(len(lists)), lengths)
        return members, np.arange(len(members)) + (starts - ends + lengths)[members]

    def kept(self, members: NDArray[np.bool_]) -> _Lists:
        """The lists without some members."""
        return _Lists(np.concatenate([np.zeros(1, np.int64), np.cumsum(members, dtype=np.int64)])[self.offsets])


@dataclass(frozen=True, slots=True, eq=False)
class SchemaArrays:
    """A schema as arrays, in the ids of a dictionary of its own. The id `absent` stands for every other term."""

    terms: Terms
    templates: _Lists  # two lists an id: of a triple with this predicate and no literal as its object, and with one
    template_parts: Ids  # rows of subject, predicate, object: an id, SUBJECT or OBJECT
    typed: NDArray[np.bool_]  # by id: is it rdf:type, or a sub-property?
    superclasses: _Lists  # by id
    superclass_ids: Ids
    type_id: int
    entails: NDArray[np.bool_] = field(init=False)  # by id: does a triple with this predicate entail anything?

    def __post_init__(self) -> None:
        by_predicate = np.diff(self.templates.offsets[::2]) > 0
        by_class = self.typed & bool(len(self.superclass_ids))
        object.__setattr__(self, "entails", by_predicate | by_class)

    @property
    def absent(self) -> int:
        return len(self.typed) - 1

    @property
    def types_entail(self) -> bool:
        """Whether rdf:type itself has a domain, a range or a super-property."""
        offsets = self.templates.offsets
        return bool(offsets[2 * self.type_id + 2] > offsets[2 * self.type_id])

    @classmethod
    def of(cls, schema: Schema) -> SchemaArrays:
        listed = list(dict.fromkeys(_schema_terms(schema)))
        terms = Terms()
        numbers = dict(zip(listed, terms.add_all(listed).tolist(), strict=True))
        nothing = Consequences((), (), typed=False)
        by_id = [*(schema.consequences.get(term, nothing) for term in listed), nothing]
        templates = [of_object for each in by_id for of_object in (each.of_resource, each.of_literal)]
        above = [*(schema.superclasses.get(term, ()) for term in listed), ()]
        return cls(
            terms=terms,
            templates=_Lists.of([len(each) for each in templates]),
            template_parts=_encoded(chain.from_iterable(templates), numbers),
            typed=np.array([each.typed for each in by_id]),
            superclasses=_Lists.of([len(each) for each in above]),
            superclass_ids=np.array([numbers[each] for each in chain.from_iterable(above)], np.int32),
            type_id=numbers[TYPE],
        )

    def seen_by(self, patterns: Iterable[TriplePattern]) -> SchemaArrays:
        """The part of it that some patterns see: what none of them may match is not inferred. For `?x a :C`, the
        superclasses of a class are :C or none."""
        templates = np.zeros(len(self.template_parts), np.bool_)
        classes = np.zeros(len(self.superclass_ids), np.bool_)
        for pattern in patterns:
            fits = np.ones(len(self.template_parts), np.bool_)
            slots = (pattern.subject, pattern.predicate, pattern.object)
            for slot, codes in zip(slots, self.template_parts.T, strict=True):
                if not isinstance(slot, Variable | BlankNode):
                    fits &= (codes < 0) | (codes == self.terms.find(slot))  # SUBJECT and OBJECT may be any term
            templates |= fits
            if pattern.predicate == TYPE or isinstance(pattern.predicate, Variable):
                match pattern.object:
                    case Variable() | BlankNode():
                        classes[:] = True
                    case name:
                        classes |= self.superclass_ids == self.terms.find(name)
        seen = replace(self, templates=self.templates.kept(templates), template_parts=self.template_parts[templates])
        if seen.types_entail:  # a triple that no pattern reads may entail one that a pattern reads
            return seen
        return replace(seen, superclasses=self.superclasses.kept(classes), superclass_ids=self.superclass_ids[classes])


def _schema_terms(schema: Schema) -> Iterable[Term]:
    """All terms that entail something, or that are in what is entailed."""
    for predicate, consequences in schema.consequences.items():
        yield predicate
        yield from (part for each in consequences.of_resource for part in each if not isinstance(part, Position))
    for lower, uppers in schema.superclasses.items():
        yield lower
        yield from uppers


def _encoded(templates: Iterable[Template], numbers: dict[Term, int]) -> Ids:
    positions = {Position.SUBJECT: SUBJECT, Position.OBJECT: OBJECT}
    codes = [positions[part] if isinstance(part, Position) else numbers[part] for each in templates for part in each]
    return np.array(codes, np.int32).reshape(-1, 3)


class SchemaColumns:
    """A schema over the ids of a dictionary, which may grow between calls; inferred terms are entered in it.

    >>> from thence.rdf.rdfs import SUB_CLASS_OF
    >>> from thence.rdf.terms import IRI, Triple
    >>> cat, animal, tom = (IRI("http://example.org/" + name) for name in ("Cat", "Animal", "tom"))
    >>> terms = Terms()
    >>> columns = SchemaColumns(Schema.of([Triple(cat, SUB_CLASS_OF, animal)]), terms)
    >>> inferred = columns.inferred(*(terms.add_all([term]) for term in (tom, TYPE, cat)))
    >>> inferred.rows, [str(terms[int(ids[0])]) for ids in inferred[1:]][2]
    (array([0]), '<http://example.org/Animal>')
    """

    __slots__ = ("_entered", "_numbers", "_schema", "terms")

    def __init__(self, schema: Schema | SchemaArrays, terms: Terms) -> None:
        """Over another dictionary, the arrays of a schema serve again: `SchemaArrays.of(schema)`."""
        self.terms = terms
        self._schema = SchemaArrays.of(schema) if isinstance(schema, Schema) else schema
        self._numbers: Ids = np.full(len(terms), UNKNOWN, np.int32)  # by id of `terms`, the schema's id
        self._entered: Ids = np.full(self._schema.absent, UNKNOWN, np.int32)  # by id of the schema, that of `terms`

    def over(self, terms: Terms) -> SchemaColumns:
        """The same schema over another dictionary."""
        return SchemaColumns(self._schema, terms)

    def inferred(self, subjects: Ids, predicates: Ids, objects: Ids) -> InferredTriples:
        """The triples that each triple entails, each once for each triple that it follows from; a triple itself is left
        out."""
        schema = self._schema
        numbers = self._translated(predicates)
        given = np.flatnonzero(schema.entails[numbers])
        if not len(given):
            return InferredTriples(given, *np.empty((3, 0), np.int32))
        if not len(schema.template_parts):  # by its class alone: all have one, and each superclass is another
            members, types, classes = self._superclasses(objects[given])
            rows = given[members]
            differs = (objects[rows] != classes) | (predicates[rows] != types)  # in a cycle, a class is above itself
            rows = rows[differs]
            return InferredTriples(rows, subjects[rows], types[differs], classes[differs])
        numbers, triples = numbers[given], np.stack([subjects[given], predicates[given], objects[given]])
        parts = [
            (np.arange(len(given)), triples),
            self._by_predicate(numbers, triples, self._is_literal(triples[2])),
            *self._by_class(np.flatnonzero(schema.typed[numbers]), triples),
        ]
        rows, found = _distinct(parts)
        return InferredTriples(given[rows], found[0], found[1], found[2])

    def _by_predicate(self, numbers: Ids, triples: Ids, literal: NDArray[np.bool_]) -> tuple[Ints, Ids]:
        """The triples entailed by triples with these predicates, without the superclasses of their objects."""
        rows, places = self._schema.templates.places(2 * numbers.astype(np.int64) + literal)
        parts = self._schema.template_parts[places].T
        found = self._enter(parts)
        for position, term in ((SUBJECT, triples[0]), (OBJECT, triples[2])):
            found = np.where(parts == position, term[rows], found)
        return rows, found

    def _by_class(self, typed: Ints, triples: Ids) -> list[tuple[Ints, Ids]]:
        """The superclasses of those triples that are types, and what these types entail in turn."""
        if not len(typed):
            return []
        schema = self._schema
        members, types, classes = self._superclasses(triples[2, typed])
        rows = typed[members]
        found = np.stack([triples[0, rows], types, classes])
        if not schema.types_entail:
            return [(rows, found)]
        numbers = np.full(len(rows), schema.type_id, np.int32)
        members, more = self._by_predicate(numbers, found, self._is_literal(found[2]))
        return [(rows, found), (rows[members], more)]

    def _superclasses(self, classes: Ids) -> tuple[Ints, Ids, Ids]:
        """The superclasses of some classes: of which each is one, the predicate rdf:type, and itself."""
        schema = self._schema
        members, places = schema.superclasses.places(self._translated(classes).astype(np.int64))
        entered = self._enter(np.append(schema.superclass_ids[places], np.int32(schema.type_id)))
        return members, np.full(len(members), entered[-1]), entered[:-1]

    def _translated(self, ids: Ids) -> Ids:
        """The schema's ids of terms, `absent` for those that it lacks."""
        if len(self._numbers) < len(self.terms):
            larger = np.full(max(len(self.terms), 2 * len(self._numbers)), UNKNOWN, np.int32)
            larger[: len(self._numbers)] = self._numbers
            self._numbers = larger
        schema = self._schema
        return schema.terms.look_up(self.terms, ids, self._numbers, unknown=UNKNOWN, missing=schema.absent)

    def _enter(self, numbers: Ids) -> Ids:
        """The dictionary's ids of the schema's, entered where new; anything for a position."""
        found = self._entered[numbers]
        unknown = (found == UNKNOWN) & (numbers >= 0)
        if unknown.any():
            new = np.unique(numbers[unknown])
            self._entered[new] = self.terms.import_all(self._schema.terms, new)
            found = self._entered[numbers]
        return found

    def _is_literal(self, ids: Ids) -> NDArray[np.bool_]:
        """A mask of the literals: their text starts with a quote."""
        starts = np.where(ids > 0, self.terms.ends[ids - 1], 0)
        literal: NDArray[np.bool_] = self.terms.text[starts] == ord('"')
        return literal


def matching(
    pattern: TriplePattern, subjects: Ids, predicates: Ids, objects: Ids, terms: Terms
) -> tuple[Ints, dict[Variable | BlankNode, Ids]]:
    """The triples that a pattern matches, and the columns of its variables."""
    mask = np.ones(len(predicates), np.bool_)
    columns: dict[Variable | BlankNode, Ids] = {}
    for slot, ids in ((pattern.predicate, predicates), (pattern.subject, subjects), (pattern.object, objects)):
        if not isinstance(slot, Variable | BlankNode):
            mask &= ids == terms.find(slot)
        elif slot in columns:
            mask &= ids == columns[slot]
        else:
            columns[slot] = ids
    rows = np.flatnonzero(mask)
    return rows, {name: ids[rows] for name, ids in columns.items()}


def _distinct(parts: Sequence[tuple[Ints, Ids]]) -> tuple[Ints, Ids]:
    """Triples by their rows, each once a row; the first part has one triple for each row, which is left out."""
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows, kind="stable")
    # take, not [:, order], whose rows are strided: compiled code is for contiguous ones
    rows, triples = rows[order], np.concatenate([triples for _, triples in parts], axis=1).take(order, axis=1)
    offsets = np.searchsorted(rows, np.arange(len(parts[0][0]) + 1))
    keep = without_duplicates(offsets, triples[0], triples[1], triples[2])
    keep[offsets[:-1]] = False
    return rows[keep], triples[:, keep]


# The background under RDFS reasoning: closed once, and then what patterns see of it (EP-39, EP-55, EP-56).


@dataclass(frozen=True, slots=True, eq=False)
class ClosedBackground:
    """A background whose unnamed graph has all that it entails, and its schema. GRAPH reads it too, where the unnamed
    graph answers for every IRI (EP-40)."""

    schema: Schema
    arrays: SchemaArrays
    background: Background
    _seen: dict[frozenset[TriplePattern], SchemaArrays] = field(default_factory=dict)

    def seen_by(self, patterns: frozenset[TriplePattern]) -> SchemaArrays:
        """The part of the schema whose inferred triples some pattern may match."""
        if patterns not in self._seen:
            self._seen[patterns] = self.arrays.seen_by(patterns)
        return self._seen[patterns]


def closed_background(background: Background) -> ClosedBackground:
    """Computed once for a background, however many states and batches there are."""
    if "rdfs" not in background.derived:
        graph = background.data.unnamed
        triples = [] if graph is None else list(graph.triples(0))
        schema = Schema.of(triples)
        closed = sorted(schema.closed(triples), key=_texts)
        read = background if graph is None else Background(background.data.with_unnamed(closed))
        background.derived["rdfs"] = ClosedBackground(schema, SchemaArrays.of(schema), read)
    found: ClosedBackground = background.derived["rdfs"]
    return found


def _texts(triple: Triple) -> tuple[str, ...]:
    """An order that is the same in every process: blank nodes of rules are numbered by it."""
    return tuple(map(str, triple))
