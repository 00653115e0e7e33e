"""SPAseQ queries: text in, algebra out.

>>> query = parse('''
...     PREFIX : <http://example.org/>
...     SELECT ?company ?high ?low
...     WITHIN 10 MINUTES
...     FROM STREAM stocks <http://example.org/stocks>
...     WHERE {
...         SEQ (A ; B)
...         DEFINE GPM A ON stocks { ?company :price ?high }
...         DEFINE GPM B ON stocks { ?company :price ?low . FILTER(?low < ?high * 0.9) }
...     }''')
>>> [(part.selection, part.operand.gpm) for part in query.sequence]
[(None, 'A'), (<Selection.NEXT: ';'>, 'B')]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice

from thence.algebra.chains import DEPTH, depth
from thence.algebra.spaseq import SelectRows, SequenceQuery
from thence.lang.parser_cache import GRAMMARS
from thence.lang.spaseq.checks import check_names, check_negations, warnings
from thence.lang.spaseq.draft import Draft
from thence.lang.spaseq.mistakes import MISTAKES
from thence.lang.spaseq.output_clauses import check_aggregates, output
from thence.lang.spaseq.reader import SequenceReader
from thence.lang.spaseq.scope import Scope
from thence.lang.spaseq.variable_checks import check_filters, check_negated_variables, check_partition, unseen_inside
from thence.lang.syntax import Syntax
from thence.lang.text import text as read_text
from thence.rdf.typed_events import DEFAULT_NAMESPACE

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "spaseq" / "spaseq.lark", "sequence_query", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> SequenceQuery:
    """The algebra of a SPAseQ query, or a QueryError; what is legal and hardly meant is told in its `warnings`.

    `source` names the text in errors. `base` and `namespace`, which `:name` without a prefix is of, hold until the text
    declares its own. Bare names of typed events are of `namespace`, else of the text's `PREFIX :`, else of its BASE.
    """
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = SequenceReader(read, base=base, prefixes=prefixes)
    query = _checked(reader.read(SYNTAX.parse(read, "sequence_query", nesting=nesting)))
    return replace(query, namespace=namespace or reader.prefixes.get("") or reader.base or DEFAULT_NAMESPACE)


def _checked(draft: Draft) -> SequenceQuery:
    gpms = tuple(defined.gpm for defined in draft.gpms)
    if (found := depth(gpms)) > DEPTH:  # before all that goes through them by recursion
        raise draft.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    check_aggregates(draft)
    check_names(draft)
    query = SequenceQuery(
        form=SelectRows(()),
        streams=tuple(named.stream for named in draft.streams),
        sequence=draft.sequence,
        gpms=gpms,
        window=draft.window,
        partition=draft.partition,
    )
    check_negations(draft)
    scope = Scope(draft, query)
    check_filters(scope)
    check_negated_variables(scope)
    check_partition(scope)
    warned = islice(chain(warnings(scope), unseen_inside(scope)), WARNINGS)
    return replace(query, form=output(scope), warnings=tuple(warned))
