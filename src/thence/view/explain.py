"""`explain`: how a query is run, as text, as a diagram, or as JSON. Operators describe their programs; this renders."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from thence.errors import InputError
from thence.program.dataflow import Dataflow, Stage
from thence.program.description import Box, Description
from thence.view.mermaid import nested_diagram, state_diagram
from thence.view.svg import drawing

FORMATS = ("text", "mermaid", "svg", "json")


def explain(dataflow: Dataflow, format: str = "text") -> str:
    """How a dataflow runs, in one of `FORMATS`: its stages one after the other, in one document."""
    if format not in FORMATS:
        raise InputError(f'The format "{format}" is not supported. Try: {", ".join(FORMATS)}')
    described = [(stage, stage.operator.describe(stage.program)) for stage in dataflow.stages]
    if format in ("svg", "mermaid"):
        described = [(stage, with_short_names(each, stage.program.namespace)) for stage, each in described]
    if len(described) == 1:
        return _one(described[0][1], format)
    return _several(described, format)


def with_short_names(description: Description, namespace: str) -> Description:
    """The same diagram, in which names of the namespace are written as `:name`: a drawing has little room."""
    full = re.compile(rf"<{re.escape(namespace)}(\w[\w-]*)>")

    def short(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(full.sub(r":\1", line) for line in lines)

    def box(each: Box) -> Box:
        return replace(each, label=full.sub(r":\1", each.label), lines=short(each.lines))

    return replace(
        description,
        boxes=tuple(
            replace(each, label=short((each.label,))[0], lines=short(each.lines)) for each in description.boxes
        ),
        arrows=tuple(replace(each, labels=short(each.labels), lines=short(each.lines)) for each in description.arrows),
        notes=short(description.notes),
        absent=tuple(map(short, description.absent)),
    )


def _one(description: Description, format: str) -> str:
    match format:
        case "mermaid":
            return state_diagram(description)
        case "svg":
            return drawing(description)
        case "json":
            return _json(description.data)
        case _:
            return "\n".join(description.text)


def _several(described: list[tuple[Stage, Description]], format: str) -> str:
    if format == "json":
        return _json({"stages": [{"emits": _emits(stage), **description.data} for stage, description in described]})
    titled = [(_title(number, stage), description) for number, (stage, description) in enumerate(described, 1)]
    match format:
        case "mermaid":
            return nested_diagram(titled)
        case "svg":
            return drawing(*(replace(each, notes=(title, *each.notes)) for title, each in titled))
        case _:
            return "\n\n".join(f"{title}\n\n" + "\n".join(each.text) for title, each in titled)


def _title(number: int, stage: Stage) -> str:
    if stage.feeds is None:
        return f"Stage {number}, which emits the answer"
    return f"Stage {number}, which feeds the stream {stage.feeds.stream}"


def _emits(stage: Stage) -> str:
    return "the answer" if stage.feeds is None else f"events of the stream {stage.feeds.stream}"


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)
