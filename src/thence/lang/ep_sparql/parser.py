"""EP-SPARQL: text in, algebra out.

>>> file = parse('''
...     PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
...     SELECT ?company WHERE
...       { ?company hasStockPrice ?price1 }
...       SEQ { ?company hasStockPrice ?price2 }
...       FILTER (?price2 < ?price1 * 0.7 && getDURATION() < "P30D"^^xsd:duration)''')
>>> file.selects[0].where.pattern.operator
<ChainOperator.SEQ: 'SEQ'>
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from thence.algebra.ep_sparql import RuleFile, RulePlaces
from thence.algebra.patterns import Construct
from thence.algebra.traversal import DEPTH, depth
from thence.lang.ep_sparql.checks import Draft, warnings
from thence.lang.ep_sparql.mistakes import MISTAKES
from thence.lang.ep_sparql.reader import RuleReader
from thence.lang.syntax import GRAMMARS, Syntax
from thence.lang.text import text as read_text
from thence.rdf.events import DEFAULT_NAMESPACE

WARNINGS = 50
"""Nobody reads more of them."""

SYNTAX = Syntax(GRAMMARS / "ep_sparql" / "ep_sparql.lark", "rule_file", mistakes=MISTAKES)


def parse(
    text: str, *, source: str = "query", base: str | None = None, namespace: str | None = None, nesting: int = 200
) -> RuleFile:
    """The algebra of a file of EP-SPARQL statements. QueryError if it is wrong; `warnings` of the algebra lists likely
    mistakes.

    `source` names the text in errors. `base` and `namespace`, which `:name` and bare names are of, hold until the text
    declares its own; without any of these, bare names are of the default namespace. Bare names of typed events are of
    `namespace`, else of the text's `PREFIX :`, else of its BASE.
    """
    read = read_text(text, source)
    prefixes: Mapping[str, str] = {} if namespace is None else {"": namespace}
    reader = RuleReader(read, base=base, prefixes=prefixes)
    draft: Draft = reader.read(SYNTAX.parse(read, "rule_file", nesting=nesting))
    return _checked(draft, namespace or reader.prefixes.get("") or reader.base or DEFAULT_NAMESPACE)


def _checked(draft: Draft, namespace: str) -> RuleFile:
    statements = tuple(each.statement for each in draft.statements)
    if (found := depth(statements)) > DEPTH:  # before all that goes through them by recursion
        raise draft.error(f"The query is {found:,} levels deep; at most {DEPTH} are allowed.", 0)
    kind = draft.time_kind()
    rules = tuple(each.at for each in draft.statements if isinstance(each.statement, Construct))
    places = RulePlaces(draft.text, rules)
    return RuleFile(statements, namespace, kind, tuple(islice(warnings(draft), WARNINGS)), places)
