"""An RSEP-QL query as it was read, before it is known to mean something: its clauses, and where each stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Construct, Pattern, Select
from thence.algebra.report import Report
from thence.algebra.rsep_ql import StreamOperator, WindowFunction
from thence.lang.placed_draft import PlacedDraft
from thence.rdf.terms import IRI

_LONGEST = 80  # characters of a name that a message shows


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A window's name, or the variable that stands in its place."""

    name: IRI | Variable
    at: int


@dataclass(frozen=True, slots=True)
class PlacedReport:
    """When the query is evaluated: by REPORT, or in a window's brackets."""

    report: Report
    at: int


@dataclass(frozen=True, slots=True)
class PlacedOperator:
    """RSTREAM, ISTREAM or DSTREAM; None is what STREAM and QUERY say."""

    operator: StreamOperator | None
    at: int


@dataclass(frozen=True, slots=True)
class Register:
    """`REGISTER … name AS`."""

    operator: PlacedOperator
    label: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """A window's brackets."""

    function: WindowFunction
    report: PlacedReport | None = None


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A window that the text names: `FROM NAMED :S WIN […] AS :w`, `FROM NAMED WINDOW :w ON :S […]`."""

    name: IRI
    stream: IRI
    bracket: Bracket
    at: int  # of its name


@dataclass(frozen=True, slots=True)
class StreamClause:
    """`FROM STREAM s […]`: a window that bare triples read (C-SPARQL, SPARQLstream), or that STREAM blocks name
    (CQELS 2)."""

    stream: IRI
    bracket: Bracket
    at: int


@dataclass(frozen=True, slots=True)
class StreamBlock:
    """`STREAM s […] { … }`, whose window has a name that no text can write."""

    name: IRI
    stream: IRI
    bracket: Bracket
    clause: StreamClause | None  # the FROM STREAM that it has its brackets from
    at: int


@dataclass(frozen=True, slots=True)
class EventClause:
    """`EVENT ON :w { … } AS E1`, and where the clause and its name stand."""

    name: str
    window: IRI
    pattern: Pattern
    at: int
    name_at: int


@dataclass(frozen=True, slots=True)
class WindowUse:
    """A name in a pattern: `WINDOW :w`, `EVENT ON :w` or `GRAPH :g`."""

    name: IRI
    at: int
    keyword: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, and the place that it is about."""

    reason: str
    at: int
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(PlacedDraft):
    form: Select | Construct
    form_at: int
    register: Register | None
    operator: PlacedOperator | None  # after SELECT or CONSTRUCT
    windows: Sequence[WindowClause]
    stream_clauses: Sequence[StreamClause]
    blocks: Sequence[StreamBlock]
    events: Sequence[EventClause]
    reports: Sequence[PlacedReport]  # by REPORT, then in brackets
    uses: Sequence[WindowUse]
    matched: frozenset[str]  # the EVENTs that some MATCH names
    cautions: Sequence[Caution]  # that were already clear when the text was read
    namespace: str
    prefixes: dict[str, str]

    @property
    def unread_clauses(self) -> list[StreamClause]:
        """The FROM STREAMs that no STREAM block names."""
        taken = {block.clause for block in self.blocks}
        return [each for each in self.stream_clauses if each not in taken]

    def written(self, iri: IRI) -> str:
        return written(iri, self.prefixes)


def written(iri: IRI, prefixes: dict[str, str]) -> str:
    """An IRI as the text would write it, or as much of it as a message can hold."""
    for prefix, namespace in prefixes.items():
        local = iri.value.removeprefix(namespace)
        if local != iri.value and local.replace("_", "").isalnum():
            return shortened(f"{prefix}:{local}")
    return str(iri) if len(iri.value) <= _LONGEST else f"<{iri.value[:_LONGEST]}…>"


def shortened(text: str) -> str:
    """As much of a text as a message can hold."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
