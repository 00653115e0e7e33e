"""EP-SPARQL files as text: a declaration before a statement where what was declared last is not what it needs."""

from __future__ import annotations

from collections.abc import Callable

from thence.algebra.ep_sparql import RuleFile, Statement
from thence.algebra.expressions import Call
from thence.algebra.show_sparql import LayoutMark, TextItem, on_lines
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI


def file_items(file: RuleFile, query: Callable[[Statement], list[TextItem]]) -> list[TextItem]:
    """The statements in order, an empty line between each two; before them the namespace, unless it is the default."""
    blocks: list[list[TextItem]] = []
    base: IRI | None = None
    for statement in file.statements:
        needed = base_of(statement)
        declared = needed is not None and needed != base
        blocks.append(on_lines([[f"BASE {needed}"], query(statement)]) if declared else query(statement))
        base = needed or base
    items: list[TextItem] = []
    for block in blocks:
        items += [LayoutMark.LINE, LayoutMark.LINE, *block]
    if file.namespace == DEFAULT_NAMESPACE and base is None:
        return items[2:]
    return [f"PREFIX : {IRI(file.namespace)}", *items]


def base_of(node: object) -> IRI | None:
    """The base IRI that a call of IRI() in the node carries: its text has a place for it only before the whole."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        match found:
            case Call("IRI", (_, IRI() as base)):
                return base
            case tuple():
                waiting.extend(found)
            case _:
                waiting.extend(getattr(found, name) for name in getattr(found, "__dataclass_fields__", ()))
    return None
