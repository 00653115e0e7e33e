"""Small EP-SPARQL cases, written small: `seq("?x p ?y", "?y q ?z")`, `event("e1", 3, "a p b . b q 1")`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from oracle.ep_sparql import Derived, Row, derived, rows
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_query import (
    Chain,
    Column,
    Construct,
    Element,
    Expression,
    File,
    Filter,
    Group,
    Minus,
    Operator,
    Optional,
    Path,
    Pattern,
    Select,
    Slot,
    Statement,
    Triples,
)
from oracle.terms import Blank, Iri, Literal, Term, Triple, Var, decimal, integer


def slot(word: str) -> Slot:
    """`?x`, `_:x`, a number, or an IRI.

    >>> slot("?x"), slot("a"), slot("3"), slot("0.7")
    (Var(name='x'), Iri(name='a'), Literal(lexical='3', datatype='integer'), Literal(lexical='0.7', datatype='decimal'))
    """
    if word.startswith("?"):
        return Var(word[1:])
    if word.startswith("_:"):
        return Blank(word[2:])
    if word.lstrip("-").isdigit():
        return integer(int(word))
    return decimal(word) if word.replace(".", "").isdigit() else Iri(word)


def patterns(text: str) -> tuple[Pattern, ...]:
    """Triple patterns in words, between them ` . `."""
    return tuple(_pattern(*(slot(word) for word in triple.split())) for triple in text.split(" . "))


def _pattern(subject: Slot, predicate: Slot, object: Slot) -> Pattern:
    assert isinstance(predicate, Var | Iri)
    return Pattern(subject, predicate, object)


def triples(text: str) -> tuple[Triple, ...]:
    found = []
    for pattern in patterns(text):
        assert not isinstance(pattern.subject, Var) and isinstance(pattern.predicate, Iri)
        assert not isinstance(pattern.object, Var)
        found.append((pattern.subject, pattern.predicate, pattern.object))
    return tuple(found)


def group(*elements: Element | str) -> Group:
    return Group(tuple(Triples(patterns(each)) if isinstance(each, str) else each for each in elements))


def path(subject: str, predicate: Path, object: str) -> Triples:
    return Triples((Pattern(slot(subject), predicate, slot(object)),))


def chain(first: Group | str, *rest: Group | str) -> Chain:
    """`chain(A, "SEQ", B, "UNION", C)`."""
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return Chain(_operand(first), tuple((_operator(operator), _operand(right)) for operator, right in pairs))


def _operator(word: Group | str) -> Operator:
    assert isinstance(word, str)
    return Operator(word)


def _operand(operand: Group | str) -> Group:
    return group(operand) if isinstance(operand, str) else operand


def seq(first: Group | str, *rest: Group | str) -> Chain:
    return Chain(_operand(first), tuple((Operator.SEQ, _operand(right)) for right in rest))


def optional(*elements: Element | str) -> Optional:
    return Optional(group(*elements))


def minus(*elements: Element | str) -> Minus:
    return Minus(group(*elements))


def where(*filters: Expression) -> tuple[Filter, ...]:
    return tuple(map(Filter, filters))


def select(names: str, *elements: Element | str, distinct: bool = False) -> Select:
    """SELECT of some names, or of `*`."""
    columns = None if names == "*" else tuple(Column(name) for name in names.split())
    return Select(columns, group(*elements), distinct)


def construct(template: str, *elements: Element | str) -> Construct:
    return Construct(patterns(template), group(*elements))


def event(id: str, time: int | tuple[int, int], text: str) -> GivenEvent:
    start, end = (time, time) if isinstance(time, int) else time
    return (id, start, end, triples(text))


def stream(text: str) -> list[GivenEvent]:
    """An event a line, as `3: a p b . b q 1` or `3-5: a p b`; their ids are e1, e2, ….

    >>> stream("3: a p b")[0][:3]
    ('e1', 3, 3)
    """
    found = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        times, graph = line.split(": ")
        start, _, end = times.strip().partition("-")
        found.append(event(f"e{number}", (int(start), int(end or start)), graph))
    return found


def answers(
    statements: Statement | Iterable[Statement],
    events: Iterable[GivenEvent] | str,
    background: str = "",
    *,
    named: Mapping[str, str] | None = None,
    reasoning: bool = False,
    policy: str = "unrestricted",
) -> list[str]:
    """The rows in words, sorted: `1-3 x=a y=1 | e1 e2`."""
    file: File = tuple(statements) if isinstance(statements, Iterable) else (statements,)
    given = stream(events) if isinstance(events, str) else events
    unnamed = triples(background) if background else ()
    graphs = None if named is None else {name: triples(graph) for name, graph in named.items()}
    if not any(isinstance(statement, Select) for statement in file):
        return [_derived(each) for each in derived(file, given, unnamed, named=graphs, reasoning=reasoning)]
    found = rows(file, given, unnamed, named=graphs, reasoning=reasoning, policy=policy)
    return sorted(map(_row, found))


def _row(row: Row) -> str:
    _, start, end, bindings, events = row
    values = [f"{name}={shown(term)}" for name, term in bindings]
    return " ".join([_interval(start, end), *values, *(["|", *events] if events else [])])


def _derived(each: Derived) -> str:
    _, start, end, made, events = each
    lines = sorted(" ".join(map(shown, triple)) for triple in made)
    return " ".join([_interval(start, end), " . ".join(lines), *(["|", *events] if events else [])])


def _interval(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def shown(term: Term) -> str:
    match term:
        case Iri(name):
            return name
        case Blank(label):
            return f"_:{label}"
        case Literal(lexical):
            return lexical
