"""Names and comparisons of a query beside what is known of its input before it is read: the columns of tables and their
types (BAD-2, BAD-3), the graphs of the background (BAD-11)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from warnings import warn

from thence.algebra.expressions import Expression, Variable
from thence.algebra.names_read import (
    Compared,
    Reading,
    Sort,
    Sorts,
    component_of,
    graphs_read,
    readings,
    sort_of,
    sort_of_term,
)
from thence.algebra.streams import Name
from thence.algebra.traversal import nodes
from thence.columns.dictionary import UNBOUND
from thence.columns.value_types import UNKNOWN, Type, TypedStage, Types, derived_attributes
from thence.errors import QueryError, ThenceWarning, closest
from thence.lang.text import Text
from thence.lang.text import text as read_text
from thence.local.expected_names import Expected, ExpectedName
from thence.match.background import Background
from thence.rdf.events import predicate_term
from thence.rdf.terms import IRI, Literal

if TYPE_CHECKING:
    from thence.query.query import Query

Given: TypeAlias = Mapping[str, list[Types] | None]
"""The types of the attributes of each stream, of all of its inputs; None if they are not known."""

_OWN = ("type", "time", "end", "id", "subject")
"""Names that every table may have beside its attributes."""

_MOST_LISTED = 30

# Where a name stands in the text of a query.

_BLANKED = re.compile(r"""<[^<>"{}|^`\\\s]*>|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\#[^\n]*)""")


@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of a query, where names are looked for outside strings and comments."""

    query: Query

    def error(self, reason: str, name: Name, *, hint: str = "", beside: str = "") -> QueryError:
        """An error at the first place of a name; without a place if there is no text, or the name is not in it.
        `beside` is a pattern of what follows it, if some place has that."""
        text, blank = self._texts()
        for pattern in self._patterns(name):
            # what is beside a name may be a string
            found = re.search(pattern + beside, text.read) if beside else None
            if found is None or blank[found.start(1) : found.end(1)].isspace():
                found = re.search(pattern, blank)
            if found:
                return text.error(reason, found.start(1), hint=hint)
        return QueryError(reason, hint=hint)

    def compared(self, reason: str, variables: Sequence[Variable], *, hint: str) -> QueryError | None:
        """An error where one of some variables is compared; None if the text has no such place."""
        text, blank = self._texts()
        for variable in variables:
            name = rf"([?$]{re.escape(variable.name)})\b"
            for pattern in (rf"{name}\s*(?:[=<>]|!=|IN\b|NOT\s+IN\b)", rf"[=<>]\s*{name}"):
                found = re.search(pattern, blank, re.IGNORECASE)
                if found:
                    return text.error(reason, found.start(1), hint=hint)
        return None

    def _texts(self) -> tuple[Text, str]:
        """The text, and the same with blanks for strings and comments."""
        text = read_text(self.query.text, self.query.source)
        return text, _BLANKED.sub(lambda found: " " * len(found[0]) if found[1] else found[0], text.read)

    def placed(self, reason: str, name: Name) -> str:
        """The text of a warning about a name."""
        return str(self.error(reason, name))

    def quoted(self, value: str) -> str:
        """A text as the query writes it: with the quotes that it uses first, if it uses any."""
        found = re.search("['\"]", self.query.text)
        quote = found[0] if found else '"'
        return f"{quote}{value}{quote}"

    def written(self, name: Name) -> str:
        """A name as the query writes it."""
        if name.iri is None:
            return name.local
        for prefix, start in self._prefixes():
            if name.iri.value.startswith(start) and re.fullmatch(r"[\w.%-]*", name.iri.value[len(start) :]):
                return f"{prefix}:{name.iri.value[len(start) :]}"
        return str(name.iri)

    def _prefixes(self) -> Iterator[tuple[str, str]]:
        yield from sorted(self.query.prefixes.items(), key=lambda item: -len(item[1]))
        if "" not in self.query.prefixes:
            yield "", self.query.algebra.namespace

    def _patterns(self, name: Name) -> Iterator[str]:
        if name.iri is None:
            local = rf"(`?{re.escape(name.local)}`?)(?![\w`])"
            component = component_of(self.query.algebra, name)
            if component:
                yield rf"\b{re.escape(component)}\s*\.\s*{local}"
            yield rf"\.\s*{local}"
            yield rf"(?<![\w`.?$:]){local}(?!\s*\()"
            return
        iri = name.iri.value
        for prefix, start in self._prefixes():
            if iri.startswith(start):
                yield rf"(?<![\w:])({re.escape(f'{prefix}:{iri[len(start) :]}')})(?![\w-])"
        yield f"({re.escape(str(name.iri))})"
        local = re.split(r"[#/:]", iri)[-1]
        if local:
            yield rf"(?:^|(?<=[<\s,;(/^|{{\[]))({re.escape(local)})(?![\w-])"


# The schema of the input (BAD-2, BAD-3)


def check_input(query: Query, given: Given, background: Background) -> Expected:
    """QueryError if a query names an attribute that no stream has, or compares what can never be true; a warning for
    each graph of the background that nothing reads. `given` are the types of the attributes of each stream, of all of
    its inputs; None for a stream whose attributes are not known. What only the events will tell is returned, to be
    looked for as they come."""
    expected = Expected()
    for each in (query, *_feeding(query)):
        _Schema(each, given, background).check(expected)
    check_background(query, background)
    return expected


def _feeding(query: Query) -> Iterator[Query]:
    for each in query.feeders.values():
        yield each
        yield from _feeding(each)


class _Schema:
    """A query, the columns of its streams, and its background."""

    def __init__(self, query: Query, given: Given, background: Background) -> None:
        from thence.query.query import DEFAULT_OPTIONS

        self.text = QueryText(query)
        self.background = background
        self.namespace = query.algebra.namespace
        self.readings = readings(query.algebra)
        fed = bool(query.feeders)
        dataflow = query.language.compile(query.algebra, DEFAULT_OPTIONS) if fed else query.dataflow()
        own = tuple(stream.name for stream in dataflow.streams)
        outside = {name: given.get(name) for name in own if name not in query.feeders}
        self.stages = _by_stage(dataflow.typed_stages, outside)
        self.all = _Read(own, _united([outside.get(name) for name in own]), set(own) == set(outside))

    def check(self, expected: Expected) -> None:
        for reading in self.readings:
            read = self.all if reading.stage is None else self.stages[reading.stage]
            names = [name for name in reading.names if not self._is_made(name, reading)]
            if read.types is not None:
                columns = {predicate_term(each, self.namespace): each for each in (*read.types, *_OWN)}
                unknown = [name for name in names if not _is_column(name, read.types, columns)]
                for name in unknown:
                    if name.iri is None or name.iri.value.startswith(self.namespace):
                        raise self._unknown(name, read.types)
                names = unknown  # of other namespaces
                self._check_comparisons(reading, read.types, columns)
            types = [name for name in reading.types if not self._is_made(name, reading)]
            for name in (*names, *types) if read.is_outside else ():
                if name.iri is not None or name.local not in _OWN or name in types:
                    expected.add(
                        ExpectedName(
                            read.streams, name, self.namespace, name in types, self.text.placed, self.text.written
                        )
                    )

    def _is_made(self, name: Name, reading: Reading) -> bool:
        """Whether the query or the background may make a name, or a background's schema may."""
        if name.iri is None:
            return False
        if reading.makes_any or name.iri in reading.made:
            return True
        return bool(self.background.data.terms.find(name.iri) != UNBOUND)

    def _unknown(self, name: Name, types: Types) -> QueryError:
        columns = [each for each in types if each not in _OWN]
        local = _local(name, self.namespace)
        near = closest(local, columns)
        shown = ", ".join(columns[:_MOST_LISTED]) + (", …" if len(columns) > _MOST_LISTED else "")
        written = self.text.written(name)
        meant = f" Did you mean {self._as_written(near, name)}?" if near else ""
        return self.text.error(f"No stream has the attribute {written}.{meant} There are: {shown or 'none'}.", name)

    def _as_written(self, column: str, name: Name) -> str:
        if name.iri is None:
            return column
        return self.text.written(Name(column, predicate_term(column, self.namespace)))

    def _check_comparisons(self, reading: Reading, types: Types, columns: Mapping[IRI, str]) -> None:
        of: dict[Name, Sorts | None] = {}
        kinds: dict[Name, Type] = {}
        for name in reading.names:
            column = name.local if name.iri is None else columns.get(name.iri, "")
            kind = types.get(column)
            sort = None if kind is None or self._is_made(name, reading) else sort_of(kind)
            of[name] = None if sort is None else frozenset({sort})
            if kind is not None:
                kinds[name] = kind
        for compared in reading.compared:
            left = reading.sorts(compared.left, of)
            others = [reading.sorts(each, of) for each in compared.others]
            if left is None or any(each is None or left & each for each in others):
                continue
            raise self._never(compared, reading, kinds, left, [each for each in others if each is not None])

    def _never(
        self, compared: Compared, reading: Reading, kinds: Mapping[Name, Type], left: Sorts, others: Sequence[Sorts]
    ) -> QueryError:
        sides = [(compared.left, left), *zip(compared.others, others, strict=True)]
        phrases = [self._phrase(side, sorts, reading, kinds) for side, sorts in sides]
        named = [name for side, _ in sides for name in self._names(side, reading)]
        text = self._shortened(compared.text)
        reason = f"{text} is never true: {phrases[0]}, and {' and '.join(dict.fromkeys(phrases[1:]))}."
        variables = [side for side, _ in sides if isinstance(side, Variable)]
        hint = self._cure(sides, ordered=re.search("[<>]", compared.text) is not None)
        error = self.text.compared(reason, variables, hint=hint)
        return error or self.text.error(reason, named[0], hint=hint, beside=self._beside(sides))

    def _names(self, side: Expression, reading: Reading) -> Iterator[Name]:
        for part in _variables(side):
            source = reading.sources.get(part)
            if isinstance(source, tuple):
                yield from source

    def _phrase(self, side: Expression, sorts: Sorts, reading: Reading, kinds: Mapping[Name, Type]) -> str:
        sort = " or ".join(sorted(each.value for each in sorts))
        source = reading.sources.get(side) if isinstance(side, Variable) else None
        if isinstance(source, tuple):
            shown = {str(kinds[name]) for name in source if name in kinds}
            return f"{self.text.written(source[0])} is {sort} ({', '.join(sorted(shown))})"
        if isinstance(side, IRI | Literal):
            return f"{_constant(side, self.text)} is {sort}"
        return f"the other side is {sort}"

    def _shortened(self, text: str) -> str:
        for iri in re.findall(r"<[^<>\s]+>", text):
            text = text.replace(iri, self.text.written(Name(iri[1:-1], IRI(iri[1:-1]))))
        return text

    def _cure(self, sides: Sequence[tuple[Expression, Sorts]], *, ordered: bool) -> str:
        """`ordered`: by less or greater, so that other types would be compared otherwise."""
        constants = [side for side, _ in sides if isinstance(side, IRI | Literal)]
        wanted = [sorts for side, sorts in sides if not isinstance(side, IRI | Literal)]
        if len(constants) != 1 or not wanted or len(wanted[0]) != 1:
            return "values of one kind"
        (sort,), constant = wanted[0], constants[0]
        if sort is Sort.NUMBER:
            return constant.value if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", constant.value) else "a number"
        if sort is Sort.TEXT and ordered and sort_of_term(constant) is Sort.NUMBER:
            return "a column of numbers; thence schema FILE shows the cells"
        if sort is Sort.TEXT:
            local = re.split(r"[#/:]", constant.value)[-1] if isinstance(constant, IRI) else constant.value
            return self.text.quoted(local)
        return "true or false" if sort is Sort.TRUTH else "a time, such as xsd:dateTime"

    def _beside(self, sides: Sequence[tuple[Expression, Sorts]]) -> str:
        """A pattern for what stands behind a name in a comparison with a constant."""
        constants = [side for side, _ in sides[1:] if isinstance(side, Literal)]
        if not constants:
            return ""
        return rf"\s*\W{{0,4}}\s*(?:IN\s*\()?\s*['\"]?{re.escape(constants[0].value)}"


def _variables(side: Expression) -> Iterator[Variable]:
    return (node for node in nodes(side) if isinstance(node, Variable))


def _constant(term: IRI | Literal, text: QueryText) -> str:
    if isinstance(term, IRI):
        return text.written(Name(term.value, term))
    return text.quoted(term.value) if sort_of_term(term) is Sort.TEXT else term.value


def _is_column(name: Name, types: Types, columns: Mapping[IRI, str]) -> bool:
    if name.iri is None:
        return name.local in types or name.local in _OWN
    return name.iri in columns


def _local(name: Name, namespace: str) -> str:
    return name.local if name.iri is None else name.iri.value.removeprefix(namespace)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a part of a query reads: streams, the types of their attributes if all are known, and whether none of the
    streams is made by a query."""

    streams: tuple[str, ...]
    types: Types | None
    is_outside: bool


def _by_stage(stages: Sequence[TypedStage], outside: Given) -> list[_Read]:
    """What each stage reads: a stage comes after those that feed it."""
    found: list[_Read] = []
    derived: dict[str, list[Types] | None] = {}
    for stage in stages:
        types = _united([derived.get(name, outside.get(name)) for name in stage.reads])
        found.append(_Read(stage.reads, types, all(name in outside for name in stage.reads)))
        if stage.feeds is not None:
            before = derived.get(stage.feeds, [])
            known = before is not None and stage.columns is not None
            own = [derived_attributes(stage.columns(types))] if stage.columns is not None else []
            derived[stage.feeds] = [*(before or []), *own] if known else None
    return found


def _united(listed: Sequence[list[Types] | None]) -> Types | None:
    """The attributes of several streams; one of several sorts is of no known type."""
    found: dict[str, Type] = {}
    for stream in listed:
        if stream is None:
            return None
        for name, kind in (item for types in stream for item in types.items()):
            found[name] = kind if name not in found or sort_of(found[name]) is sort_of(kind) else UNKNOWN
    return found


# The graphs of the background (BAD-11)


def check_background(query: Query, background: Background) -> None:
    """A warning for each graph of the background that nothing reads."""
    data = background.data
    read = [graphs_read(each.algebra) for each in (query, *_feeding(query))]
    names: Collection[IRI] = frozenset().union(*(each.names for each in read))
    every, unnamed = any(each.every for each in read), any(each.unnamed for each in read)
    used = {part for name in names for part in data.parts.get(name, ())}
    shown = ", ".join(sorted(map(str, names))) or "no graph"
    for name in [] if every else sorted(set(data.named) - set(names) - used, key=str):
        if isinstance(name, IRI):
            _warn(f"Nothing reads the graph {name} of the background: the query reads {shown}.")
    if data.unnamed is not None and not unnamed and not (data.answers_for_all and (names or every)):
        _warn(f"Nothing reads the background's triples without a graph: the query reads {shown}.")


def _warn(text: str) -> None:
    warn(text, ThenceWarning, stacklevel=4)
