"""Rows of DataFrames in comparable form, at once and in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


END = '{"time": "2099-01-01T00:00:00Z", "id": "end", "graph": "<x:all> <x:is> <x:over> ."}'


def at_once(found: Callable[[str], list[str]], names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """What is found for each name, three at a time: small queries spend most of their time waiting."""
    listed = list(names)
    with ThreadPoolExecutor(3) as pool:
        return list(zip(listed, pool.map(found, listed), strict=True))


def taken(made: DataFrame, checkpoint: Path) -> list[Any]:
    """The rows that a streaming DataFrame has, once all that is there was taken."""
    found: list[Any] = []
    writer = made.writeStream.foreachBatch(lambda rows, _: found.extend(rows.collect()))
    writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start().awaitTermination()
    return found


def _time(found: datetime) -> str:
    return found.astimezone(UTC).isoformat().replace("+00:00", "Z")


def in_order(found: list[Any]) -> list[str]:
    """Shards give rows in no order among each other."""
    return sorted(json.dumps(each, sort_keys=True) for each in found)
