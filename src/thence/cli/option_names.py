"""Errors of the library, in the words of the command."""

from __future__ import annotations

import re

_OPTIONS = (
    (re.compile(r'columns=\{"(\w+)": (?:"([^"]*)"|(…))\}'), r"--column \1=\2\3"),
    (re.compile(r'types=\{"([^"]*)": "([^"]*)"\}'), r"--type \1=\2"),
    (re.compile(r"\btime_(unit|format|zone)=('[^']*')"), r"--time-\1 \2"),
)


def in_options(message: str) -> str:
    """An error whose cure is an argument, with the option that is the same.

    >>> in_options("It has no time. Try: time_unit='ms'")
    "It has no time. Try: --time-unit 'ms'"
    """
    for argument, option in _OPTIONS:
        message = argument.sub(option, message)
    return message
