"""Functions on strings (17.4.3), counting in code points."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from urllib.parse import quote

from thence.match.arithmetic import number
from thence.match.expression_errors import ExpressionError, check_length
from thence.rdf import numbers
from thence.rdf.terms import RDF_LANG_STRING, XSD_STRING, Literal, Term
from thence.rdf.values import FALSE, TRUE, literal


def string_literal(term: Term) -> Literal:
    """A "string literal" of 17.4.3.1.1: a plain string, or one with a language."""
    if isinstance(term, Literal) and term.datatype in (XSD_STRING, RDF_LANG_STRING):
        return term
    raise ExpressionError(f"{term} is no string")


def simple_literal(term: Term) -> str:
    """The text of a string without a language."""
    if isinstance(term, Literal) and term.datatype == XSD_STRING:
        return term.value
    raise ExpressionError(f"{term} is no string without a language")


def _like(model: Literal, text: str) -> Literal:
    """Of the same language, or of none."""
    return Literal(text, language=model.language)


def _compatible(first: Term, second: Term) -> tuple[Literal, Literal]:
    """Argument compatibility (17.4.3.1.2): the second has the first's language, or none."""
    a, b = string_literal(first), string_literal(second)
    if b.language is not None and a.language != b.language:
        raise ExpressionError(f"{first} and {second} are not of one language")
    return a, b


def _boolean(truth: bool) -> Literal:
    return TRUE if truth else FALSE


def strlen(text: Term) -> Literal:
    return literal(len(string_literal(text).value))


def substr(source: Term, start: Term, length: Term | None = None) -> Literal:
    """fn:substring: the first character is number 1; numbers are rounded, and may lie outside.

    >>> print(substr(Literal("foobar"), literal(4)), substr(Literal("foobar"), literal(4), literal(1)))
    "bar" "b"
    """
    text = string_literal(source)
    first = _position(start)
    end = math.inf if length is None else numbers.add(first, _position(length))
    if first != first or end != end:  # NaN
        return _like(text, "")
    size = len(text.value)
    begin, stop = (int(min(max(place, 1), size + 1)) - 1 for place in (first, end))
    return _like(text, text.value[begin:stop])


def _position(term: Term) -> int | float:
    rounded = numbers.round_half_up(number(term))
    return rounded if isinstance(rounded, float) else int(rounded)


def ucase(text: Term) -> Literal:
    found = string_literal(text)
    return _like(found, found.value.upper())


def lcase(text: Term) -> Literal:
    found = string_literal(text)
    return _like(found, found.value.lower())


def strstarts(text: Term, start: Term) -> Literal:
    a, b = _compatible(text, start)
    return _boolean(a.value.startswith(b.value))


def strends(text: Term, end: Term) -> Literal:
    a, b = _compatible(text, end)
    return _boolean(a.value.endswith(b.value))


def contains(text: Term, part: Term) -> Literal:
    a, b = _compatible(text, part)
    return _boolean(b.value in a.value)


def strbefore(text: Term, mark: Term) -> Literal:
    """What stands before the mark, in the text's language; a plain "" if the mark is not there."""
    a, b = _compatible(text, mark)
    before, found, _ = a.value.partition(b.value) if b.value else ("", "found", "")
    return _like(a, before) if found else Literal("")


def strafter(text: Term, mark: Term) -> Literal:
    """What stands after the mark, in the text's language; a plain "" if the mark is not there."""
    a, b = _compatible(text, mark)
    _, found, after = a.value.partition(b.value) if b.value else ("", "found", a.value)
    return _like(a, after) if found else Literal("")


def encode_for_uri(text: Term) -> Literal:
    return Literal(quote(_utf8(string_literal(text).value), safe="-_.~"))


def concat(*texts: Term) -> Literal:
    """In the language that all of them have, else in none."""
    found = [string_literal(text) for text in texts]
    check_length(sum(len(text.value) for text in found))
    languages = {text.language for text in found}
    joined = "".join(text.value for text in found)
    return Literal(joined, language=languages.pop() if len(languages) == 1 else None)


def langmatches(tag: Term, wanted: Term) -> Literal:
    """Basic filtering (RFC 4647, 3.3.1): `en` matches `en-GB`; `*` any tag there is."""
    language, filter_ = simple_literal(tag).lower(), simple_literal(wanted).lower()
    if filter_ == "*":
        return _boolean(language != "")
    return _boolean(language == filter_ or (filter_ != "" and language.startswith(filter_ + "-")))


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ExpressionError("half of a surrogate pair stands in a string") from None


def digest(algorithm: str) -> Callable[[Term], Literal]:
    """MD5, SHA1, SHA256, SHA384 or SHA512 of the UTF-8 bytes, in hexadecimal."""

    def hashed(text: Term) -> Literal:
        data = _utf8(simple_literal(text))
        return Literal(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())

    return hashed
