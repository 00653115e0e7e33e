"""`parse` and `Query`: what a user of Thence writes first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from thence.algebra.streams import QueryAlgebra
from thence.errors import InputError, ThenceWarning
from thence.interface.dataflow import Dataflow, connected
from thence.interface.operator import Feature
from thence.local.engine import Engine
from thence.local.finite_run import Matching
from thence.local.flow import Answers, LocalFlow
from thence.local.inputs import check_inputs, inputs_by_stream, stream_inputs
from thence.query.languages import CompileOptions, Language, language_named, recognised
from thence.query.options import Duration, Options, absolute_namespace
from thence.rdf.times import Domain
from thence.spark.installed import check_installed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation


DEFAULT_OPTIONS = CompileOptions()


def parse(text: str | Path, *, language: str | None = None, namespace: str | None = None) -> Query:
    """Parse a query: a `Path` is read, a `str` is the query's text. Without `language` it is recognised by the file's
    ending or the text's keywords. `namespace` is that of `:name` until the text declares its own, and of the bare
    names of typed events; by default these are in the text's `PREFIX :`, else its BASE, else `http://example.org/`.

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
    algebra = found.parse(written, source=source, namespace=namespace)
    query = Query(algebra, found, source, prefixes_of(written))
    query.dataflow()  # rejects what cannot be run: now, not when it runs
    return query


_PREFIX = re.compile(r"\bPREFIX\s+([\w.-]{0,100}):\s*<([^<>\"{}|^`\\\s]*)>", re.IGNORECASE)


def prefixes_of(text: str) -> dict[str, str]:
    """The prefixes that a query declares, for showing terms as it writes them.

    >>> prefixes_of("PREFIX : <http://example.org/> SELECT *")
    {'': 'http://example.org/'}
    """
    return {name: iri for name, iri in _PREFIX.findall(text) if iri}


_SHOWN = 8


def _first(names: Sequence[str]) -> str:
    """Names in a line, of many only the first."""
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(" ".join(name.split()) for name in names[:_SHOWN]) + rest


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from None


@dataclass(frozen=True, repr=False)
class Query:
    """A parsed, checked query. `warnings` lists likely mistakes; those that depend on the options of a method are
    Python warnings of class `ThenceWarning`.

    >>> parse("PATTERN SEQ(Bid a, Bid b) WITHIN 5 TICKS RETURN a.price, b.price")
    <Query: SASE+ over events; columns a.price, b.price>
    """

    algebra: QueryAlgebra
    language: Language
    source: str = field(default="query", compare=False)
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    feeders: Mapping[str, Query] = field(default_factory=dict, repr=False)
    """The queries that feed some of its streams."""
    _compiled: dict[CompileOptions, Dataflow] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<Query: {self._about}>"

    @property
    def _about(self) -> str:
        """The query in some words: its language, streams and columns."""
        made = "makes events" if self.constructs else f"columns {_first(self.columns)}"
        return f"{self.language.title} over {_first(self.streams)}; {made}"

    def dataflow(self, options: CompileOptions = DEFAULT_OPTIONS) -> Dataflow:
        """The query compiled: its stages, each a program with its operator."""
        if options not in self._compiled:
            partial = options.timed_out and Feature.TIMED_OUT in self.language.options
            own = self.language.compile(self.algebra, replace(options, timed_out=partial))
            others = {name: each.dataflow(options) for name, each in self.feeders.items()}
            self._compiled[options] = connected(own, others) if others else own
        return self._compiled[options]

    def reading(self, feeders: Mapping[str, Query]) -> Query:
        """The same query, some of whose streams are the events that other queries CONSTRUCT.

        >>> from thence.rdf.events import Event
        >>> text = "FROM STREAM {0} <x:{0}> {{ SEQ (A) DEFINE GPM A ON {0} {{ ?s <x:p> ?v }} }}"
        >>> doubled = parse("CONSTRUCT { ?s <x:p> ?v . ?s <x:q> 2 } " + text.format("S"))
        >>> shown = parse("SELECT ?v " + text.format("D")).reading({"D": doubled})
        >>> [match.bindings["v"].value for match in shown.match({"S": [Event(1, "<x:s> <x:p> 7 .")]})]
        ['7']
        """
        from thence.local.inputs import stream_name

        own = self.language.compile(self.algebra, DEFAULT_OPTIONS).streams
        found = {stream_name(name, own): each for name, each in feeders.items()}
        query = replace(self, feeders={**self.feeders, **found})
        query.dataflow()
        query.time_kind()
        return query

    def time_kind(self) -> tuple[Domain, str] | None:
        """The kind of time that the text and its feeding queries demand, and the words that demand it."""
        found = [self.algebra.time_kind, *(each.time_kind() for each in self.feeders.values())]
        kinds = [kind for kind in found if kind is not None]
        for domain, words in kinds[1:]:
            if domain is not kinds[0][0]:
                raise InputError(
                    f"{words} and {kinds[0][1]} are different kinds of time; a query has one kind of time."
                )
        return kinds[0] if kinds else None

    @property
    def warnings(self) -> tuple[str, ...]:
        own = self.language.compile(self.algebra, DEFAULT_OPTIONS) if self.feeders else self.dataflow()
        fed = (each for query in self.feeders.values() for each in query.warnings)
        return (*self.algebra.warnings, *own.warnings, *fed)

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams."""
        return tuple(stream.name for stream in self.dataflow().streams)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of SELECT or RETURN, by name; none for CONSTRUCT."""
        return self.dataflow().columns

    @property
    def constructs(self) -> bool:
        """Whether it makes events (CONSTRUCT) and not rows."""
        return self.dataflow().makes_events

    def match(
        self,
        streams: Any,
        *,
        background: Any = None,
        reasoning: str | None = None,
        policy: str | None = None,
        report: Any = None,
        lateness: Duration | None = None,
        max_runs: int | None = None,
        max_rounds: int | None = None,
        max_steps: int | None = None,
        problems: bool = False,
        timed_out: bool = False,
        optimise: bool = True,
    ) -> Matching:
        """The matches in finite streams, in order of certainty, then end, start and ids: an iterable, which runs the
        query each time it is iterated, and which `table()`, `to_pandas()` and `to_polars()` make a table of.

        `streams` maps the query's streams, by name or IRI, to a path, an iterable of `Event`, or a list of these; a
        query over one stream takes it alone. All of it is taken in the order of time, so nothing is late, whatever the
        `lateness`. `background` is a path, an rdflib or pyoxigraph store, a list of them, or a mapping from graph IRIs
        to them; reasoning="rdfs" adds what it entails (EP-SPARQL). `policy` chooses among matches ("chronological",
        "recent"), or is a preset of RSEP-QL ("c-sparql"); `report` says when an RSEP-QL query is evaluated that does
        not say so itself: "content", "close", "non_empty_content", a length of time, or a list of times. More than
        `max_runs` partial matches at once are a LimitError, and so are more than `max_rounds` of rules, or `max_steps`
        of TEF-SPARQL, at one time. With `problems`, bad events come as `Problem`, among the matches; with `timed_out`,
        partial matches whose window ended too. `optimise=False` gives the same answers, slower.
        """
        return self.matching(streams, Options.among(locals()))

    def matching(self, streams: Any, options: Options) -> Matching:
        """`match`, with options that are checked."""
        dataflow = self.supported(options)
        inputs = {
            name: stream_inputs(name, value, namespace=dataflow.namespace_of(name))
            for name, value in inputs_by_stream(streams, dataflow.streams).items()
        }
        _, domain = options.timing(dataflow.streams, self.time_kind())
        answers = Answers(LocalFlow(dataflow, options.environment(dataflow), domain))
        check_inputs(dataflow, inputs)
        return Matching(answers, inputs, options.gives_problems, self._about)

    def engine(
        self,
        *,
        background: Any = None,
        reasoning: str | None = None,
        policy: str | None = None,
        report: Any = None,
        lateness: Duration | None = None,
        idle: Any = None,
        max_runs: int | None = None,
        max_rounds: int | None = None,
        max_steps: int | None = None,
        problems: bool = False,
        timed_out: bool = False,
        optimise: bool = True,
        history: bool = False,
    ) -> Engine:
        """The query, ready to have events pushed into it: `push`, `advance`, `close`.

        The watermark is the latest time of the stream that is furthest behind, minus `lateness`; a silent stream holds
        the others back, unless `idle` names it, or is the time after which any is left out. With `history`, facts that
        have ended are kept, so that `engine.facts(at=…)` answers for earlier times (TEF-SPARQL).
        """
        options = Options.among(locals())
        dataflow = self.supported(options)
        watermark, domain = options.timing(dataflow.streams, self.time_kind())
        answers = Answers(LocalFlow(dataflow, options.environment(dataflow, running=True), domain))
        return Engine(
            answers, dataflow.streams, watermark, options.gives_problems, dataflow.namespace_of, about=self._about
        )

    def dataframe(
        self,
        streams: Any,
        *,
        background: Any = None,
        reasoning: str | None = None,
        policy: str | None = None,
        report: Any = None,
        shards: int | None = None,
        lateness: Duration | None = None,
        idle: Any = None,
        max_runs: int | None = None,
        max_rounds: int | None = None,
        max_steps: int | None = None,
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
        `events`. With `problems`, bad and late events come as rows too, with `problem`, `reason`, `event`, `stream`.
        They are counted in any case: in streaming, in the query's progress, by metrics whose names begin with `counts`;
        in batch, by the Observation that it can be.
        """
        check_installed("dataframe()")
        from thence.query.dataframes import frames_of  # Spark is heavy, and only needed here

        options = Options.among(locals())
        dataflow = self.supported(options)
        frames = frames_of(streams, options.columns, dataflow.streams)
        return frames.answers(dataflow, options, self.time_kind())

    def explain(
        self,
        format: str = "text",
        *,
        optimise: bool = True,
        reasoning: str | None = None,
        policy: str | None = None,
        report: Any = None,
    ) -> str:
        """How the query is run: its algebra, its stages, keys and windows, and where each filter acts. `format` is
        `text`, `mermaid` (a diagram), `svg` (a drawing) or `json`."""
        from thence.explain.explain import explain

        return explain(self.supported(Options.among(locals())), format)

    def supported(self, options: Options) -> Dataflow:
        """The query compiled, if it supports all options that are given; what these make hardly meant is a
        `ThenceWarning`."""
        options.check_supported(self.language, self.dataflow())
        dataflow = self.dataflow(options.compile_options)
        for warning in dataflow.warnings:
            if warning not in self.dataflow().warnings:  # those are in `warnings`
                warn(warning, ThenceWarning, stacklevel=3)
        return dataflow
