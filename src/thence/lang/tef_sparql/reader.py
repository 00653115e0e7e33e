"""From a parse tree to a draft of a TEF-SPARQL file: what the grammar can't refuse with a reason is refused here."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lark import Token

from thence.algebra.expressions import Compare, Comparison, Expression, Variable
from thence.algebra.show_sparql import term_text
from thence.algebra.streams import Stream, span_text
from thence.algebra.tef_sparql import (
    Arm,
    ConstructStatement,
    HeadTriple,
    Kind,
    OncePer,
    Open,
    SelectStatement,
    StatementPlaces,
    TefPattern,
    TefStatement,
    When,
    pattern_places,
)
from thence.errors import InputError
from thence.lang.draft import TimeDemand, named_streams
from thence.lang.syntax import offset
from thence.lang.tef_sparql.composition import Composition
from thence.lang.tef_sparql.draft import (
    ON_INIT,
    REPLACE,
    SINCE,
    UNTIL,
    ArmDraft,
    Declaration,
    Draft,
    HeadDraft,
    InfixDraft,
    ListDraft,
    OperandDraft,
    PlacedOncePer,
    PlacedSpan,
    PlacedStatement,
    PunctuationDraft,
    StepDraft,
    StreamClause,
    TimesDraft,
    UnionDraft,
    WithoutDraft,
)
from thence.lang.tef_sparql.expression_reader import TefExpressionReader
from thence.rdf.terms import IRI, XSD, XSD_STRING, Literal
from thence.rdf.times import Instant, Span, format_time, parse_duration, parse_time

_DURATIONS = (XSD + "duration", XSD + "dayTimeDuration")
_SAME = {"HAPPENSWHILE": "DURING"}

C = TypeVar("C", PlacedOncePer, PlacedSpan)


class TefReader(TefExpressionReader):
    """Statements, arms and patterns."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._declared: dict[IRI, Declaration] = {}
        self._streams: list[StreamClause] = []

    def tef_file(self, *statements: PlacedStatement | None) -> Draft:
        found = tuple(each for each in statements if each is not None)
        if not found:
            raise self.error("A statement is required.", hint="SELECT ?x WHERE …")
        return Draft(
            text=self.text,
            demands=tuple(self._demands),
            named=self._named,
            filters_at={},
            statements=found,
            declared=tuple(self._declared.values()),
            streams=self._named_streams(),
            cautions=tuple(self._cautions),
        )

    def place_of(self, variable: Variable, at: int) -> int:
        """The first place of the variable from that place on; that place itself if the variable does not follow."""
        places = self._named[variable]
        found = bisect_left(places, at)
        return places[found] if found < len(places) else at

    def note(self, pattern: TefPattern, at: int) -> None:
        """Record the place of a pattern of the current statement, if it differs from its first part's."""
        self._noted[id(pattern)] = at

    # Statements

    def declare(self, kind: Token, *predicates: IRI) -> None:
        for predicate in predicates:
            found = Declaration(predicate, Kind(kind.lower()), self.here)
            first = self._declared.setdefault(predicate, found)
            if first.kind is not found.kind:
                place = self.text.place(first.at)
                reason = (
                    f"{self.written(predicate)} is DECLAREd {found.kind.value.upper()} here and"
                    f" {first.kind.value.upper()} at {place.line}:{place.column}."
                )
                raise self.error(reason, hint="one of them")

    def construct(self, *parts: Any) -> PlacedStatement:
        at = self.here
        kind = Kind(parts[0].lower()) if isinstance(parts[0], Token) else None
        head = next(part for part in parts if isinstance(part, HeadDraft))
        where: UnionDraft = parts[-1]
        if kind is Kind.EVENT:
            for arm in where.making_facts():
                reason = f"CONSTRUCT EVENT can't have {arm.keyword}, which makes facts."
                raise self.error(reason, at=arm.at, hint="CONSTRUCT FACT")
        once_per, within = self._clauses(parts)
        arms = self._arms(where)
        return self._ended(ConstructStatement(kind, head.triples, arms, once_per, within), at, parts, head.at)

    def select(self, *parts: Any) -> PlacedStatement:
        at = self.here
        where: UnionDraft = parts[-1]
        for arm in where.making_facts():
            reason = f"SELECT can't have {arm.keyword}, which makes facts."
            raise self.error(reason, at=arm.at, hint="CONSTRUCT FACT … in a statement of its own")
        distinct = isinstance(parts[0], Token)
        variables = tuple(part for part in parts if isinstance(part, Variable))
        self.read_only(*variables)
        once_per, within = self._clauses(parts)
        arms = self._arms(where)
        return self._ended(SelectStatement(variables, arms, distinct, once_per, within), at, parts)

    def _arms(self, where: UnionDraft) -> tuple[Arm, ...]:
        return Composition(self).arms(where)

    def _ended(
        self, statement: TefStatement, at: int, parts: Sequence[Any], head_at: tuple[int, ...] = ()
    ) -> PlacedStatement:
        """Warn of bare names in expressions (TEF-70), and begin the next statement."""
        names = {variable.name for variable, places in self._named.items() if places[-1] >= at}
        for place, name in sorted(self._constants.items()):
            if name in names:
                reason = f'"{name[:40]}" is a constant here, and ?{name[:40]} is a variable of the statement.'
                self.caution(reason, place, hint=f"?{name[:40]}")
        places = StatementPlaces(
            at,
            head_at,
            pattern_places(statement, self._noted, at),
            once_per=next((part.at for part in parts if isinstance(part, PlacedOncePer)), at),
            within=next((part.at for part in parts if isinstance(part, PlacedSpan)), at),
        )
        self._constants.clear()
        self._noted.clear()
        self._fresh = 0
        return PlacedStatement(statement, places)

    # Heads

    def head(self, *triples: HeadTriple) -> HeadDraft:
        return HeadDraft(triples, tuple(self._noted[id(each)] for each in triples))

    def head_triple(self, subject: Variable | IRI, predicate: Variable | IRI, target: Expression) -> HeadTriple:
        self.read_only(subject, predicate, target)
        if isinstance(target, IRI) and self._constants:  # a term, and no expression
            last = max(self._constants)
            if last > self.here and target.value == self.namespace + self._constants[last]:
                del self._constants[last]
        found = HeadTriple(subject, predicate, target)
        self._noted[id(found)] = self._predicate_at()
        return found

    # Clauses

    def once_per(self, *parts: Expression) -> PlacedOncePer:
        """A variable behind a comma is one of the variables too."""
        self.read_only(*parts)
        variables = tuple(part for part in parts if isinstance(part, Variable))
        expressions = tuple(part for part in parts if not isinstance(part, Variable))
        return PlacedOncePer(OncePer(variables, expressions), self.here)

    def within(self, span: PlacedSpan) -> PlacedSpan:
        self._demands.append(TimeDemand(span.span.domain, f"WITHIN {span_text(span.span)}", self.here))
        return PlacedSpan(span.span, self.here)

    def duration(self, *parts: Token | Literal) -> PlacedSpan:
        first = parts[0]
        written = " ".join(str(part) for part in parts)
        if isinstance(first, Literal):
            written = first.value
            typed = first.datatype in _DURATIONS
            if not (typed or first.datatype == XSD_STRING) or (typed and not written.strip().startswith("P")):
                raise self.error(f"{first} is not a duration.", hint='WITHIN "PT10M"')
        return PlacedSpan(self._parsed(parse_duration, written), self.here)

    def from_stream(self, *parts: Any) -> StreamClause:
        name = str(parts[0]) if len(parts) == 2 else ""
        self._streams.append(StreamClause(name, parts[-1], self.here))
        return self._streams[-1]

    def stream_iri(self, written: Token | IRI) -> IRI:
        return self.iri(written)

    def _clauses(self, parts: Sequence[Any]) -> tuple[OncePer | None, Span | None]:
        once_per = self._only([part for part in parts if isinstance(part, PlacedOncePer)], "ONCE PER")
        within = self._only([part for part in parts if isinstance(part, PlacedSpan)], "WITHIN")
        return None if once_per is None else once_per.once_per, None if within is None else within.span

    def _only(self, clauses: list[C], words: str) -> C | None:
        if len(clauses) > 1:
            raise self.error(f"{words} is given twice.", at=clauses[1].at, hint=f"one {words}")
        return clauses[0] if clauses else None

    def _named_streams(self) -> tuple[Stream, ...]:
        """The streams of the whole file, each once."""
        unnamed = {each.iri: each.name for each in named_streams((each.iri for each in self._streams), self.namespace)}
        found: dict[str, Stream] = {}
        iris: dict[IRI, str] = {}
        for clause in self._streams:
            name = clause.name or iris.get(clause.iri) or unnamed[clause.iri]
            stream = found.setdefault(name, Stream(name, clause.iri))
            if stream.iri != clause.iri:
                reason = f'Two streams have the name "{name[:40]}".'
                raise self.error(reason, at=clause.at, hint=f"FROM STREAM another {clause.iri}")
            if iris.setdefault(clause.iri, name) != name:
                reason = f'The stream {clause.iri} has two names, "{iris[clause.iri][:40]}" and "{name[:40]}".'
                raise self.error(reason, at=clause.at, hint="one of them")
        return tuple(found.values())

    # Arms

    def pattern(self, *arms: ArmDraft) -> UnionDraft:
        return UnionDraft(arms, self.here)

    def plain(self, content: ListDraft) -> ArmDraft:
        return ArmDraft("", content, self.here)

    def since(self, content: ListDraft) -> ArmDraft:
        return ArmDraft(SINCE, content, self.here)

    def until(self, content: ListDraft) -> ArmDraft:
        return ArmDraft(UNTIL, content, self.here)

    def replace(self, content: ListDraft, events: ListDraft) -> ArmDraft:
        return ArmDraft(REPLACE, content, self.here, events)

    def on_init(self, content: ListDraft) -> ArmDraft:
        return ArmDraft(ON_INIT, content, self.here)

    # Patterns

    def list(self, first: OperandDraft, *rest: Any) -> ListDraft:
        return ListDraft(first, rest, self.here)

    def infix(self, first: OperandDraft, *rest: Any) -> OperandDraft:
        if not rest:
            return first
        words = [_SAME.get(word.upper(), word.upper()) for word in rest[::2]]
        return InfixDraft(first, tuple(zip(words, rest[1::2], map(offset, rest[::2]), strict=True)))

    def without(self, _: Token, pattern: OperandDraft) -> WithoutDraft:
        return WithoutDraft(pattern, self.here)

    def on_start(self, _: Token, pattern: OperandDraft) -> PunctuationDraft:
        return PunctuationDraft("ONSTART", pattern, self.here)

    def on_end(self, _: Token, pattern: OperandDraft) -> PunctuationDraft:
        return PunctuationDraft("ONEND", pattern, self.here)

    def group(self, content: UnionDraft) -> OperandDraft:
        """A group; brackets around one pattern alone leave no trace."""
        (arm, *others) = content.arms
        if others or arm.keyword or arm.content.rest:
            return content
        return arm.content.first

    def times(self, pattern: OperandDraft, start: When, end: When) -> TimesDraft:
        return TimesDraft(pattern, start, end)

    def when(self, *parts: Any) -> When:
        """TEF-54: a variable, a constant, or an open end."""
        match parts:
            case (Variable() as variable,):
                return variable
            case (Token(type="INFINITY"),):
                return Open.INFINITY
            case (Literal() as literal,):
                instant: Instant = self._parsed(parse_time, literal)
            case _:
                instant = self._parsed(parse_time, Literal("".join(parts), XSD + "integer"))
        words = f"[{format_time(*instant)}, …]"
        self._demands.append(TimeDemand(instant.domain, words, self.here))
        return instant

    # Steps

    def test(self, expression: Expression) -> StepDraft:
        self.read_only(expression)
        if isinstance(expression, Variable | IRI | Literal):
            reason = f'"," joins patterns and expressions, and {self.written(expression)} alone is neither.'
            raise self.error(reason, hint=f"repeat subject and predicate, or FILTER ({self.written(expression)})")
        return StepDraft(expression, "", self.here)

    def filter(self, expression: Expression) -> StepDraft:
        self.read_only(expression)
        return StepDraft(expression, "FILTER", self.here)

    def bind(self, expression: Expression) -> StepDraft:
        self.read_only(expression)
        match expression:
            case Compare(Comparison.EQUAL, Variable(), _):
                return StepDraft(expression, "BIND", self.here)
        raise self.error("BIND gives a variable a value.", hint="BIND ?v = …")

    def bind_as(self, expression: Expression, variable: Variable) -> StepDraft:
        return self.bind(Compare(Comparison.EQUAL, variable, expression))

    def written(self, term: Variable | IRI | Literal) -> str:
        """A term as a message shows it."""
        text = term_text(term)
        if isinstance(term, IRI):
            for prefix, namespace in {**self.prefixes, "": self.namespace}.items():
                local = term.value.removeprefix(namespace)
                if local != term.value and local.replace("_", "").replace("-", "").isalnum():
                    text = f"{prefix}:{local}".removeprefix(":")
        return text if len(text) <= 60 else f"{text[:60]}…"

    def _parsed(self, parse: Callable[[Any], Any], value: object) -> Any:
        try:
            return parse(value)
        except InputError as error:
            raise self.refused(error) from None
