"""Every file and every name on the page docs/architecture.md exists, and definitions are named where they live."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "thence"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
REFERENCE = re.compile(r"`([\w./-]+\.(?:py|lark|md|toml))(?::([\w.]+))?`")
DEFINITIONS = re.compile(r"Definitions? (\d+(?:(?:, | and |-)\d+)*)")
RULE = re.compile(r"^[?!]*(\w+)(?:\.\d+)? *:", re.MULTILINE)


def references(text: str) -> Iterator[tuple[str, str | None]]:
    """Paths, and names in them: `path/to/file.py`, `path/to/file.py:Class.method`."""
    for found in REFERENCE.finditer(text):
        yield found[1], found[2]


def missing(text: str) -> list[str]:
    """The references of a text that lead nowhere."""
    wrong = []
    for path, name in references(text):
        file = _file(path)
        if file is None:
            wrong.append(path)
        elif name is not None and name not in _names(file):
            wrong.append(f"{path}:{name}")
    return wrong


def _file(path: str) -> Path | None:
    return next((base / path for base in (PACKAGE, ROOT) if (base / path).is_file()), None)


@cache
def _names(file: Path) -> frozenset[str]:
    """What a module defines itself, members of its classes included; of a grammar, its rules."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".lark":
        return frozenset(RULE.findall(text))
    return frozenset(_defined(ast.parse(text).body))


def _defined(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + node.name
            case ast.ClassDef():
                yield prefix + node.name
                yield from _defined(node.body, f"{prefix}{node.name}.")
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name
            case ast.Assign():
                targets = (each for target in node.targets for each in ast.walk(target))
                yield from (prefix + each.id for each in targets if isinstance(each, ast.Name))


def test_every_file_and_name_on_the_page_exists() -> None:
    assert len(list(references(PAGE))) > 150
    assert missing(PAGE) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "io/nquads.py:read_squads",
        "io/squads.py",
        "tests/three_events.py:ThreeEventsOperator.stop",
        "runtime/ordering.py:match_ids",  # imported there, defined elsewhere
        "lang/sase/sase.lark:blocks",
    ],
)
def test_a_wrong_name_is_found(wrong: str) -> None:
    assert missing(f"| `io/nquads.py:read_nquads` | see `{wrong}` |") == [wrong]


def _drawn() -> Iterator[tuple[str, str]]:
    """The arrows of the diagram: which package imports which."""
    diagram = PAGE.partition("```mermaid\n")[2].partition("```")[0]
    for line in diagram.splitlines():
        if " --> " in line:
            sources, targets = (side.split(" & ") for side in line.strip().split(" --> "))
            yield from ((source, target) for source in sources for target in targets)


def _files(package: str) -> list[Path]:
    module = PACKAGE / f"{package}.py"
    return [module] if module.exists() else sorted((PACKAGE / package).rglob("*.py"))


def _imported(package: str) -> set[str]:
    """The packages whose modules a package imports."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in _files(package))
    nodes = (node for tree in trees for node in ast.walk(tree))
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {module.split(".")[1] for module in modules if module.startswith("thence.")}


def test_every_arrow_of_the_diagram_is_an_import() -> None:
    drawn = list(_drawn())
    assert len(drawn) > 15
    assert [(source, target) for source, target in drawn if target not in _imported(source)] == []


def test_the_page_has_every_package() -> None:
    packages = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    assert [name for name in packages if f"| `{name}/` |" not in PAGE] == []


@pytest.mark.parametrize(
    ("protocol", "least"), [("Program", 8), ("Operator", 6), ("ExpiresRuns", 1), ("HoldsFacts", 1)]
)
def test_the_page_has_every_member_of_the_interface(protocol: str, least: int) -> None:
    names = [name for name in _names(PACKAGE / "interface" / "operator.py") if name.startswith(f"{protocol}.")]
    assert len(names) >= least
    assert [name for name in names if f"`interface/operator.py:{name}`" not in PAGE] == []


def definitions(text: str) -> set[int]:
    """The numbers of the definitions that a text names."""
    found = set()
    for listed in DEFINITIONS.findall(" ".join(text.split())):
        for span in re.split(", | and ", listed):
            first, _, last = span.partition("-")
            found |= {*range(int(first), int(last or first) + 1)}
    return found


def _documented(body: list[ast.stmt], names: list[str]) -> Iterator[str]:
    """The docstrings of an object and of the classes that it is in. That of a constant stands below it."""
    for node, following in zip(body, [*body[1:], None], strict=True):
        if names[0] not in set(_defined([node])):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
        elif isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            yield str(following.value.value)
        if len(names) > 1 and isinstance(node, ast.ClassDef):
            yield from _documented(node.body, names[1:])


def _undocumented(row: str) -> set[int]:
    """The definitions of a table's row that the docstring of no object in it names, and that of no such module."""
    known: set[int] = set()
    for path, name in references(row):
        file = _file(path)
        if file is not None and file.suffix == ".py":
            tree = ast.parse(file.read_text(encoding="utf-8"))
            docstrings = [ast.get_docstring(tree) or "", *(_documented(tree.body, name.split(".")) if name else ())]
            known |= {number for docstring in docstrings for number in definitions(docstring)}
    return definitions(row.split("|")[1]) - known


def test_every_definition_of_spaseq_is_named_where_the_page_says_that_it_lives() -> None:
    table = PAGE.partition("### SPAseQ\n")[2].partition("### SASE+\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| Definition")]
    assert {number for row in rows for number in definitions(row.split("|")[1])} == {*range(1, 18)}
    assert {row.split("|")[1].strip(): wrong for row in rows if (wrong := _undocumented(row))} == {}


def test_every_definition_and_equation_of_rsep_ql_has_its_row() -> None:
    table = PAGE.partition("### Windows (RSEP-QL)\n")[2].partition("### TEF-SPARQL\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    papers = [row.split("|")[1] for row in rows]
    assert {number for paper in papers for number in definitions(paper)} == {*range(1, 11)}
    assert {int(number) for paper in papers for number in re.findall(r"\((\d+)\)", paper)} == {*range(1, 12)}
    assert {row.split("|")[1].strip(): wrong for row in rows if (wrong := _undocumented(row))} == {}


def test_every_row_of_tef_sparqls_tables_has_its_row() -> None:
    table = PAGE.partition("### TEF-SPARQL\n")[2].partition("## To add an operator\n")[0]
    papers = [row.split("|")[1].strip() for row in table.splitlines() if row.startswith("| ")]
    assert (papers.count("Table 4.1"), papers.count("Table 4.2")) == (10, 12)


def test_a_definition_that_no_docstring_names_is_found() -> None:
    assert _undocumented("| Definitions 10, 99 | | `engines/automaton/closures.py:outcome_of` | |") == {99}
    assert _undocumented("| Definition 12 | | `algebra/spaseq.py:Selection.STRICT` | |") == set()
    assert _undocumented("| Definition 12 | | `algebra/spaseq.py:Gpm` | |") == {12}
