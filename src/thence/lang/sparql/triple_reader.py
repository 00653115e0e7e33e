"""Triples and property paths (SPARQL 1.1, sections 4.2, 9 and 18.2.2.1 – 18.2.2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from lark import Token

from thence.algebra.chains import chain
from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    PatternTerm,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.lang.sparql.term_reader import TermReader
from thence.rdf.terms import IRI, RDF

Verb: TypeAlias = Variable | Path
Triples: TypeAlias = tuple[TriplePattern | PathPattern, ...]


@dataclass(frozen=True, slots=True)
class NestedNode:
    """A node that is more than a term: `[ … ]` or `( … )`, with the triples it stands for."""

    slot: PatternTerm
    triples: Triples


Properties: TypeAlias = tuple[tuple[Verb, tuple[PatternTerm | NestedNode, ...]], ...]

_REPEATED: dict[str, Callable[[Path], Path]] = {"?": ZeroOrOne, "*": ZeroOrMore, "+": OneOrMore}


class TripleReader(TermReader):
    """Triples of patterns and of templates: both have the same shape, only the first may have paths."""

    def triples_same_subject_path(self, subject: PatternTerm | NestedNode, properties: Properties) -> Triples:
        return self._about(subject, properties)

    def triples_block(self, *triples: Triples) -> Triples:
        return tuple(triple for some in triples for triple in some)

    def property_list_path(self, properties: Properties = ()) -> Properties:
        return properties

    def property_list_path_not_empty(self, *parts: Verb | tuple[PatternTerm | NestedNode, ...]) -> Properties:
        return tuple(zip(parts[::2], parts[1::2], strict=True))  # type: ignore[arg-type]

    def object_list_path(self, *objects: PatternTerm | NestedNode) -> tuple[PatternTerm | NestedNode, ...]:
        return objects

    def blank_node_property_list_path(self, properties: Properties) -> NestedNode:
        node = self.anonymous()
        return NestedNode(node, self._about(node, properties))

    def collection_path(self, *items: PatternTerm | NestedNode) -> NestedNode:
        cells: list[PatternTerm] = [self.anonymous() for _ in items]
        triples: list[TriplePattern | PathPattern] = []
        for cell, item, rest in zip(cells, items, [*cells[1:], IRI(RDF + "nil")], strict=True):
            triples += self._about(cell, ((IRI(RDF + "first"), (item,)), (IRI(RDF + "rest"), (rest,))))
        return NestedNode(cells[0], tuple(triples))

    triples_same_subject = triples_same_subject_path
    construct_triples = triples_template = triples_block
    property_list = property_list_path
    property_list_not_empty = property_list_path_not_empty
    object_list = object_list_path
    blank_node_property_list = blank_node_property_list_path
    collection = collection_path

    # Paths

    def path_alternative(self, *paths: Path) -> Path:
        return chain(Alternative, paths)

    def path_sequence(self, *paths: Path) -> Path:
        return chain(PathSequence, paths)

    def path_inverse(self, path: Path) -> Path:
        return Inverse(path)

    def path_elt(self, path: Path, repeated: Token | None = None) -> Path:
        return path if repeated is None else _REPEATED[repeated](path)

    def path_negated_property_set(self, *paths: IRI | Inverse) -> Path:
        backward = (path.path for path in paths if isinstance(path, Inverse))
        return NegatedSet(
            tuple(path for path in paths if isinstance(path, IRI)),
            tuple(path for path in backward if isinstance(path, IRI)),
        )

    def _about(self, subject: PatternTerm | NestedNode, properties: Properties) -> Triples:
        triples: list[TriplePattern | PathPattern] = []
        if isinstance(subject, NestedNode):
            triples += subject.triples
            subject = subject.slot
        for verb, objects in properties:
            for node in objects:
                target, below = (node.slot, node.triples) if isinstance(node, NestedNode) else (node, ())
                triples += self._triples(subject, verb, target)
                triples += below
        return tuple(triples)

    def _triples(self, subject: PatternTerm, verb: Verb, target: PatternTerm) -> Iterator[TriplePattern | PathPattern]:
        """18.2.2.4: what a triple can say is no path. A sequence's inner nodes are blank: nobody can name them."""
        steps = [verb] if isinstance(verb, Variable) else _steps(verb)
        nodes = [subject, *(self.anonymous() for _ in steps[1:]), target]
        for start, step, end in zip(nodes, steps, nodes[1:], strict=False):
            match step:
                case Variable() | IRI():
                    yield TriplePattern(start, step, end)
                case Inverse(IRI() as iri):
                    yield TriplePattern(end, iri, start)
                case _:
                    yield PathPattern(start, step, end)


def _steps(path: Path) -> list[Variable | Path]:
    """The parts of a sequence, however it was bracketed."""
    steps: list[Variable | Path] = []
    waiting = [path]
    while waiting:
        step = waiting.pop()
        if isinstance(step, PathSequence):
            waiting += [step.right, step.left]
        else:
            steps.append(step)
    return steps
