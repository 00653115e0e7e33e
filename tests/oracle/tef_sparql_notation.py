"""Small TEF-SPARQL programs and streams, written small: `fact("?x f ?y", since(seq("?x p ?y", "?y q ?z")))`.

A pattern is a node, or words: `?x p ?y`, with times `?x p ?y[?s,?e]`, several with ` , ` between them. An expression
after ` , ` has three or five words: `?n = ?m + 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from oracle.ep_sparql_notation import shown
from oracle.ep_sparql_notation import triples as triples
from oracle.tef_sparql import Constructed, FactRow, GivenEvent, Row, constructed, facts, rows
from oracle.tef_sparql_query import (
    Arithmetic,
    Before,
    Compare,
    Condition,
    Conjunction,
    Construct,
    Duration,
    During,
    Expression,
    Forever,
    HeadTriple,
    Kind,
    Now,
    Once,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Program,
    Replace,
    Select,
    Seq,
    Since,
    Slot,
    Statement,
    Timed,
    TriplePattern,
    Union,
    Until,
    When,
    With,
    Without,
)
from oracle.terms import Iri, Var, decimal, integer, string

Words: TypeAlias = Pattern | str


def slot(word: str) -> Slot:
    """`?x`, a number, `"text"`, `a` (rdf:type) or an IRI."""
    if word.startswith("?"):
        return Var(word[1:])
    if word.startswith('"'):
        return string(word[1:-1])
    if word.lstrip("-").isdigit():
        return integer(int(word))
    return decimal(word) if word.replace(".", "").isdigit() else Iri(word)


def expression(text: str) -> Expression:
    """`?n = ?m + 1`, `now() > ?s + 10`, `duration(?s,?e) > 3`: a comparison, or a sum or product of two.

    >>> expression("?n = ?m + 1").right
    Arithmetic(operator='+', left=Var(name='m'), right=Literal(lexical='1', datatype='integer'))
    """
    words = text.split()
    for place, word in enumerate(words):
        if word in ("=", "!=", "<", ">", "<=", ">="):
            return Compare(word, expression(" ".join(words[:place])), expression(" ".join(words[place + 1 :])))
    if len(words) == 3:
        return Arithmetic(words[1], expression(words[0]), expression(words[2]))
    assert len(words) == 1, text
    if text == "now()":
        return Now()
    if text.startswith("duration("):
        start, end = text[len("duration(") : -1].split(",")
        return Duration(slot(start), slot(end))
    return slot(text)


def pattern(words: Words) -> Pattern:
    if not isinstance(words, str):
        return words
    first, *rest = words.split(" , ")
    found = _triple(first)
    for each in rest:
        found = Condition(found, expression(each)) if _is_expression(each) else Conjunction(found, _triple(each))
    return found


def _is_expression(text: str) -> bool:
    return any(f" {operator} " in text for operator in ("=", "!=", "<", ">", "<=", ">="))


def _triple(text: str) -> Pattern:
    body, _, times = text.partition("[")
    subject, predicate, object = map(slot, body.split())
    assert isinstance(predicate, Var | Iri)
    found = TriplePattern(subject, predicate, object)
    if not times:
        return found
    start, end = times.rstrip("]").split(",")
    return Timed(found, when(start), when(end))


def when(word: str) -> When:
    if word == "∞":
        return Forever.OPEN
    return Var(word[1:]) if word.startswith("?") else int(word)


def at(inner: Words, start: str, end: str) -> Timed:
    """`( … )[start, end]`."""
    return Timed(pattern(inner), when(start), when(end))


def also(first: Words, *rest: Words) -> Pattern:
    """`first, …`; words with an operator are an expression."""
    found = pattern(first)
    for each in rest:
        if isinstance(each, str) and _is_expression(each) and " , " not in each:
            found = Condition(found, expression(each))
        else:
            found = Conjunction(found, pattern(each))
    return found


def seq(first: Words, *rest: Words) -> Pattern:
    found = pattern(first)
    for each in rest:
        found = Seq(found, pattern(each))
    return found


def before(left: Words, right: Words) -> Before:
    return Before(pattern(left), pattern(right))


def during(left: Words, right: Words) -> During:
    return During(pattern(left), pattern(right))


def with_(left: Words, right: Words) -> With:
    return With(pattern(left), pattern(right))


def without(left: Words, right: Words) -> Without:
    return Without(pattern(left), pattern(right))


def union(first: Words, *rest: Words) -> Pattern:
    found = pattern(first)
    for each in rest:
        found = Union(found, pattern(each))
    return found


def onstart(inner: Words) -> OnStart:
    return OnStart(pattern(inner))


def onend(inner: Words) -> OnEnd:
    return OnEnd(pattern(inner))


def since(inner: Words) -> Since:
    return Since(pattern(inner))


def until(inner: Words) -> Until:
    return Until(pattern(inner))


def replace(old: Words, on: Words) -> Replace:
    return Replace(pattern(old), pattern(on))


def init(inner: Words) -> OnInit:
    return OnInit(pattern(inner))


def head(text: str) -> tuple[HeadTriple, ...]:
    """Triples with ` , ` between them; an object may be an expression of three words."""
    found = []
    for each in text.split(" , "):
        subject, predicate, *rest = each.split()
        verb = slot(predicate)
        assert isinstance(verb, Var | Iri)
        found.append(HeadTriple(slot(subject), verb, expression(" ".join(rest))))
    return tuple(found)


def once(text: str | None) -> Once | None:
    """`?x ?y`, or `?x , now()`."""
    if text is None:
        return None
    names, *expressions = text.split(" , ")
    return Once(tuple(name[1:] for name in names.split()), tuple(map(expression, expressions)))


def construct(
    template: str, *arms: Words, kind: Kind | None = None, per: str | None = None, within: int | None = None
) -> Construct:
    return Construct(kind, head(template), union(*arms), once(per), within)


def fact(template: str, *arms: Words, per: str | None = None, within: int | None = None) -> Construct:
    return construct(template, *arms, kind=Kind.FACT, per=per, within=within)


def event(template: str, *arms: Words, per: str | None = None, within: int | None = None) -> Construct:
    return construct(template, *arms, kind=Kind.EVENT, per=per, within=within)


def select(
    names: str, *arms: Words, distinct: bool = False, per: str | None = None, within: int | None = None
) -> Select:
    return Select(tuple(names.split()), union(*arms), distinct, once(per), within)


def stream(text: str) -> list[GivenEvent]:
    """An event a line, as `3: a p b . b q 1`, `3-5: a p b` or `3 S: a p b`; their ids are e1, e2, ….

    >>> stream("3-5 S: a p b")[0][:3], stream("3-5 S: a p b")[0].stream
    (('e1', 3, 5), 'S')
    """
    found = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        times, graph = line.split(": ", maxsplit=1)
        time, _, name = times.strip().partition(" ")
        start, _, end = time.partition("-")
        found.append(GivenEvent(f"e{number}", int(start), int(end or start), triples(graph.strip()), name or None))
    return found


Statements: TypeAlias = Program | Statement | Sequence[object]
"""A program, a statement, or several."""


def program(statements: Statements) -> Program:
    if isinstance(statements, Program):
        return statements
    several = statements if isinstance(statements, Sequence) else (statements,)
    return Program(tuple(each for each in several if isinstance(each, Statement)))


Events: TypeAlias = Sequence[GivenEvent] | str


def _events(events: Events) -> Iterable[GivenEvent]:
    return stream(events) if isinstance(events, str) else events


def answers(
    statements: Statements, events: Events, background: str = "", *, until: int | None = None, ids: bool = False
) -> list[str]:
    """The rows in words, in the order in which they are emitted: `1-3 x=a y=1`; with `ids`, their events too. Of
    several SELECTs each row begins with its SELECT's number."""
    wanted = program(statements)
    found = rows(wanted, _events(events), triples(background) if background else (), until=until)
    return [_row(row, several=len(wanted.selects) > 1, ids=ids) for row in found]


def all_facts(
    statements: Statements, events: Events, background: str = "", *, until: int | None = None, of: str = ""
) -> list[str]:
    """The facts in words: `a f b 1-3`, an open one `a f b 1-`; `of`: only those of these predicates."""
    found = facts(program(statements), _events(events), triples(background) if background else (), until=until)
    return [_fact(each) for each in found if not of or Iri(shown(each[2][1])).name in of.split()]


def all_constructed(
    statements: Statements, events: Events, background: str = "", *, until: int | None = None
) -> list[str]:
    """The constructed events in words: `1-3 a c b`."""
    found = constructed(program(statements), _events(events), triples(background) if background else (), until=until)
    return list(map(_constructed, found))


def _row(row: Row, *, several: bool, ids: bool) -> str:
    number, start, end, bindings, events = row
    values = [f"{name}={shown(term)}" for name, term in bindings]
    listed = ["|", *sorted(events)] if ids and events is not None else []
    return " ".join([*([f"{number}:"] if several else []), _interval(start, end), *values, *listed])


def _fact(each: FactRow) -> str:
    start, end, triple = each
    return f"{' '.join(map(shown, triple))} {start}-{'' if end is None else end}"


def _constructed(each: Constructed) -> str:
    _, start, end, made, _ = each
    return f"{_interval(start, end)} {' . '.join(sorted(' '.join(map(shown, triple)) for triple in made))}"


def _interval(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"
