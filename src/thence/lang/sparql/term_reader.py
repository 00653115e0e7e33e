"""Terms, triples and expressions of SPARQL, from parse trees to the algebra."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from lark import Token

from thence.algebra.expressions import (
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Expression,
    If,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
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
from thence.algebra.traversal import DEPTH, chain
from thence.algebra.variables import has_aggregate
from thence.lang.syntax import LONG_CHAIN, TreeReader, offset
from thence.lang.text import Text, name
from thence.rdf.terms import IRI, PROV, RDF, RDFS, XSD, BlankNode, Literal, is_absolute, resolve

# Terms: IRIs, literals, blank nodes and variables as they are written in SPARQL.

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OWN_LABEL = re.compile(r"_:(b[0-9]+)")
_NUMBERS = {"INTEGER": XSD + "integer", "DECIMAL": XSD + "decimal", "DOUBLE": XSD + "double"}
_KNOWN = {"xsd": XSD, "rdf": RDF, "rdfs": RDFS, "owl": "http://www.w3.org/2002/07/owl#"}
"""Prefixes that need no PREFIX; one of the query's own overrides them."""

_COMMON = {
    "prov": PROV,
    "foaf": "http://xmlns.com/foaf/0.1/",
    "sosa": "http://www.w3.org/ns/sosa/",
}


class TermReader(TreeReader):
    """Prologue and terms (4.1 of the standard)."""

    def __init__(self, text: Text, *, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.base = base
        self.prefixes = {**_KNOWN, **(prefixes or {})}
        self._labels = _labels(text.read)
        self.labelled: dict[BlankNode, int] = {}  # where each label is last

    # Prologue

    def prologue(self, *_: None) -> None:
        """Its declarations have done their work when they were read."""

    def base_decl(self, iri: Token) -> None:
        self.base = self._resolve(iri)

    def prefix_decl(self, prefix: Token, iri: Token) -> None:
        self.prefixes[prefix[:-1]] = self._resolve(iri)

    # Terms

    def var(self, token: Token) -> Variable:
        return Variable(token[1:])

    def iri(self, written: Token | IRI) -> IRI:
        return written if isinstance(written, IRI) else IRI(self._resolve(written))

    def a(self, _: Token) -> IRI:
        return IRI(RDF + "type")

    def prefixed_name(self, token: Token) -> IRI:
        prefix, _, local = token.partition(":")
        if prefix not in self.prefixes:
            known = _COMMON.get(prefix, "http://example.org/")
            reason = f'The prefix "{prefix}:" is not defined.'
            raise self.error(reason, at=offset(token), hint=f"PREFIX {prefix}: <{known}>")
        return IRI(self.prefixes[prefix] + _ESCAPED.sub(r"\1", local))

    def string(self, token: Token) -> str:
        quotes = 3 if token[:3] in ('"""', "'''") else 1
        return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), token[quotes:-quotes])

    def rdf_literal(self, value: str, kind: Token | IRI | None = None) -> Literal:
        match kind:
            case None:
                return Literal(value)
            case IRI():
                return Literal(value, kind.value)
            case _:
                return Literal(value, language=kind[1:])

    def numeric_literal_unsigned(self, token: Token) -> Literal:
        return Literal(str(token), _NUMBERS[name(token.type).partition("_")[0]])

    numeric_literal_positive = numeric_literal_unsigned
    numeric_literal_negative = numeric_literal_unsigned

    def boolean_literal(self, token: Token) -> Literal:
        return Literal(token.lower(), XSD + "boolean")

    def nil(self) -> IRI:
        return IRI(RDF + "nil")

    def blank_node(self, label: Token | None = None) -> BlankNode:
        if label is None:
            return self.anonymous()
        node = BlankNode(label[2:])
        self.labelled[node] = offset(label)
        return node

    def anonymous(self) -> BlankNode:
        """A blank node with a label that is nowhere in the text: the same text always gives the same labels."""
        return BlankNode(next(self._labels))

    def _resolve(self, token: Token) -> str:
        reference = token[1:-1]
        if is_absolute(reference):
            return reference
        if self.base is None:
            reason = f"The IRI <{reference}> is relative, and there is no base to resolve it against."
            raise self.error(reason, at=offset(token), hint="BASE <http://example.org/>")
        return resolve(reference, self.base)


def _labels(text: str) -> Iterator[str]:
    taken = set(_OWN_LABEL.findall(text))
    return (label for label in (f"b{number}" for number in count()) if label not in taken)


# Triples and property paths (SPARQL 1.1, sections 4.2, 9 and 18.2.2.1 – 18.2.2.4).

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
        """18.2.2.4: what a triple can say is not a path. A sequence's inner nodes are blank: nobody can name them."""
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


# Expressions (SPARQL 1.1, section 17).

_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}


class ExpressionReader(TripleReader):
    """Expressions; brackets leave no trace beyond the shape of the tree."""

    def conditional_or_expression(self, *operands: Expression) -> Expression:
        return chain(Or, operands)

    def conditional_and_expression(self, *operands: Expression) -> Expression:
        return chain(And, operands)

    def comparison(self, left: Expression, sign: Token, right: Expression) -> Expression:
        return Compare(Comparison(sign), left, right)

    def membership(self, operand: Expression, *rest: Any) -> Expression:
        found = In(operand, rest[-1])
        return Not(found) if len(rest) > 1 else found

    def additive_expression(self, first: Expression, *rest: Any) -> Expression:
        parts = iter(rest)
        pairs = [part if isinstance(part, tuple) else (Operation(part), next(parts)) for part in parts]
        return self._fold(first, pairs)

    def multiplicative_expression(self, first: Expression, *rest: Any) -> Expression:
        return self._fold(
            first, [(Operation(sign), operand) for sign, operand in zip(rest[::2], rest[1::2], strict=True)]
        )

    def signed_term(self, number: Literal, *rest: Any) -> tuple[Operation, Expression]:
        """`?a -1 * 2`, where the sign was taken for the number's own, is `?a - (1 * 2)`."""
        unsigned = Literal(number.value[1:], number.datatype)
        return Operation(number.value[0]), self.multiplicative_expression(unsigned, *rest)

    def negation(self, operand: Expression) -> Expression:
        return Not(operand)

    def signed(self, sign: Token, operand: Expression) -> Expression:
        return Negate(operand) if sign == "-" else Plus(operand)

    def bound(self, variable: Variable) -> Expression:
        return Bound(variable)

    def conditional(self, condition: Expression, then: Expression, otherwise: Expression) -> Expression:
        return If(condition, then, otherwise)

    def coalesce(self, choices: tuple[Expression, ...]) -> Expression:
        return Coalesce(choices)

    def call(self, function: Token, *arguments: Any) -> Expression:
        keyword = function.upper()
        name = _SYNONYMS.get(keyword, keyword)
        given = arguments[0] if arguments and isinstance(arguments[0], tuple) else arguments
        if name == "IRI" and self.base is not None:
            given = (*given, IRI(self.base))  # what a relative IRI is resolved against, once it is known
        return Call(name, given)

    def expression_list(self, *expressions: Expression) -> tuple[Expression, ...]:
        return expressions

    def arg_list(self, *arguments: Any) -> tuple[bool, tuple[Expression, ...]]:
        distinct = bool(arguments) and isinstance(arguments[0], Token)
        return distinct, arguments[1:] if distinct else arguments

    def function_call(self, function: IRI, arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        return Cast(function, arguments[1], arguments[0])

    def iri_or_function(self, iri: IRI, *arguments: tuple[bool, tuple[Expression, ...]]) -> Expression:
        return self.function_call(iri, *arguments) if arguments else iri

    def aggregate(self, function: Token, *rest: Any) -> Expression:
        distinct = isinstance(rest[0], Token) and rest[0].upper() == "DISTINCT"
        operand, *separator = rest[1:] if distinct else rest
        if isinstance(operand, Token):  # COUNT(*)
            operand = None
        elif has_aggregate(operand):
            raise self.error(f"{function.upper()} contains another aggregate; a group is aggregated once.")
        return Aggregate(AggregateFunction(function.upper()), operand, distinct, *separator)

    def _fold(self, first: Expression, rest: list[tuple[Operation, Expression]]) -> Expression:
        if len(rest) >= DEPTH:
            raise self.error(LONG_CHAIN.format(len(rest)))
        for operation, operand in rest:
            first = Arithmetic(operation, first, operand)
        return first
