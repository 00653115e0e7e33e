"""RSEP-QL queries: text in, algebra out.

>>> query = parse('''
...     PREFIX : <http://example.org/>
...     SELECT ?x ?z
...     FROM NAMED :S WIN [LND 1] AS :w1
...     FROM NAMED :S WIN [RANGE 5] AS :w2
...     EVENT ON :w1 { ?x :p ?y } AS E1
...     EVENT ON :w2 { ?y :q ?z } AS E2
...     WHERE { MATCH { E1 SEQ E2 } }''')
>>> query.form.where.events
EventSeq(left=BasicEvent(name='E1'), right=BasicEvent(name='E2'), policy=None)
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from thence.algebra.chains import DEPTH, depth
from thence.algebra.rsep_ql import EventPattern, NamedWindow, WindowQuery, clause_window
from thence.lang.parser_cache import GRAMMARS
from thence.lang.rsep_ql.checks import all_windows, check_names, output, report, warnings
from thence.lang.rsep_ql.draft import Draft, StreamClause
from thence.lang.rsep_ql.mistakes import MISTAKES
from thence.lang.rsep_ql.reader import WindowQueryReader
from thence.lang.stream_names import named_streams
from thence.lang.syntax import Syntax
from thence.lang.text import text as read_text
from thence.rdf.terms import IRI

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "rsep_ql" / "rsep_ql.lark", "window_query", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> WindowQuery:
    """The algebra of an RSEP-QL query, or a QueryError; what is legal and hardly meant is told in its `warnings`.

    `source` names the text in errors. `base` and `namespace`, which `:name` without a prefix is of, hold until the text
    declares its own. Without BASE, relative IRIs are of `PREFIX :`, else of the default namespace. Bare names of typed
    events are of `namespace`, else of the text's `PREFIX :`, else of its BASE.
    """
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = WindowQueryReader(read, base=base, prefixes=prefixes)
    draft: Draft = reader.read(SYNTAX.parse(read, "window_query", nesting=nesting))
    return _checked(draft, namespace or draft.namespace)


def _checked(draft: Draft, namespace: str) -> WindowQuery:
    events = tuple(EventPattern(each.name, each.window, each.pattern) for each in draft.events)
    if (found := depth((draft.form, events))) > DEPTH:  # before all that goes through them by recursion
        raise draft.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    check_names(draft)
    streams = named_streams((each.stream for each in all_windows(draft)), namespace)
    windows, merged = _windows(draft, {stream.iri: stream.name for stream in streams})
    return WindowQuery(
        form=draft.form,
        streams=streams,
        windows=windows,
        events=events,
        report=report(draft),
        output=output(draft),
        label="" if draft.register is None else draft.register.label,
        merged=merged,
        is_cqels=bool(draft.blocks),
        namespace=namespace,
        time_kind=draft.time_kind(),
        warnings=tuple(islice(warnings(draft), WARNINGS)),
    )


def _windows(draft: Draft, names: Mapping[IRI, str]) -> tuple[tuple[NamedWindow, ...], tuple[IRI, ...]]:
    """The windows, and the names of those that bare triples read: of C-SPARQL's FROM STREAM."""
    windows: list[NamedWindow] = []
    merged: list[IRI] = []
    for number, each in enumerate(all_windows(draft)):
        name = clause_window(number) if isinstance(each, StreamClause) else each.name
        windows.append(NamedWindow(name, names[each.stream], each.bracket.function))
        if isinstance(each, StreamClause) and not draft.blocks:
            merged.append(name)
    return tuple(windows), tuple(merged)
