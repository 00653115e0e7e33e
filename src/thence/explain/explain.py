"""`explain`: how a query is run, as text, as a diagram, or as JSON. Engines describe their programs; this renders."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pkgutil import resolve_name
from typing import Any

from thence.errors import InputError
from thence.explain.description import Arrow, Description, Node
from thence.explain.drawing import drawing, nested_diagram, state_diagram
from thence.interface.dataflow import Dataflow, Stage

FORMATS = ("text", "mermaid", "svg", "json")
_DEEPEST = 12
"""From here on a tree is not indented any further: nodes say what they are over."""


def explain(dataflow: Dataflow, format: str = "text") -> str:
    """The description of a dataflow, in one of `FORMATS`: its stages one after the other, in one document."""
    if format not in FORMATS:
        raise InputError(f'The format "{format}" is not supported. Try: {", ".join(FORMATS)}')
    described = [(stage, resolve_name(stage.described_by)(stage.program)) for stage in dataflow.stages]
    if format in ("svg", "mermaid"):
        described = [(stage, with_short_names(each, stage.program.namespace)) for stage, each in described]
    is_one = len(described) == 1
    titled = [("" if is_one else _title(number, stage), each) for number, (stage, each) in enumerate(described, 1)]
    match format:
        case "mermaid":
            return state_diagram(titled[0][1]) if is_one else nested_diagram(titled)
        case "svg":
            return drawing(*(replace(each, clauses=(title,) * bool(title) + each.clauses) for title, each in titled))
        case "json":
            stages = [_properties(*each) for each in described]
            emits = [{"emits": _emits(stage)} for stage, _ in described]
            return _json(stages[0] if is_one else {"stages": list(map(operator.or_, emits, stages))})
        case _:
            return "\n\n".join(f"{title}\n\n" * bool(title) + "\n".join(_text(each)) for title, each in titled)


def with_short_names(description: Description, namespace: str) -> Description:
    """The same diagram, in which names of the namespace are written as `:name`: a drawing has little room."""
    full = re.compile(rf"<{re.escape(namespace)}(\w[\w-]*)>")

    def short(found: Any) -> Any:
        match found:
            case str():
                return full.sub(r":\1", found)
            case tuple():
                return tuple(map(short, found))
            case Node() | Arrow():
                texts = (each.name for each in fields(found) if each.name != "inputs")  # these are not drawn
                return replace(found, **{name: short(getattr(found, name)) for name in texts})
            case _:
                return found

    drawn = ("clauses", "boxes", "arrows", "absent")
    return replace(description, **{name: short(getattr(description, name)) for name in drawn})


def _title(number: int, stage: Stage) -> str:
    if stage.feeds is None:
        return f"Stage {number}, which emits the answer"
    return f"Stage {number}, which feeds the stream {stage.feeds.stream}"


def _emits(stage: Stage) -> str:
    return "the answer" if stage.feeds is None else f"events of the stream {stage.feeds.stream}"


# As JSON


def _properties(stage: Stage, description: Description) -> dict[str, object]:
    algebra = {"algebra": description.algebra} if description.algebra else {}
    streams = [{"name": stream.name, "iri": stream.iri.value} for stream in stage.program.streams]
    return {**algebra, "streams": streams, **description.json}


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2, default=_json_of)


def _json_of(part: Any) -> object:
    return part.json if isinstance(part, Node | Arrow) else asdict(part)


# As text


def _text(description: Description) -> Iterator[str]:
    if description.algebra:
        yield "Algebra"
        yield from (f"  {line}".rstrip() for line in description.algebra.splitlines())
        yield ""
    for title, nodes in description.sections.items():
        yield title
        for node in nodes:
            yield from _node_text(node)
        yield ""
    if description.flow:
        yield description.flow
        yield from _flow_text(description)
        yield ""
    yield from description.clauses


def _node_text(root: Node) -> Iterator[str]:
    """A node, and below it its inputs."""
    waiting = [(root, "", 1)]
    while waiting:
        node, begins, depth = waiting.pop()
        indent = "  " * min(depth, _DEEPEST)
        over = ""
        if depth >= _DEEPEST and node.inputs:
            over = f", over {' and '.join(str(each.number) for _, each in node.inputs)}"
        yield f"{indent}{begins}{node.title}{': ' * bool(node.words)}{'; '.join(node.words)}{over}"
        yield from (f"{indent}    {line}" for line in node.details)
        waiting += [(each, f"{role}: " if role else "", depth + 1) for role, each in reversed(node.inputs)]


def _flow_text(description: Description) -> Iterator[str]:
    """The arrows from the input, each box with the arrows from it, and what must be absent."""
    names = {box.number: box.title for box in description.boxes}
    for begins in (arrow for arrow in description.arrows if arrow.source is None):
        yield from _arrow_text(description, names, begins, f"  {description.start}: ")
    for box in description.boxes:
        yield from _node_text(box)
        for arrow in description.arrows:
            if arrow.source == box.number:
                yield from _arrow_text(description, names, arrow, "      ")
    for absent in description.absent:
        yield f"  {absent.title}"
        yield from (f"      {line}" for line in absent.details)


def _arrow_text(description: Description, names: dict[int, str], arrow: Arrow, indent: str) -> Iterator[str]:
    goals = [names[number] for number in arrow.targets]
    if arrow.emits:
        goals.append(", ".join(filter(None, (f"a {description.end}", arrow.unless))))
    yield f"{indent}{arrow.title} → {' and '.join(goals)}"
    yield from (f"          {line}" for line in arrow.details)
