"""Errors on Spark, reported as elsewhere: our own come back from workers inside Java's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from thence import errors
from thence.errors import ThenceError

_OURS = re.compile(r"\bthence\.errors\.(\w+): ([^\n]+)")
_LONGEST = 400


@contextmanager
def raised_as_ours() -> Iterator[None]:
    """Inside, an error of Spark that one of ours has caused is that one; another is a sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise our_error(str(error)) from error


def our_error(text: str) -> ThenceError:
    """The error that a stack trace of Spark has inside.

    >>> our_error("Job aborted: File x.py, line 7\\nthence.errors.LimitError: Too many runs.\\n\\n at java.lang")
    LimitError('Too many runs.')
    """
    found = _OURS.search(text)
    kind = getattr(errors, found[1], None) if found else None
    if found is None or not isinstance(kind, type) or not issubclass(kind, ThenceError):
        first = next((line.strip() for line in text.splitlines() if line.strip()), "it does not say why")
        return ThenceError(f"Spark failed: {first[:_LONGEST]}. All that it says: thence --debug run …")
    return kind(found[2].strip())
