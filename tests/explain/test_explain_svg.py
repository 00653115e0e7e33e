"""`explain("svg")`: a drawing that stands alone, shows the whole automaton, and holds no text that isn't escaped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import thence
from thence.explain.description import Arrow, Description, Node
from thence.explain.drawing import drawing

SVG = "{http://www.w3.org/2000/svg}"
HEAD = "PREFIX : <http://example.org/> SELECT ?x WITHIN 9 TICKS FROM STREAM S <http://example.org/s> WHERE { "
GPMS = " ".join(f"DEFINE GPM {name} ON S {{ ?x :is :{name} }}" for name in "ABCD")
EXAMPLES = Path(__file__).parents[2] / "examples"
QUERIES = {path.name: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.spaseq"))} | {
    "optionals": f"{HEAD} SEQ (A; B?; C?, D) {GPMS} }}",
    "one part": f"{HEAD} SEQ (A) {GPMS} }}",
    "a closure alone": f"{HEAD} SEQ (A+) {GPMS} }}",
    "negations": f"{HEAD} SEQ (A; B!; C; D!) {GPMS} }}",
    "groups": f"{HEAD} SEQ ((A & B)+ : (C | D)) {GPMS} }}",
}
SASE = {path.name: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.sase"))} | {
    "ends in time": "PATTERN SEQ(A a, B+ b[], ~C c) WHERE [k] AND c.y = a.y WITHIN 9 HAVING b.LEN > 2 RETURN a.x",
    "goes on": "PATTERN SEQ(A+ a[], B+ b[], C c) WHERE a.LEN > 2 ^ b[i].x > avg(b[..i-1].x) WITHIN 9 RETURN c.x",
    "united": "PATTERN A a RETURN a.x AS x UNION PATTERN SEQ(A a, ~B b, C c) RETURN c.x AS x",
}


@pytest.fixture(params=QUERIES)
def query(request: pytest.FixtureRequest) -> thence.Query:
    return thence.parse(QUERIES[request.param], language="spaseq")


@pytest.fixture(params=[*QUERIES, *SASE])
def any_query(request: pytest.FixtureRequest) -> thence.Query:
    if request.param in SASE:
        return thence.parse(SASE[request.param], language="sase+")
    return thence.parse(QUERIES[request.param], language="spaseq")


def drawn(query: thence.Query) -> ElementTree.Element:
    return ElementTree.fromstring(query.explain("svg"))


def boxes(root: ElementTree.Element) -> list[tuple[str, list[str], tuple[float, float, float, float]]]:
    """Of each its kind, its lines (whole, from the tooltip), and where it is: left, top, right, bottom."""
    found = []
    for group in root.iter(f"{SVG}g"):
        rect, title = group.find(f"{SVG}rect"), group.find(f"{SVG}title")
        assert rect is not None
        assert title is not None
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((rect.attrib["class"], (title.text or "").split("\n"), (x, y, x + width, y + height)))
    return found


def test_all_states_edges_and_filters_of_the_text_are_drawn(query: thence.Query) -> None:
    shown = query.explain()
    found = boxes(drawn(query))
    states = [lines for kind, lines, _ in found if kind == "state"]
    assert sorted(lines[0] for lines in states) == re.findall(r"^  (state \d+): waits", shown, re.MULTILINE)
    edges = [lines for kind, lines, _ in found if kind == "edge"]
    assert len(edges) == len(re.findall("→", shown))
    automaton = shown[shown.index("\nAutomaton") :]
    for filtered in re.findall(r"FILTER (.*): tested", automaton):
        assert any(f"FILTER {filtered}" in line for _, lines, _ in found for line in lines)
    assert len([kind for kind, _, _ in found if kind == "negation"]) == len(re.findall(r"^  no ", shown, re.MULTILINE))
    assert [kind for kind, _, _ in found if kind in ("start", "match")] == ["start", "match"]


def test_window_and_key_stand_above_the_drawing(query: thence.Query) -> None:
    texts = [text.text or "" for text in drawn(query).findall(f"{SVG}text")]
    assert [text.partition(":")[0] for text in texts] in (["Key", "Window"], ["Key", "Window", "Contiguity"])
    shown = query.explain().splitlines()
    assert all(any(line.startswith(text.rstrip("…")) for line in shown) for text in texts)


def test_every_line_leads_from_a_box_to_a_box(any_query: thence.Query) -> None:
    root = drawn(any_query)
    sides = [(box[0], box[1], box[2], box[3]) for _, _, box in boxes(root)]
    paths = [path.attrib["d"] for path in root.findall(f"{SVG}path")]
    goals = sum(
        (edge["target"] is not None) + (edge["again"] is not None and edge["again"] != edge["target"]) + edge["match"]
        for edge in _edges(any_query)
    )
    assert len(paths) == len(_edges(any_query)) + goals
    for path in paths:
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
        ending = numbers[-2:] if "C" in path else [numbers[-1], numbers[-2]]
        assert any(abs(right - numbers[0]) < 0.2 and top <= numbers[1] <= bottom for _, top, right, bottom in sides)
        assert any(abs(left - ending[0]) < 0.2 and top <= ending[1] <= bottom for left, top, _, bottom in sides)


def _edges(query: thence.Query) -> list[dict[str, object]]:
    """Those of states that are matches in time, too."""
    shown = json.loads(query.explain("json"))
    found: list[dict[str, object]] = []
    for each in shown.get("stages", [shown]):
        found += each["edges"]
        ends = (state for state in each["states"] if state.get("match"))
        found += [{"source": state["number"], "target": None, "again": None, "match": True} for state in ends]
    return found


def test_boxes_stand_apart_and_on_the_page(any_query: thence.Query) -> None:
    root = drawn(any_query)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    placed = [box for _, _, box in boxes(root)]
    assert all(0 < left < right < width and 0 < top < bottom < height for left, top, right, bottom in placed)
    for number, (left, top, right, bottom) in enumerate(placed):
        for other in placed[number + 1 :]:
            assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


def test_a_drawing_of_sase_has_its_conditions_its_clauses_and_how_it_ends() -> None:
    root = drawn(thence.parse(SASE["ends in time"], language="sase+"))
    assert [text.text for text in root.findall(f"{SVG}text")] == [
        "[k]: the same in all events of a match",
        "Window: WITHIN 9 TICKS",
        "Having: b.LEN > 2: on complete matches",
        "Key: k",
    ]
    assert [lines for kind, lines, _ in boxes(root) if kind in ("edge", "negation")] == [
        ["begin a", "A a"],
        ["begin b", "B+ b[]", "with the same k"],
        ["at the window's end", "if no c after b[], up to the window's end"],
        ["take b", "B+ b[]", "with the same k"],
        ["no C c after b[], up to the window's end", "with the same k", "c.y = a.y"],
    ]


def test_stages_stand_below_each_other() -> None:
    root = drawn(thence.parse(SASE["united"], language="sase+"))
    matches = [place for kind, _, place in boxes(root) if kind == "match"]
    assert len(matches) == 2 and matches[0][3] < matches[1][1]
    heads = [text.text or "" for text in root.findall(f"{SVG}text")]
    assert [head for head in heads if head.startswith("Stage")] == [
        "Stage 1, which emits the answer",
        "Stage 2, which emits the answer",
    ]


DRAWN = sorted(path for ending in ("epsparql", "rsepql", "tefsparql") for path in EXAMPLES.rglob(f"*.{ending}"))


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.name)
def test_boxes_of_the_other_languages_stand_apart_and_on_the_page(path: Path) -> None:
    test_boxes_stand_apart_and_on_the_page(thence.parse(path))


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.name)
def test_no_line_runs_through_a_box_or_along_another_line(path: Path) -> None:
    root = drawn(thence.parse(path))
    places = [place for _, _, place in boxes(root)]
    upright: list[tuple[float, float, float]] = []
    for detour in (each.attrib["d"] for each in root.findall(f"{SVG}path") if "V" in each.attrib["d"]):
        _, leaves, down, lane, up, arrives, _ = (float(number) for number in re.findall(r"[\d.]+", detour))
        upright += [(down, leaves, lane), (up, arrives, lane)]
        assert not any(top < lane < bottom for _, top, _, bottom in places)
    for x, y, lane in upright:
        assert not any(left <= x <= right and y < bottom and top < lane for left, top, right, bottom in places)
    assert len({round(x, 1) for x, _, _ in upright}) == len(upright)


def test_long_lines_are_folded_and_not_cut() -> None:
    filters = "FILTER(?y > 1 && ?y < 1000000 && ?y != 12345 && ?y != 23456 && ?y != 34567)"
    query = thence.parse(f"{HEAD} SEQ (A) DEFINE GPM A ON S {{ ?x :is ?y {filters} }} }}")
    texts = [text.text or "" for text in drawn(query).iter(f"{SVG}text")]
    assert max(map(len, texts)) <= 48
    assert not any("…" in text for text in texts)
    assert any("?y != 34567" in text for text in texts)


def test_names_of_the_namespace_are_short() -> None:
    query = thence.parse("SELECT ?x WHERE ?x seen ?y CONSTRUCT FACT ?x known ?y WHERE SINCE ?x seen ?y")
    assert any(lines == ["2: CONSTRUCT :known"] for _, lines, _ in boxes(drawn(query)))


def test_the_same_query_is_drawn_the_same() -> None:
    text = QUERIES["groups"]
    assert thence.parse(text).explain("svg") == thence.parse(text).explain("svg")


def test_hostile_text_is_escaped_and_shown_whole_in_the_tooltip() -> None:
    hostile = "</text><script>alert('&amp;')</script><!-- ]]> " + "x" * 100
    filters = f'FILTER(?y != "{hostile}") FILTER(?y != "\\u0001\\uFFFE")'
    query = thence.parse(
        f"{HEAD} SEQ (A; B) DEFINE GPM A ON S {{ ?x :is ?y {filters} }} DEFINE GPM B ON S {{ ?x :is :b }} }}"
    )
    root = drawn(query)
    assert {element.tag for element in root.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "style", "defs", "marker", "path", "rect", "g", "text")
    }
    assert any(hostile in line for _, lines, _ in boxes(root) for line in lines)
    assert all(len(text.text or "") <= 120 for text in root.iter(f"{SVG}text"))


def test_it_asks_for_nothing_from_elsewhere(any_query: thence.Query) -> None:
    text = any_query.explain("svg")
    assert not re.search(r"\b(?:href|src|onload|onclick)\b\s*=", text)
    assert re.findall(r"url\(([^)]*)\)", text) == ["#tip"] * text.count("url(")


def test_wide_characters_have_the_place_that_they_take() -> None:
    narrow, wide = (
        thence.parse(f"SELECT ?x FROM STREAM S <x:s> {{ SEQ ({name}) DEFINE GPM {name} ON S {{ ?x <x:p> 1 }} }}")
        for name in ("a" * 20, "価" * 20)
    )
    (left, _, right, _), (start, _, end, _) = (
        next(place for kind, _, place in boxes(drawn(query)) if kind == "edge") for query in (narrow, wide)
    )
    assert end - start > 1.8 * (right - left)


def test_arrows_without_a_title_are_drawn_as_mere_lines() -> None:
    windows = Description(
        {},
        boxes=(Node("window W1", number=1), Node("window W2", number=2), Node("join", number=3)),
        arrows=(
            Arrow(None, (1, 2)),
            Arrow(1, (3,)),
            Arrow(2, (3,)),
            Arrow(3, (), label="every 5 s", emits=True),
        ),
    )
    root = ElementTree.fromstring(drawing(windows))
    assert [(kind, lines) for kind, lines, _ in boxes(root)] == [
        ("start", ["events"]),
        ("state", ["window W1"]),
        ("state", ["window W2"]),
        ("state", ["join"]),
        ("match", ["rows"]),
    ]
    paths = [path.attrib["d"] for path in root.findall(f"{SVG}path")]
    assert len(paths) == 5 and all("C" in path for path in paths)  # all lead to the next column
