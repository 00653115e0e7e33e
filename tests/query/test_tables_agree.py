"""One table, however it is held, gives the same matches."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import thence
from strategies import examples
from strategies.choices import Choices, Drawn
from thence.errors import ThenceWarning
from thence.runtime.results import Match

pytestmark = pytest.mark.numba

Row: TypeAlias = dict[str, Any]

_START = datetime(2024, 5, 6, 7, tzinfo=UTC)
_ZONE = "America/New_York"
_TYPES = ("T", "U")
_KINDS: dict[str, tuple[pa.DataType, tuple[Any, ...], tuple[str, ...]]] = {
    "n": (pa.int64(), (0, 1, 2, -3, 7, 2**53 + 1, 2**62), ("1", "-3", "1.5", "9007199254740993")),
    "d": (
        pa.decimal128(30, 10),
        tuple(map(Decimal, ("0.1", "0.30", "1.0", "-2.25", "3.0", "12345678901234567890.0123456789"))),
        ("0.1", "1", "-2.25", "0.3"),
    ),
    "f": (pa.float64(), (0.1, 0.5, -0.0, 1.0, 2.0, 1e300, 5e-324, 0.30000000000000004), ("0.5", "1", "1e0", "0.1")),
    "flag": (pa.bool_(), (True, False), ("true", "false")),
    "s": (
        pa.string(),
        (
            "x",
            "X",
            "é",
            "e\u0301",
            "日本",
            "😀",
            'a"b',
            "a,b",
            "a\nb",
            "007",
            "7",
            " x ",
            "NULL",
            "nan",
            "true",
            "\\",
            "'",
        ),
        ("'x'", "'007'", "'é'", "'a,b'", "'7'"),
    ),
    "day": (pa.date32(), (date(2024, 5, 6), date(1969, 12, 31), date(2024, 2, 29)), ("DATE '2024-05-06'",)),
    "at": (
        pa.timestamp("us", "UTC"),
        (_START, _START + timedelta(microseconds=1), datetime(1969, 12, 31, 23, 59, 59, 500000, UTC)),
        ("TIMESTAMP '2024-05-06T07:00:00Z'",),
    ),
}
"""The columns: their type, values, and constants that a query compares them with."""
_NUMBERS = ("n", "d", "f")
_IN_TEXTS = ["n", "d", "f", "flag", "s"]
"""Columns whose type a text can say."""
_KEY = "k"
_KEYS = ("a", "007", "ß")


@dataclass(frozen=True)
class Case:
    """Rows, what the columns are called that are parts of an event, and a query with its options. `types` are those of
    the columns, `writes_time` is how a text says a time."""

    query: str
    rows: list[Row]
    types: dict[str, pa.DataType]
    options: dict[str, Any]
    writes_time: Callable[[datetime], str]
    drops_nulls: bool

    @property
    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, pa.schema(list(self.types.items())))

    def has(self, *columns: str) -> bool:
        return any(name in self.types for name in columns)

    def sparse(self) -> list[Row]:
        """The rows, without nulls if these are left out; but one stays: a mere time, with an id, is no typed event."""
        kept = next(iter(self.types)) if self.drops_nulls else None
        return [{n: v for n, v in row.items() if v is not None or kept in (n, None)} for row in self.rows]


def case_of(choices: Choices) -> Case:
    kinds = choices.some(choices.pick((list(_KINDS), _IN_TEXTS)), 1, 5)
    types: dict[str, pa.DataType] = {name: _KINDS[name][0] for name in kinds}
    has_key, has_seq, has_type, has_id = (choices.number(0, 1) for _ in range(4))
    time, kind = choices.pick(("time", "ts")), choices.pick(("type", "kind"))
    columns = {ours: own for ours, own in (("time", time), ("type", kind)) if ours != own}
    if not has_type:
        columns.pop("type", None)
    time_type, time_of, writes_time, options = _times(choices)
    rows = []
    nulls = choices.pick((None, None, None, *kinds))
    for number in range(choices.number(2, 7)):
        row = {time: time_of(choices.number(0, 4))}
        if has_type:
            row[kind] = choices.pick(_TYPES)
        if has_key:
            row[_KEY] = choices.pick((*_KEYS, None))
        if has_id:
            row["id"] = f"e{number}"
        if has_seq:
            row["seq"] = choices.pick((0, 1, 2, 3, None))
        for name in kinds:
            row[name] = None if name == nulls else choices.pick((None, *_KINDS[name][1]))
        rows.append(row)
    types |= {time: time_type} | ({kind: pa.string()} if has_type else {})
    types |= ({_KEY: pa.string()} if has_key else {}) | ({"seq": pa.int64()} if has_seq else {})
    types |= {"id": pa.string()} if has_id else {}
    if columns:
        options["columns"] = columns
    if has_seq and choices.number(0, 1):
        options["order"] = ("seq",)
    within = "3 TICKS" if time_type == pa.int64() and "time_unit" not in options else "3 SECONDS"
    several = bool(has_type)
    if not has_type and choices.number(0, 1):
        options["types"], several = choices.pick(("T", {"events": "U"})), True
    text = choices.pick((_sase, _sase, _spaseq))(choices, kinds, bool(has_key), several, within)
    if text.startswith("PREFIX") and isinstance(options.get("types"), dict):
        options["types"] = {"S": "U"}
    return Case(text, rows, types, options, writes_time, bool(choices.number(0, 1)))


def _times(choices: Choices) -> tuple[pa.DataType, Callable[[int], Any], Callable[[Any], str], dict[str, Any]]:
    """The type of the column of times, its values, how a text says these, and options."""
    seconds = int(_START.timestamp())
    ours = ZoneInfo(_ZONE)
    match choices.pick(("ticks", "unit", "zone", "no zone", "text", "format")):
        case "ticks":
            return pa.int64(), lambda n: n, str, {}
        case "unit":
            unit, by = choices.pick((("s", 1), ("ms", 1000), ("us", 1000000), ("ns", 10**9)))
            return pa.int64(), lambda n: (seconds + n) * by, str, {"time_unit": unit}
        case "zone":
            unit = choices.pick(("ms", "us", "ns"))
            zone = timezone(timedelta(hours=choices.pick((0, 2))))
            texts = lambda t: t.astimezone(zone).isoformat()  # noqa: E731
            return pa.timestamp(unit, "UTC"), lambda n: _START + timedelta(milliseconds=500 * n), texts, {}
        case "no zone":
            local = lambda n: (_START + timedelta(seconds=n)).astimezone(ours).replace(tzinfo=None)  # noqa: E731
            between = choices.pick(("T", " "))
            return pa.timestamp("us"), local, lambda t: t.isoformat(between), {"time_zone": _ZONE}
        case "text":
            return pa.string(), lambda n: f"2024-05-06T07:00:0{n}Z", str, {}
        case _:
            return pa.string(), lambda n: f"06/05/2024 07:00:0{n}", str, {"time_format": "%d/%m/%Y %H:%M:%S"}


def _sase(choices: Choices, kinds: list[str], has_key: bool, several: bool, within: str) -> str:
    named = _TYPES if several else ("T",)
    names = "abc"[: choices.number(1, 3)]
    parts = [f"{choices.pick((*named, 'ANY'))} {name}" for name in names]
    if len(names) == 3 and choices.number(0, 1):
        parts[1], names = f"~{parts[1]}", "ac"
    conjuncts = ["[k]"] if has_key and len(names) > 1 and choices.number(0, 1) else []
    for _ in range(choices.number(0, 2)):
        conjuncts.append(_condition(choices, kinds, names))
    made = [f"{name}.{column} AS {name}_{column}" for name in names for column in choices.some(kinds, 1, 3)]
    numbers = [column for column in kinds if column in _NUMBERS]
    if numbers:
        made.append(
            f"{names[0]}.{choices.pick(numbers)} {choices.pick('+-*')} {names[-1]}.{choices.pick(numbers)} AS r"
        )
    made.append(f"{names[-1]}.time - {names[0]}.time AS gap")
    if parts[-1][0] != "~" and choices.number(0, 3) == 0:
        return _closure(choices, kinds, has_key, parts[0], within)
    strategy = choices.pick(("skip_till_any_match", "skip_till_next_match", "strict_contiguity"))
    inside = " ^ ".join(conjuncts)
    where = f"WHERE {strategy}({', '.join(names)}) {{ {inside} }}" if inside or choices.number(0, 1) else ""
    return f"PATTERN SEQ({', '.join(parts)}) {where} WITHIN {within} RETURN {', '.join(made)}"


def _closure(choices: Choices, kinds: list[str], has_key: bool, part: str, within: str) -> str:
    """A closure, what its events have to do with each other, and what they sum up to."""
    kind, column = part.split()[0], choices.pick(kinds)
    signs = ("=", "!=") if column == "flag" else ("=", "!=", "<", ">=")
    conjuncts = ["[k]"] if has_key and choices.number(0, 1) else []
    conjuncts += [f"a[i].{column} {choices.pick(signs)} a[i-1].{column}"] if choices.number(0, 1) else []
    conjuncts.append(f"a.LEN >= {choices.number(1, 3)}")
    summaries = ["count", "min", "max"] + (["sum", "avg"] if column in _NUMBERS else [])
    made = [f"{each}(a[].{column}) AS {each}_" for each in choices.some(summaries, 1, 3)]
    strategy = choices.pick(("skip_till_any_match", "skip_till_next_match"))
    where = f"WHERE {strategy}(a[]) {{ {' ^ '.join(conjuncts)} }}"
    return f"PATTERN SEQ({kind}+ a[]) {where} WITHIN {within} RETURN a[].{column} AS each, {', '.join(made)}"


def _condition(choices: Choices, kinds: list[str], names: str) -> str:
    column, sign = choices.pick(kinds), choices.pick(("=", "!=", "<", "<=", ">", ">="))
    if column == "flag":
        sign = choices.pick(("=", "!="))
    constants = _KINDS[column][2]
    others = [each for each in kinds if each in _NUMBERS] if column in _NUMBERS else [column]
    if choices.number(0, 1) and len(names) > 1:
        return f"{names[1]}.{column} {sign} {names[0]}.{choices.pick(others)}"
    return f"{choices.pick(names)}.{column} {sign} {choices.pick(constants)}"


def _spaseq(choices: Choices, kinds: list[str], has_key: bool, several: bool, within: str) -> str:
    steps, defined, shown = choices.number(1, 2), [], []
    is_joined = has_key and choices.number(0, 1)
    for name in "AB"[:steps]:
        triples = [f"a :{choices.pick(_TYPES if several else ('T',))}"] if choices.number(0, 1) else []
        own = choices.some(kinds, 1, 2)
        triples += [f":{column} ?{name}_{column}" for column in own]
        triples += [":k ?k"] if is_joined else []
        shown += [f"?{name}_{column}" for column in own]
        body = f"?{name} {' ; '.join(triples)}"
        if choices.number(0, 1) and own[0] in _NUMBERS:
            body += f" FILTER(?{name}_{own[0]} {choices.pick(('=', '<', '>='))} {choices.pick(_KINDS[own[0]][2])})"
        defined.append(f"DEFINE GPM {name} ON S {{ {body} }}")
    sequence = choices.pick((" ; ", " : ", " , ")).join("AB"[:steps])
    return (
        f"PREFIX : <http://example.org/> SELECT {' '.join(shown)} WITHIN {within} "
        f"FROM STREAM S <http://example.org/S> WHERE {{ SEQ ({sequence}) {' '.join(defined)} }}"
    )


# What holds a table


def as_csv(case: Case, choices: Choices, folder: Path) -> Path | None:
    """None where a column's text would say another type."""
    if case.has("day", "at"):
        return None
    texts = [name for name in case.types if name in ("s", _KEY)]
    cells = {name: [row[name] for row in case.rows if row[name] is not None] for name in texts}
    if any(given and not any(map(_is_text, given)) for given in cells.values()):
        return None
    out = io.StringIO()
    quoting = choices.pick((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(out, quoting=quoting, lineterminator=choices.pick(("\n", "\r\n")))
    writer.writerow(case.types)
    for row in case.rows:
        writer.writerow("" if row[name] is None else _written(case, name, row[name]) for name in case.types)
    path = folder / "s.csv"
    path.write_bytes(out.getvalue().encode())
    return path


def _is_text(cell: str) -> bool:
    return cell not in ("7", "true")


def _written(case: Case, name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"
    return case.writes_time(value) if isinstance(value, datetime) else str(value)


def as_json(case: Case, choices: Choices, folder: Path) -> list[str] | None:
    """The rows as JSON; None where a column has values that JSON has not."""
    if case.has("day", "at"):
        return None
    ascii_only = bool(choices.number(0, 1))
    return [
        "{"
        + ", ".join(
            json.dumps(name)
            + ": "
            + (
                _written(case, name, value)
                if isinstance(value, float | Decimal)
                else json.dumps(
                    case.writes_time(value) if isinstance(value, datetime) else value, ensure_ascii=ascii_only
                )
            )
            for name, value in row.items()
        )
        + "}"
        for row in case.sparse()
    ]


def as_json_lines(case: Case, choices: Choices, folder: Path) -> Path | None:
    rows = as_json(case, choices, folder)
    return None if rows is None else _file(folder / "s.jsonl", "\n".join(rows))


def as_json_array(case: Case, choices: Choices, folder: Path) -> Path | None:
    rows = as_json(case, choices, folder)
    return None if rows is None else _file(folder / "s.json", f"[{', '.join(rows)}]")


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def as_parquet(case: Case, choices: Choices, folder: Path) -> Path:
    pq.write_table(case.table, folder / "s.parquet", row_group_size=choices.pick((1, 3, 100)))
    return folder / "s.parquet"


def as_pandas(case: Case, choices: Choices, folder: Path) -> Any:
    import pandas as pd

    if choices.number(0, 1):
        return case.table.to_pandas(types_mapper=pd.ArrowDtype)
    own = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    return case.table.to_pandas(types_mapper=own.get)


def as_polars(case: Case, choices: Choices, folder: Path) -> Any:
    try:
        import polars
    except ImportError:
        return None
    return polars.from_arrow(case.table)


def as_rows(case: Case, choices: Choices, folder: Path) -> list[Row]:
    return case.sparse()


def as_arrow(case: Case, choices: Choices, folder: Path) -> Any:
    return choices.pick((case.table, case.table.to_batches(2), case.table.slice(0)))


HOLDERS = (as_arrow, as_pandas, as_polars, as_parquet, as_csv, as_json_lines, as_json_array)


def pushed(query: thence.Query, case: Case) -> list[Match]:
    """What an engine finds that is given one row after the other."""
    time = case.options.get("columns", {}).get("time", "time")
    engine = query.engine(**case.options)
    found = [each for row in sorted(case.sparse(), key=lambda row: row[time]) for each in engine.push(row)]
    return [each for each in (*found, *engine.close()) if isinstance(each, Match)]


def told(found: Iterable[Any]) -> Counter[Any]:
    return Counter(
        (each.start, each.end, tuple((name, _told(term)) for name, term in sorted(each.bindings.items())))
        for each in found
    )


def _told(term: Any) -> tuple[str, str]:
    if isinstance(term, tuple):
        return "tuple", str([*map(_told, term)])
    value = getattr(term, "python", term)
    return type(value).__name__, f"{value.normalize():f}" if isinstance(value, Decimal) else repr(value)


@examples(0.4)
@given(st.data())
def test_a_table_gives_the_same_matches_whatever_holds_it(data: st.DataObject) -> None:
    """BAD-2 to BAD-5, BAD-10, C-8, C-9, SA-29, SA-51: in memory, in files of each kind, and row by row."""
    choices = Drawn(data.draw)
    case = case_of(choices)
    note(f"{case.query}\n{case.options}\n{case.rows}")
    query = thence.parse(case.query)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", ThenceWarning)
        expected = told(query.match(as_rows(case, choices, Path(folder)), **case.options))
        for holder in HOLDERS:
            held = holder(case, choices, Path(folder))
            if held is not None:
                assert told(query.match(held, **case.options)) == expected, holder.__name__
        assert told(pushed(query, case)) == expected, "pushed"
