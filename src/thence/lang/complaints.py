"""What a parser's failure means to the person who wrote the query."""

from __future__ import annotations

from lark import Token, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from thence.errors import QueryError
from thence.lang.text import Text


def complain(text: Text, error: UnexpectedInput, parser: InteractiveParser, opened: list[Token]) -> QueryError:
    at = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken):
        at = error.token.start_pos or 0
    return text.error("syntax", at)
