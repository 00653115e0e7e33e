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

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from thence.algebra.rsep_ql import NamedWindow, WindowFile, WindowQuery, clause_window
from thence.algebra.streams import Stream
from thence.algebra.traversal import DEPTH, depth
from thence.lang.draft import named_streams
from thence.lang.rsep_ql.checks import Draft, StreamClause, all_windows, check_names, output, report, warnings
from thence.lang.rsep_ql.mistakes import MISTAKES
from thence.lang.rsep_ql.reader import WindowQueryReader
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.text import text as read_text
from thence.rdf.terms import IRI

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "rsep_ql" / "rsep_ql.lark", "window_file", mistakes=MISTAKES)


def parse(text: str, **options: Any) -> WindowQuery:
    """The algebra of the only query of a text; `options` are those of `parse_file`."""
    (query,) = parse_file(text, **options).queries
    return query


def parse_file(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> WindowFile:
    """The algebra of a file of RSEP-QL queries. QueryError if it is wrong; `warnings` of each query lists likely
    mistakes.

    `source` names the text in errors. `base` and `namespace`, which `:name` without a prefix is of, hold until the text
    declares its own. Without BASE, relative IRIs are of `PREFIX :`, else of the default namespace. Bare names of typed
    events are of `namespace`, else of the text's `PREFIX :`, else of its BASE.
    """
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = WindowQueryReader(read, base=base, prefixes=prefixes)
    drafts: list[Draft] = reader.read(SYNTAX.parse(read, "window_file", nesting=nesting))
    own = namespace or drafts[-1].namespace
    streams = named_streams((each.stream for draft in drafts for each in all_windows(draft)), own)
    return WindowFile(tuple(_checked(draft, own, streams) for draft in drafts))


def _checked(draft: Draft, namespace: str, streams: Sequence[Stream]) -> WindowQuery:
    events = tuple(each.event for each in draft.events)
    if (found := depth((draft.form, events))) > DEPTH:  # before all that goes through them by recursion
        raise draft.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    check_names(draft)
    windows, merged = _windows(draft, {stream.iri: stream.name for stream in streams})
    read = {window.stream for window in windows}
    return WindowQuery(
        form=draft.form,
        is_ask=draft.is_ask,
        streams=tuple(stream for stream in streams if stream.name in read),
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
