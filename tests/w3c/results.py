"""Expected results of the W3C's query tests, read from every format they come in, and compared with ours."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pyoxigraph as ox

from thence.algebra.expressions import Variable
from thence.match.sparql_queries import Result, SelectResult
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term, Triple
from thence.rdf.values import is_number, literal, value
from w3c.manifest import File

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
SRX = "{http://www.w3.org/2005/sparql-results#}"

Row = tuple[Term | None, ...]


@dataclass(frozen=True)
class Expected:
    """A result; `plain` where its format (CSV) keeps no more of a term than its text."""

    result: Result
    plain: bool = False


def read_result(file: File) -> Expected:
    """The result that a file tells."""
    match file.path.suffix:
        case ".srx":
            return Expected(_read_xml(file))
        case ".srj":
            return Expected(_read_json(file))
        case ".csv":
            return Expected(_read_csv(file), plain=True)
        case ".tsv":
            return Expected(_read_tsv(file))
        case _:
            return Expected(_read_graph(read_graph(file)))


def read_graph(file: File) -> list[Triple]:
    """The triples of an RDF file."""
    format_ = ox.RdfFormat.from_extension(file.path.suffix[1:])
    assert format_ is not None, file.path
    parsed = ox.parse(path=file.path, format=format_, base_iri=file.iri)
    # blank nodes of different files are different
    return [Triple(*(_term(part, file.iri) for part in (q.subject, q.predicate, q.object))) for q in parsed]


def _term(term: object, scope: str) -> Term:
    match term:
        case ox.NamedNode():
            return IRI(term.value)
        case ox.BlankNode():
            return BlankNode(f"{term.value}-{scope.rsplit('/', 1)[-1]}")
        case ox.Literal():
            return Literal(term.value, term.datatype.value, term.language)
    raise AssertionError(term)


# Formats


def _solutions(names: Sequence[str], rows: Iterable[dict[str, Term]]) -> SelectResult:
    variables = tuple(Variable(name) for name in names)
    return SelectResult(variables, tuple({Variable(name): term for name, term in row.items()} for row in rows))


def _read_xml(file: File) -> Result:
    root = ElementTree.fromstring(file.path.read_bytes())
    boolean = root.find(f"{SRX}boolean")
    if boolean is not None:
        return (boolean.text or "").strip() == "true"
    names = [found.attrib["name"] for found in root.iter(f"{SRX}variable")]
    rows = []
    for result in root.iter(f"{SRX}result"):
        bindings = result.findall(f"{SRX}binding")
        rows.append({binding.attrib["name"]: _xml_term(binding[0]) for binding in bindings})
    return _solutions(names, rows)


def _xml_term(element: ElementTree.Element) -> Term:
    text = element.text or ""
    match element.tag.removeprefix(SRX):
        case "uri":
            return IRI(text)
        case "bnode":
            return BlankNode(text)
        case _:
            language = element.get("{http://www.w3.org/XML/1998/namespace}lang")
            return Literal(text, element.get("datatype", XSD + "string"), language)


def _read_json(file: File) -> Result:
    document = json.loads(file.text())
    if "boolean" in document:
        return bool(document["boolean"])
    rows = [{name: _json_term(term) for name, term in row.items()} for row in document["results"]["bindings"]]
    return _solutions(document["head"]["vars"], rows)


def _json_term(term: dict[str, str]) -> Term:
    match term["type"]:
        case "uri":
            return IRI(term["value"])
        case "bnode":
            return BlankNode(term["value"])
        case _:
            return Literal(term["value"], term.get("datatype", XSD + "string"), term.get("xml:lang"))


def _read_csv(file: File) -> SelectResult:
    names, *rows = csv.reader(io.StringIO(file.text()))
    return _solutions(names, [_csv_row(names, row) for row in rows])


def _csv_row(names: list[str], row: list[str]) -> dict[str, Term]:
    cells = zip(names, row, strict=True)
    return {name: BlankNode(cell[2:]) if cell.startswith("_:") else Literal(cell) for name, cell in cells if cell}


def _read_tsv(file: File) -> SelectResult:
    head, *lines = file.text().splitlines()
    names = [name.removeprefix("?") for name in head.split("\t")]
    rows = []
    for line in lines:
        cells = zip(names, line.split("\t"), strict=True)
        rows.append({name: _tsv_term(cell) for name, cell in cells if cell})
    return _solutions(names, rows)


def _tsv_term(cell: str) -> Term:
    """A cell is a term in Turtle's syntax."""
    (quad,) = ox.parse(f"<s:> <p:> {cell} .", format=ox.RdfFormat.TURTLE)
    return _term(quad.object, "")


def _read_graph(triples: list[Triple]) -> Result:
    """A result set described in RDF (rs:ResultSet), or simply the triples of CONSTRUCT."""
    by_subject: dict[Term, dict[str, list[Term]]] = {}
    for subject, predicate, object_ in triples:
        by_subject.setdefault(subject, {}).setdefault(predicate.value, []).append(object_)
    sets = [found for found in by_subject.values() if IRI(RS + "ResultSet") in found.get(RDF + "type", ())]
    if not sets:
        return frozenset(triples)
    if RS + "boolean" in sets[0]:
        return sets[0][RS + "boolean"][0].value == "true"
    solutions = [by_subject.get(node, {}) for node in sets[0].get(RS + "solution", ())]
    solutions.sort(key=lambda solution: int(solution.get(RS + "index", [Literal("0")])[0].value))
    rows = []
    for solution in solutions:
        bindings = [by_subject[node] for node in solution.get(RS + "binding", ())]
        rows.append({binding[RS + "variable"][0].value: binding[RS + "value"][0] for binding in bindings})
    return _solutions([name.value for name in sets[0].get(RS + "resultVariable", ())], rows)


# Comparison


def differences(expected: Expected, found: Result, *, ordered: bool, reduced: bool) -> str | None:
    """What is wrong with a result, in words; None if it is as expected.

    Terms are compared as terms, and where that fails numbers by their value within one datatype: the suite writes
    computed numbers in various forms ("3", "3.0", "3E0").
    """
    wanted = expected.result
    if isinstance(wanted, bool) or isinstance(found, bool):
        return None if wanted is found else f"expected {wanted}, found {found}"
    if isinstance(wanted, frozenset) != isinstance(found, frozenset):
        return "expected rows and found triples, or the other way round"
    if isinstance(wanted, SelectResult) and isinstance(found, SelectResult):
        if {v.name for v in wanted.variables} != {v.name for v in found.variables}:
            return f"expected variables {wanted.variables}, found {found.variables}"
        left, right = _rows(wanted, wanted.variables, ordered), _rows(found, wanted.variables, ordered)
    else:
        left, right = list(wanted), list(found)  # type: ignore[arg-type]
    if reduced:
        left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    view = _text if expected.plain else _same
    if isomorphic(left, _changed(right, view)) or isomorphic(_changed(left, _number), _changed(right, _number)):
        return None
    return f"expected\n{_shown(left)}\nfound\n{_shown(right)}"


def _rows(solutions: SelectResult, variables: Sequence[Variable], ordered: bool) -> list[Row]:
    rows = [tuple(row.get(variable) for variable in variables) for row in solutions.rows]
    return [(Literal(f"row {place}"), *row) for place, row in enumerate(rows)] if ordered else rows


def _changed(rows: Iterable[Row], view: Callable[[Term], Term]) -> list[Row]:
    return [tuple(None if term is None else view(term) for term in row) for row in rows]


def _same(term: Term) -> Term:
    return term


def _text(term: Term) -> Term:
    return term if isinstance(term, BlankNode) else Literal(term.value)


def _number(term: Term) -> Term:
    known = value(term) if isinstance(term, Literal) else None
    return replace(literal(known), datatype=term.datatype) if is_number(known) else term  # type: ignore[union-attr]


def _shown(rows: Iterable[Row]) -> str:
    return "\n".join(sorted("  " + " ".join(str(term) for term in row) for row in rows)) or "  nothing"


def isomorphic(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Whether two multisets of rows (or of triples) are one, up to the labels of blank nodes."""
    if len(left) != len(right):
        return False
    return _match(left, right, {}, {})


def _match(
    left: Sequence[Row], right: Sequence[Row], named: dict[BlankNode, int], others: dict[BlankNode, int]
) -> bool:
    """Colours are refined until they stay; then one blank node of the left is tried against each of its colour."""
    ours, theirs = _coloured(left, named), _coloured(right, others)
    if _painted(left, ours) != _painted(right, theirs):
        return False
    sizes = Counter(ours.values())
    ambiguous = next((node for node, colour in ours.items() if sizes[colour] > 1), None)
    if ambiguous is None:
        return True
    rivals = [node for node, colour in theirs.items() if colour == ours[ambiguous]]
    mark = len(named) + 1
    return any(_match(left, right, named | {ambiguous: mark}, others | {rival: mark}) for rival in rivals)


def _coloured(rows: Sequence[Row], named: dict[BlankNode, int]) -> dict[BlankNode, int]:
    colours = {term: named.get(term, 0) for row in rows for term in row if isinstance(term, BlankNode)}
    for _ in range(len(colours) + 1):
        seen: dict[BlankNode, list[object]] = {node: [] for node in colours}
        for row in rows:
            picture = tuple(colours.get(term, term) for term in row)  # type: ignore[call-overload]
            for place, term in enumerate(row):
                if isinstance(term, BlankNode):
                    seen[term].append((place, picture))
        refined = {node: hash((colours[node], frozenset(Counter(views).items()))) for node, views in seen.items()}
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined
    return colours


def _painted(rows: Sequence[Row], colours: dict[BlankNode, int]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(colours.get(term, term) for term in row) for row in rows)  # type: ignore[call-overload]
