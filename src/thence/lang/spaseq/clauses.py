"""The clauses of a SPAseQ query between SELECT and SEQ: WITHIN, PARTITION BY, FROM STREAM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from lark import Token

from thence.algebra.expressions import Variable
from thence.algebra.streams import Stream, Window
from thence.errors import InputError, QueryError
from thence.lang.sparql.query_reader import QueryReader
from thence.lang.spaseq.draft import NamedStream
from thence.lang.syntax import offset
from thence.rdf.terms import IRI, XSD, XSD_STRING, Literal
from thence.rdf.times import Domain, Instant, Span, parse_duration, parse_time

_DURATIONS = (XSD + "duration", XSD + "dayTimeDuration")


@dataclass(frozen=True, slots=True)
class WithinClause:
    span: Span
    tumbling: bool
    at: int


@dataclass(frozen=True, slots=True)
class OriginClause:
    """`FROM t`, which belongs to TUMBLING."""

    instant: Instant
    at: int


@dataclass(frozen=True, slots=True)
class PartitionClause:
    variables: tuple[Variable, ...]
    at: int


Clause: TypeAlias = WithinClause | OriginClause | PartitionClause | NamedStream
W = TypeVar("W", WithinClause, PartitionClause)


class ClauseReader(QueryReader):
    """The clauses, in any order."""

    def within(self, span: Span, tumbling: Token | None = None) -> WithinClause:
        return WithinClause(span, tumbling is not None, self.here)

    def duration(self, *parts: Token | Literal) -> Span:
        first = parts[0]
        if isinstance(first, Literal):
            if first.datatype not in (XSD_STRING, *_DURATIONS) or first.language is not None:
                raise self.error(f"{first} is no duration.", hint='WITHIN "PT10M"')
            written = first.value
            if first.datatype in _DURATIONS and not written.strip().startswith("P"):
                raise self.error(f"{first} is no duration.", hint='WITHIN "PT10M"')
        else:
            written = " ".join(str(part) for part in parts)
        try:
            span = parse_duration(written)
        except InputError as error:
            raise self._wrong(error) from None
        if span.length == 0:
            raise self.error("A window can't be without length.", hint="WITHIN 10 MINUTES")
        return span

    def origin(self, time: Token | Literal) -> OriginClause:
        try:
            match time:
                case Literal():
                    instant = parse_time(time)
                case Token(type="TIME"):
                    instant = parse_time(str(time))
                case _:
                    instant = parse_time(Literal(str(time), XSD + "integer"))
        except InputError as error:
            raise self._wrong(error) from None
        return OriginClause(instant, self.here)

    def partition(self, *variables: Variable) -> PartitionClause:
        twice = next((v for i, v in enumerate(variables) if v in variables[:i]), None)
        if twice is not None:
            raise self.error(f"PARTITION BY names {twice} twice.")
        return PartitionClause(variables, self.here)

    def stream(self, token: Token, iri: IRI) -> NamedStream:
        return NamedStream(Stream(str(token), iri), offset(token))

    def _wrong(self, error: InputError) -> QueryError:
        reason, _, hint = str(error).partition(" Try: ")
        return self.error(reason if reason.endswith(".") else f"{reason}.", hint=hint)

    def partitioned(self, clauses: list[Clause]) -> PartitionClause | None:
        """The one PARTITION BY, if there is one."""
        return self._only([clause for clause in clauses if isinstance(clause, PartitionClause)], "PARTITION BY")

    def window(self, clauses: list[Clause]) -> Window | None:
        """What WITHIN, TUMBLING and FROM t say together."""
        within = self._only([clause for clause in clauses if isinstance(clause, WithinClause)], "WITHIN")
        origin: OriginClause | None = None
        for before, clause in zip((None, *clauses), clauses, strict=False):
            if isinstance(clause, OriginClause):
                if not (isinstance(before, WithinClause) and before.tumbling):
                    hint = "WITHIN 10 MINUTES TUMBLING FROM …" if within is None else "TUMBLING directly before it"
                    raise self.error("FROM with a time belongs to TUMBLING.", at=clause.at, hint=hint)
                origin = clause
        if within is None:
            return None
        if origin is None:
            return Window(within.span, within.tumbling)
        self._check_domains(within, origin)
        return Window(within.span, tumbling=True, origin=origin.instant.time)

    def _only(self, clauses: list[W], words: str) -> W | None:
        if len(clauses) > 1:
            raise self.error(f"{words} stands twice.", at=clauses[1].at, hint=f"one {words}")
        return clauses[0] if clauses else None

    def _check_domains(self, within: WithinClause, origin: OriginClause) -> None:
        if within.span.domain is origin.instant.domain:
            return
        if within.span.domain is Domain.TICKS:
            reason, hint = "WITHIN counts ticks, but TUMBLING begins at a date.", "TUMBLING FROM 0"
        else:
            reason, hint = "WITHIN is a time, but TUMBLING begins at a tick.", "TUMBLING FROM 2024-05-06T07:00:00Z"
        raise self.error(reason, at=origin.at, hint=hint)
