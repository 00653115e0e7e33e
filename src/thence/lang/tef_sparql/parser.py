"""TEF-SPARQL: text in, algebra out.

>>> file = parse('''
...     CONSTRUCT FACT ?Channel shows ?Show WHERE
...       (SINCE ?Channel starts ?Show)
...       UNION
...       (UNTIL ?Channel finishes ?Show)''')
>>> file.statements[0].arms[1].events.predicate
IRI(value='http://example.org/finishes')
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from thence.algebra.streams import Stream
from thence.algebra.tef_sparql import UNNAMED, TefFile, TefPlaces
from thence.algebra.traversal import DEPTH, depth
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.tef_sparql.draft import Draft
from thence.lang.tef_sparql.mistakes import MISTAKES
from thence.lang.tef_sparql.reader import TefReader
from thence.lang.text import text as read_text
from thence.rdf.terms import IRI

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "tef_sparql" / "tef_sparql.lark", "tef_file", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> TefFile:
    """The algebra of a file of TEF-SPARQL statements. QueryError if it is wrong; `warnings` of the algebra lists likely
    mistakes. The kinds of its predicates are not checked here: `thence.engines.facts.kind_checks` does that, once the
    background is known.

    `source` names the text in errors. `base` and `namespace`, which `:name` and bare names are of, hold until the text
    declares its own; without any of these, bare names are of the default namespace. Bare names of typed events are of
    `namespace`, else of the text's `PREFIX :`, else of its BASE.
    """
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = TefReader(read, base=base, prefixes=prefixes)
    draft: Draft = reader.read(SYNTAX.parse(read, "tef_file", nesting=nesting))
    return _checked(draft, namespace or reader.namespace)


def _checked(draft: Draft, namespace: str) -> TefFile:
    statements = tuple(each.statement for each in draft.statements)
    if (found := depth(statements)) > DEPTH:  # before all that goes through them by recursion
        raise draft.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    cautions = sorted(draft.cautions, key=lambda each: each.at)
    return TefFile(
        statements,
        declared=tuple((each.predicate, each.kind) for each in draft.declared),
        streams=draft.streams or (Stream(UNNAMED, IRI(namespace + UNNAMED)),),
        namespace=namespace,
        time_kind=draft.time_kind(),
        warnings=tuple(each.words for each in islice(cautions, WARNINGS)),
        places=TefPlaces(draft.text, tuple(each.places for each in draft.statements), dict(draft.named)),
    )
