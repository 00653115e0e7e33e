"""SASE+ queries: text in, algebra out.

>>> query = parse('''
...     PATTERN SEQ(STOCK+ a[], STOCK b)
...     WHERE skip_till_next_match(a[]!, b) {
...         [symbol] ^ a[1].volume > 1000 ^ a[i].price > avg(a[..i-1].price) ^ b.volume < 80% * a[a.LEN].volume
...     }
...     WITHIN 1 hour
...     RETURN a[1].symbol, a[].price, b.volume AS low''')
>>> (block,) = query.queries[-1].blocks
>>> [(component.variable, component.strategy.name, component.cut) for component in block.components]
[('a', 'NEXT', True), ('b', 'NEXT', False)]
>>> [item.name for item in block.form.items]
['a[1].symbol', 'a[].price', 'low']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thence.algebra.sase import ComponentQuery, ComposedQuery, UnionQuery
from thence.lang.sase.checks import read_where, with_strategies
from thence.lang.sase.composition import check_composition, check_types, hidden_columns, timed
from thence.lang.sase.draft import DraftBlock
from thence.lang.sase.mistakes import MISTAKES
from thence.lang.sase.reader import SaseReader, check_having, output
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.text import Text
from thence.lang.text import text as read_text
from thence.rdf.events import DEFAULT_NAMESPACE

SYNTAX = Syntax(GRAMMARS / "sase" / "sase.lark", "queries", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> ComposedQuery:
    """The algebra of a SASE+ query, or a QueryError. `source` names the text in errors; names without a prefix are of
    `namespace` in RDF, else of the text's `PREFIX :`, else of its BASE."""
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = SaseReader(read, base=base, prefixes=prefixes)
    unions = reader.read(SYNTAX.parse(read, "queries", nesting=nesting))
    own = namespace or reader.prefixes.get("") or reader.base or DEFAULT_NAMESPACE
    return compose(read, unions, own)


def compose(text: Text, unions: Iterable[Iterable[DraftBlock]], namespace: str) -> ComposedQuery:
    """The algebra of blocks as they were read, those of a UNION together, or a QueryError."""
    drafts = [tuple(blocks) for blocks in unions]
    made = [UnionQuery(tuple(_checked(block, namespace) for block in blocks)) for blocks in drafts]
    order = check_composition(text, drafts)
    query = ComposedQuery(tuple(made[number] for number in order))
    in_order = [drafts[number] for number in order]
    check_types(text, query, in_order)
    return timed(text, query, in_order)


def _checked(block: DraftBlock, namespace: str) -> ComponentQuery:
    where = read_where(block)
    check_having(block)
    return ComponentQuery(
        components=with_strategies(where),
        form=output(where),
        streams=tuple(dict.fromkeys(stream.value for stream in block.streams)),  # one named twice is read once
        conditions=tuple(condition.value for condition in where.conditions),
        equal=tuple(where.equal),
        partition=tuple(where.partition),
        window=None if block.window is None else block.window.value,
        having=None if block.having is None else block.having.value,
        references=dict(block.references),
        warnings=hidden_columns(block),
        namespace=namespace,
    )
