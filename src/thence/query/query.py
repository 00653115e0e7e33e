"""`parse` and `Query`: what a user of Thence writes first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thence.algebra.components import ComposedQuery
from thence.algebra.sequences import ConstructEvents, SequenceQuery
from thence.errors import InputError, QueryError
from thence.lang import sase, spaseq
from thence.local.answers import Answers
from thence.local.composed import runner_of
from thence.local.domains import TimeDomain
from thence.local.engine import Engine
from thence.local.finite import Matching
from thence.local.given import by_stream, sources
from thence.local.sequences import SequenceRunner
from thence.local.watermarks import Watermark
from thence.match.context import Context
from thence.optimize.place_exists import place_exists
from thence.plan.components import plan as plan_components
from thence.plan.sequences import plan
from thence.program.sequence import SequenceProgram
from thence.query.languages import Language, language_named, recognised
from thence.query.options import Duration, absolute_namespace, background_of, duration, idle_streams, most_runs
from thence.rdf.times import MAX_TIME

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation


def parse(text: str | Path, *, language: str | None = None, namespace: str | None = None) -> Query:
    """A query. A `Path` is read, a `str` is the query's text. Without `language` it is recognised by the file's ending
    or the text's keywords. `namespace` is that of `:name`, until the text declares its own, and of the bare names of
    typed events, which by default are of the text's `PREFIX :`, else of its BASE, else of `http://example.org/`.

    >>> query = parse('''
    ...     PREFIX : <http://example.org/>
    ...     SELECT ?house ?before ?after
    ...     WITHIN 10 TICKS
    ...     FROM STREAM power <http://example.org/power>
    ...     WHERE {
    ...         SEQ (A ; B)
    ...         DEFINE GPM A ON power { ?house :watts ?before }
    ...         DEFINE GPM B ON power { ?house :watts ?after FILTER(?after > 2 * ?before) }
    ...     }''')
    >>> from thence.rdf.events import Event
    >>> watts = [(1, 400), (3, 700), (8, 1500)]
    >>> events = [Event(t, f"<http://example.org/h1> <http://example.org/watts> {w} .") for t, w in watts]
    >>> for match in query.match(events):
    ...     print(match.start, match.end, match.bindings["after"].value)
    1 8 1500
    3 8 1500
    """
    path = text if isinstance(text, Path) else None
    written = _read(path) if path is not None else text
    if not isinstance(written, str):
        raise InputError(f"A query is text or a Path, not {type(written).__name__}")
    namespace = absolute_namespace(namespace)
    found = language_named(language) if language is not None else recognised(written, path)
    source = "query" if path is None else path.name
    if found is Language.SASE:
        composed = sase.parse(written, source=source, namespace=namespace)
        return Query(composed, found, source, prefixes_of(written))
    if found is not Language.SPASEQ:
        hint = "" if language is not None else 'language="spaseq", if it is meant to be SPAseQ'
        place = f"{path.name}: " if path is not None else ""
        raise QueryError(f"{place}{found.title} is not built yet; SPAseQ and SASE+ are.", hint=hint)
    algebra = spaseq.parse(written, source=source, namespace=namespace)
    place_exists(algebra)  # refuses what no event can answer: now, and not when it runs
    return Query(algebra, found, source, prefixes_of(written))


_PREFIX = re.compile(r"\bPREFIX\s+([\w.-]{0,100}):\s*<([^<>\"{}|^`\\\s]*)>", re.IGNORECASE)


def prefixes_of(text: str) -> dict[str, str]:
    """The prefixes that a query declares, for showing terms as it writes them.

    >>> prefixes_of("PREFIX : <http://example.org/> SELECT *")
    {'': 'http://example.org/'}
    """
    return {name: iri for name, iri in _PREFIX.findall(text) if iri}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class Query:
    """A query that can be read and means something. `warnings` say what is legal, but hardly meant."""

    algebra: SequenceQuery | ComposedQuery
    language: Language
    source: str = field(default="query", compare=False)
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.algebra.warnings

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams."""
        return tuple(stream.name for stream in self.algebra.streams)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of SELECT or RETURN, by name; none for CONSTRUCT."""
        if isinstance(self.algebra, ComposedQuery):
            return self.algebra.columns
        form = self.algebra.form
        return () if isinstance(form, ConstructEvents) else tuple(column.variable.name for column in form.columns)

    @property
    def constructs(self) -> bool:
        """Whether it makes events (CONSTRUCT) and not rows."""
        return isinstance(self.algebra, SequenceQuery) and isinstance(self.algebra.form, ConstructEvents)

    def match(
        self,
        streams: Any,
        *,
        background: Any = None,
        lateness: Duration | None = None,
        max_runs: int | None = None,
        problems: bool = False,
        timed_out: bool = False,
        optimise: bool = True,
    ) -> Matching:
        """The matches in finite streams, in order of certainty, then end, start and ids.

        `streams` maps the query's streams, by name or IRI, to a path, an iterable of `Event`, or a list of these; a
        query over one stream takes it alone. All of it is taken in the order of time, so nothing is late, whatever the
        `lateness`. `background` is a path, an rdflib or pyoxigraph store, a list of them, or a mapping from graph IRIs
        to them. More than `max_runs` partial matches at once are a LimitError. With `problems`, what is wrong with bad
        events comes as `Problem`, among the matches; with `timed_out`, partial matches whose window ended too.
        `optimise=False` gives the same answers, slower.
        """
        given = {
            name: sources(name, value, namespace=self.algebra.namespace)
            for name, value in by_stream(streams, self.algebra.streams).items()
        }
        domain = TimeDomain.of(self.algebra, {"lateness": duration(lateness, option="lateness")})
        answers = self._answers(background, max_runs, optimise, timed_out)
        return Matching(answers, given, domain, problems or timed_out)

    def engine(
        self,
        *,
        background: Any = None,
        lateness: Duration | None = None,
        idle: Any = None,
        max_runs: int | None = None,
        problems: bool = False,
        timed_out: bool = False,
        optimise: bool = True,
    ) -> Engine:
        """The query, ready to have events pushed into it: `push`, `advance`, `close`.

        Time has come as far as the stream that is furthest behind, minus `lateness`; a silent stream holds the others
        back, unless `idle` names it, or is the time after which any is left out.
        """
        watermark, domain = self._watermark(lateness, idle)
        answers = self._answers(background, max_runs, optimise, timed_out, running=True)
        return Engine(answers, self.algebra.streams, watermark, domain, problems or timed_out, self.algebra.namespace)

    def dataframe(
        self,
        streams: Any,
        *,
        background: Any = None,
        shards: int | None = None,
        lateness: Duration | None = None,
        idle: Any = None,
        max_runs: int | None = None,
        problems: bool = False,
        timed_out: bool = False,
        optimise: bool = True,
        terms: str = "text",
        columns: Any = None,
        counts: str | Observation = "thence",
    ) -> DataFrame:
        """The query on Spark: event DataFrames in, a DataFrame of matches out; streaming ones in, a streaming one out.

        `streams` maps the query's streams to DataFrames: of RDF (`time`, and `value`, a document, or `graph`, an array
        of triples) or of typed columns (`type`, `time`, and attributes). `columns` says what these are called where it
        is otherwise: {"time": "ts"}, or such a mapping for each stream. Matches have `start`, `end`, a column for each
        variable (as text; with terms="struct", as structs of type, value, datatype and language), `match_id` and
        `events`. With `problems`, rows of what is wrong come too, told by `problem`, `reason`, `event`, `stream`. They
        are counted in any case: in streaming, in the query's progress, by metrics whose names begin with `counts`; in
        batch, by the Observation that it can be.
        """
        from thence.query.frames import frames_of  # Spark is heavy, and only needed here

        given = frames_of(streams, columns, self.algebra.streams)
        watermark, domain = self._watermark(lateness, idle)
        if isinstance(self.algebra, ComposedQuery):
            self.refuse_rdf(background, timed_out)
        return given.answers(
            self,
            domain,
            background,
            optimise=optimise,
            shards=shards,
            lateness=watermark.lateness,
            idle=watermark.idle,
            idle_after=watermark.idle_after,
            max_runs=most_runs(max_runs),
            problems=problems or timed_out,
            partial=timed_out,
            terms=terms,
            counts=counts,
            namespace=self.algebra.namespace,
        )

    def explain(self, format: str = "text", *, optimise: bool = True) -> str:
        """How the query is run: its algebra, automaton, keys and window, and where each filter acts. `format` is
        `text`, `mermaid` (a state diagram), `svg` (a drawing) or `json`."""
        from thence.view.explain import explain, explain_several

        if isinstance(self.algebra, ComposedQuery) and not self.algebra.is_one_block:
            return explain_several([plan_components(block, optimise=optimise) for block in self.algebra.blocks], format)
        return explain(self.program(optimise=optimise), format)

    def program(self, *, optimise: bool = True, partial: bool = False) -> SequenceProgram:
        """What the machine runs: of a query that is one, and not several that feed each other."""
        if isinstance(self.algebra, SequenceQuery):
            return plan(self.algebra, optimise=optimise, partial=partial)
        self.refuse_rdf(None, partial)
        if not self.algebra.is_one_block:
            raise InputError("Several queries in one text have no single automaton. Try: one of them alone")
        return plan_components(self.algebra.blocks[0], optimise=optimise)

    def refuse_rdf(self, background: Any, partial: bool) -> None:
        """SASE+ asks nothing of a background, and what a closure waited for in vain is hard to tell."""
        if background is not None:
            raise InputError("SASE+ has no background. Try: without it")
        if partial:
            raise InputError("SASE+ does not tell partial matches that timed out. Try: without timed_out")

    def _watermark(self, lateness: Duration | None, idle: Any) -> tuple[Watermark, TimeDomain]:
        """How far time will have come, and which kind of time that is, as far as it is known."""
        allowed = duration(lateness, option="lateness")
        names, after = idle_streams(idle, self.algebra.streams)
        domain = TimeDomain.of(self.algebra, {"lateness": allowed} | ({} if after is None else {"idle": after}))
        longest = None if after is None else after.length
        return Watermark(self.streams, min(allowed.length, MAX_TIME), names, longest), domain

    def _answers(
        self, background: Any, max_runs: int | None, optimise: bool, partial: bool, running: bool = False
    ) -> Answers:
        if isinstance(self.algebra, ComposedQuery):
            self.refuse_rdf(background, partial)
            most = most_runs(max_runs)
            return Answers(runner_of(self.algebra, optimise=optimise, max_runs=most, running=running))
        program = plan(self.algebra, optimise=optimise, partial=partial)
        known, most = background_of(background, program), most_runs(max_runs)
        return Answers(SequenceRunner(program, known, Context(), max_runs=most, partial=partial))
