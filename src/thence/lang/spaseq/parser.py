"""SPAseQ: text in, algebra out; and the common mistakes in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice

from thence.algebra.spaseq import SelectRows, SequenceQuery
from thence.algebra.traversal import DEPTH, depth
from thence.lang.mistakes import CLOSING, DURATION, STILL_OPEN, UNIT, Mistake, Mistakes
from thence.lang.spaseq.checks import (
    GpmScope,
    check_filters,
    check_names,
    check_negated_variables,
    check_negations,
    check_partition,
    unseen_inside,
    warnings,
)
from thence.lang.spaseq.draft import Draft
from thence.lang.spaseq.reader import SequenceReader, check_aggregates, output
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.text import END, IRIS, MODIFIERS
from thence.lang.text import text as read_text
from thence.rdf.events import DEFAULT_NAMESPACE

# Common mistakes in SPAseQ, in addition to those of all languages.

# fmt: off
_NO_OPERATOR = 'Try: "," ";" ":" "&" or "|"'

MISTAKES: Mistakes = (
    DURATION,
    UNIT,
    # the next GPM begins, and a bracket of SEQ or of the GPM before is open
    Mistake(kind="_DEFINE", when=lambda failure: len(failure.opened) > 1, says=STILL_OPEN),
    Mistake(after="_FROM", kind=IRIS,
            says="FROM names a stream here; background data is read by GRAPH. Try: FROM STREAM S1 {short}"),
    Mistake(after="_FROM", word="NAMED",
            says="FROM names a stream here; background data is read by GRAPH. Try: FROM STREAM S1 <http://…>"),
    Mistake(after="_STREAM", kind=IRIS, says="A stream needs a name before its IRI. Try: FROM STREAM S1 {short}"),
    Mistake(word="ASK DESCRIBE", accepts="_CONSTRUCT",
            says="{word} is not supported over streams. Try: SELECT or CONSTRUCT"),
    Mistake(kind=MODIFIERS, accepts_only=[END], says="{word} is not supported: matches are emitted as they are found."),
    Mistake(found="! + ?", accepts="NAME", rejects="VAR1",
            says="The operators + ? ! follow their operand. Try: A{found}"),
    # two GPMs with nothing between them, or with an operator that SEQ does not have
    Mistake(accepts="AMPERSAND", when=lambda failure: failure.word != "" or failure.found == "(",
            says=f"An operator is missing before {{shown}}. {_NO_OPERATOR}"),
    Mistake(accepts="AMPERSAND", when=lambda failure: failure.found not in ("", *CLOSING.values()),
            says=f"{{shown}} is not an operator of SEQ. {_NO_OPERATOR}"),
)
# fmt: on


# SPAseQ queries: text in, algebra out.
#
# >>> query = parse('''
# ...     PREFIX : <http://example.org/>
# ...     SELECT ?company ?high ?low
# ...     WITHIN 10 MINUTES
# ...     FROM STREAM stocks <http://example.org/stocks>
# ...     WHERE {
# ...         SEQ (A ; B)
# ...         DEFINE GPM A ON stocks { ?company :price ?high }
# ...         DEFINE GPM B ON stocks { ?company :price ?low . FILTER(?low < ?high * 0.9) }
# ...     }''')
# >>> [(part.selection, part.operand.gpm) for part in query.sequence]
# [(None, 'A'), (<Selection.NEXT: ';'>, 'B')]

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "spaseq" / "spaseq.lark", "sequence_query", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> SequenceQuery:
    """The algebra of a SPAseQ query. QueryError if it is wrong; its `warnings` lists likely mistakes.

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
    scope = GpmScope(draft, query)
    check_filters(scope)
    check_negated_variables(scope)
    check_partition(scope)
    warned = islice(chain(warnings(scope), unseen_inside(scope)), WARNINGS)
    return replace(query, form=output(scope), warnings=tuple(warned))
