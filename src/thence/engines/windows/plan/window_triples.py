"""Which triples of a stream a window needs: those that some triple pattern over it can match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, Graph, PathPattern, Pattern, PatternTerm, TriplePattern, WindowPattern
from thence.algebra.rsep_ql import EventPattern
from thence.algebra.variables import in_scope
from thence.engines.windows.program import TriplePart
from thence.interface.tables import OBJECT, PREDICATE, SUBJECT, AllTriples, Table
from thence.rdf.terms import IRI, BlankNode


@dataclass(slots=True)
class Tables:
    """The tables of a program, each once."""

    listed: list[Table] = field(default_factory=list)

    def number(self, stream: str, pattern: Pattern | AllTriples) -> int:
        """The number of a table, which is added if it is new."""
        variables = (SUBJECT, PREDICATE, OBJECT) if isinstance(pattern, AllTriples) else in_scope(pattern)
        return self._added(Table(stream, pattern, variables))

    def events(self, event: EventPattern, stream: str, pattern: Pattern) -> int:
        """The number of the table of an EVENT's mappings by a pattern."""
        times = (each for each in (event.start, event.end) if each is not None)
        return self._added(Table(stream, pattern, (*in_scope(pattern), *times), event.start, event.end))

    def _added(self, table: Table) -> int:
        if table not in self.listed:
            self.listed.append(table)
        return self.listed.index(table)

    def triples(self, stream: str) -> TriplePart:
        """All triples of a stream."""
        return TriplePart(self.number(stream, AllTriples()), (SUBJECT, PREDICATE, OBJECT))

    def matching(self, stream: str, triple: TriplePattern) -> TriplePart:
        """The triples of a stream that a pattern matches, whatever its variables are called."""
        named = positional(triple)
        part = (named.subject, named.predicate, named.object)
        return TriplePart(self.number(stream, Bgp((named,))), part)

    def has_matching(self, stream: str, triple: TriplePattern) -> bool:
        """Whether there is a table of these triples."""
        pattern = Bgp((positional(triple),))
        return Table(stream, pattern, in_scope(pattern)) in self.listed


def positional(triple: TriplePattern) -> TriplePattern:
    """A triple pattern whose variables are called by the place where each first is; blank nodes are variables."""
    names: dict[PatternTerm, Variable] = {}

    def slot(found: PatternTerm, place: Variable) -> PatternTerm:
        return names.setdefault(found, place) if isinstance(found, Variable | BlankNode) else found

    subject, object_ = slot(triple.subject, SUBJECT), slot(triple.object, OBJECT)
    predicate = slot(triple.predicate, PREDICATE)
    assert isinstance(predicate, Variable | IRI)
    return TriplePattern(subject, predicate, object_)


def triples_by_window(where: object, merged: tuple[IRI, ...]) -> dict[IRI, list[TriplePattern | PathPattern]]:
    """The triple patterns that read each window, those of EXISTS too; `merged` windows answer those outside WINDOW."""
    found: dict[IRI, list[TriplePattern | PathPattern]] = {name: [] for name in merged}
    for names, triples in _read(where, merged):
        for name in names:
            found.setdefault(name, []).extend(triples)
    return found


def _read(
    node: object, active: tuple[IRI, ...]
) -> Iterator[tuple[tuple[IRI, ...], tuple[TriplePattern | PathPattern, ...]]]:
    """Basic graph patterns with the windows that they read. Without recursion."""
    waiting = [(node, active)]
    while waiting:
        found, windows = waiting.pop()
        match found:
            case Bgp():
                yield windows, found.triples
            case WindowPattern():
                yield (found.name,), ()
                waiting.append((found.pattern, (found.name,)))
            case Graph():
                waiting.append((found.pattern, ()))
            case tuple():
                waiting.extend((each, windows) for each in found)
            case _ if (names := getattr(found, "__dataclass_fields__", None)) is not None:
                waiting.extend((getattr(found, name), windows) for name in names)
            case _:
                pass
