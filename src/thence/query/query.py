"""`parse` and `Query`: what a user of Thence writes first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
from thence.local.funnel import CompiledStep
from thence.local.inputs import check_inputs, input_types, inputs_by_stream, stream_inputs, stream_name
from thence.query.languages import NO_ORDER, CompileOptions, Language, OrderNames, language_named, recognised
from thence.query.options import Duration, Options, absolute_namespace
from thence.query.schema_checks import check_background, check_input
from thence.rdf.events import predicate_term
from thence.rdf.terms import IRI, is_absolute
from thence.rdf.times import Domain
from thence.spark.installed import check_installed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

    from thence.columns.value_types import Types
    from thence.match.background import Background


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
    query = Query(algebra, found, source, prefixes_of(written), text=written)
    query.dataflow()  # rejects what cannot be run: now, not when it runs
    return query


_PREFIX = re.compile(r"\bPREFIX\s+([\w.-]{0,100}):\s*<([^<>\"{}|^`\\\s]*)>", re.IGNORECASE)


def prefixes_of(text: str) -> dict[str, str]:
    """The prefixes that a query declares, for showing terms as it writes them.

    >>> prefixes_of("PREFIX : <http://example.org/> SELECT *")
    {'': 'http://example.org/'}
    """
    return {name: iri for name, iri in _PREFIX.findall(text) if iri}


def predicate_named(name: str, namespace: str, prefixes: Mapping[str, str]) -> IRI:
    """The predicate of a name: a column, an IRI, or a name with one of the query's prefixes.

    >>> print(predicate_named("seq", "http://example.org/", {}), predicate_named("x:n", "", {"x": "http://x.org/"}))
    <http://example.org/seq> <http://x.org/n>
    """
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes:
        return IRI(prefixes[prefix] + local)
    bare = name[1:-1] if name[0] == "<" and name[-1] == ">" else name
    return IRI(bare) if is_absolute(bare) else predicate_term(name, namespace)


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
    text: str = field(default="", compare=False, repr=False)
    """As it was written, for the places in errors that only the input shows; empty if it was built."""
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
            if options.order != NO_ORDER:
                whole = self.dataflow(replace(options, order=NO_ORDER))
                self._compiled[options] = whole.ordered(self._order(options.order, whole))
                return self._compiled[options]
            partial = options.timed_out and Feature.TIMED_OUT in self.language.options
            own = self.language.compile(self.algebra, replace(options, timed_out=partial))
            others = {name: each.dataflow(options) for name, each in self.feeders.items()}
            self._compiled[options] = connected(own, others) if others else own
        return self._compiled[options]

    def _order(self, given: OrderNames, dataflow: Dataflow) -> dict[str, tuple[IRI, ...]]:
        """The predicates by which the events of each stream from outside are ordered within a time."""
        found: dict[str, tuple[IRI, ...]] = {}
        for called, names in given.by_stream:
            streams = dataflow.streams
            wanted = [each.name for each in streams] if called is None else [stream_name(called, streams)]
            for stream in wanted:
                namespace = dataflow.namespace_of(stream)
                found[stream] = tuple(predicate_named(name, namespace, self.prefixes) for name in names)
        return found

    def reading(self, feeders: Mapping[str, Query]) -> Query:
        """The same query, some of whose streams are the events that other queries CONSTRUCT.

        >>> from thence.rdf.events import Event
        >>> text = "FROM STREAM {0} <x:{0}> {{ SEQ (A) DEFINE GPM A ON {0} {{ ?s <x:p> ?v }} }}"
        >>> doubled = parse("CONSTRUCT { ?s <x:p> ?v . ?s <x:q> 2 } " + text.format("S"))
        >>> shown = parse("SELECT ?v " + text.format("D")).reading({"D": doubled})
        >>> [match.bindings["v"].value for match in shown.match({"S": [Event(1, "<x:s> <x:p> 7 .")]})]
        ['7']
        """
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
        order: Any = None,
        optimise: bool = True,
        columns: Any = None,
        types: Any = None,
        time_unit: str | None = None,
        time_zone: str | None = None,
        time_format: str | None = None,
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
        partial matches whose window ended too. `order` names columns or predicates whose values order the events of one
        time, as ORDER BY does: "seq", ("seq", "line"), or such for each stream (SPAseQ, SASE+, TEF-SPARQL).
        `optimise=False` gives the same answers, slower.
        """
        return self.matching(streams, Options.among(locals()))

    def matching(self, streams: Any, options: Options) -> Matching:
        """`match`, with options that are checked."""
        dataflow = self.supported(options)
        layouts = options.layouts(dataflow)
        inputs = {
            name: stream_inputs(name, value, namespace=dataflow.namespace_of(name), layout=layouts[name])
            for name, value in inputs_by_stream(streams, dataflow.streams).items()
        }
        _, domain = options.timing(dataflow.streams, self.time_kind())
        answers = Answers(LocalFlow(dataflow, options.environment(dataflow), domain))
        # names and comparisons first, since these errors have their places
        expected = check_input(self, input_types(inputs), answers.flow.environment.background)
        check_inputs(dataflow, inputs)
        steps = partial(self._steps, options) if self.language.funnel and not self.feeders else None
        return Matching(answers, inputs, options.gives_problems, expected, steps=steps, about=self._about)

    def _steps(self, options: Options) -> Iterator[CompiledStep]:
        """The steps of its funnel, each compiled."""
        for step in self.language.steps(self.algebra):
            compiled = self.language.compile(step.algebra, DEFAULT_OPTIONS)
            if options.order != NO_ORDER:
                compiled = compiled.ordered(self._order(options.order, compiled))
            yield CompiledStep(step.text, compiled, step.begins)

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
        order: Any = None,
        optimise: bool = True,
        columns: Any = None,
        types: Any = None,
        time_unit: str | None = None,
        time_zone: str | None = None,
        time_format: str | None = None,
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
        environment = options.environment(dataflow, running=True)
        check_background(self, environment.background)
        answers = Answers(LocalFlow(dataflow, environment, domain))
        return Engine(
            answers,
            dataflow.streams,
            watermark,
            options.gives_problems,
            dataflow.namespace_of,
            options.layouts(dataflow),
            about=self._about,
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
        order: Any = None,
        optimise: bool = True,
        columns: Any = None,
        types: Any = None,
        time_unit: str | None = None,
        time_zone: str | None = None,
        time_format: str | None = None,
        terms: str = "text",
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
        frames = frames_of(streams, dataflow.streams)

        def check(types: Mapping[str, Types | None], background: Background) -> None:
            check_input(self, {name: None if own is None else [own] for name, own in types.items()}, background)

        return frames.answers(dataflow, options, self.time_kind(), check)

    def explain(
        self,
        format: str = "text",
        *,
        optimise: bool = True,
        reasoning: str | None = None,
        policy: str | None = None,
        report: Any = None,
        order: Any = None,
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
