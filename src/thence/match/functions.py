"""SPARQL's built-in functions (17.4), by keyword: terms in, a term out, or an ExpressionError."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias
from urllib.parse import quote
from uuid import UUID

from thence.match.arithmetic import known_value, number, written
from thence.match.context import Context, ExpressionError, check_length
from thence.match.regex import regex
from thence.rdf import numbers
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Date, DateTime, Duration, Time
from thence.rdf.dates import zone as zone_text
from thence.rdf.numbers import Number
from thence.rdf.terms import IRI, RDF_LANG_STRING, XSD_STRING, BlankNode, Literal, Term, is_absolute, resolve
from thence.rdf.values import FALSE, TRUE, is_number, literal, value

# Functions on strings (17.4.3), counting in code points.


def string_literal(term: Term) -> Literal:
    """A "string literal" of 17.4.3.1.1: a plain string, or one with a language."""
    if isinstance(term, Literal) and term.datatype in (XSD_STRING, RDF_LANG_STRING):
        return term
    raise ExpressionError(f"{term} is not a string")


def simple_literal(term: Term) -> str:
    """The text of a string without a language."""
    if isinstance(term, Literal) and term.datatype == XSD_STRING:
        return term.value
    raise ExpressionError(f"{term} is not a string without a language")


def _like(model: Literal, text: str) -> Literal:
    """A literal of the same language, or without a language."""
    return Literal(text, language=model.language)


def _compatible(first: Term, second: Term) -> tuple[Literal, Literal]:
    """Argument compatibility (17.4.3.1.2): the second has the first's language, or none."""
    a, b = string_literal(first), string_literal(second)
    if b.language is not None and a.language != b.language:
        raise ExpressionError(f"{first} and {second} have different languages")
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
    """The text before the mark, in the text's language; a plain "" if the mark is not there."""
    a, b = _compatible(text, mark)
    before, found, _ = a.value.partition(b.value) if b.value else ("", "found", "")
    return _like(a, before) if found else Literal("")


def strafter(text: Term, mark: Term) -> Literal:
    """The text after the mark, in the text's language; a plain "" if the mark is not there."""
    a, b = _compatible(text, mark)
    _, found, after = a.value.partition(b.value) if b.value else ("", "found", a.value)
    return _like(a, after) if found else Literal("")


def encode_for_uri(text: Term) -> Literal:
    return Literal(quote(_utf8(string_literal(text).value), safe="-_.~"))


def concat(*texts: Term) -> Literal:
    """The concatenation, in the common language of all arguments, else without a language."""
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
        raise ExpressionError("a string contains half of a surrogate pair") from None


def digest(algorithm: str) -> Callable[[Term], Literal]:
    """MD5, SHA1, SHA256, SHA384 or SHA512 of the UTF-8 bytes, in hexadecimal."""

    def hashed(text: Term) -> Literal:
        data = _utf8(simple_literal(text))
        return Literal(hashlib.new(algorithm, data, usedforsecurity=False).hexdigest())

    return hashed


# Functions on dates and times (17.4.5): of xsd:dateTime; and of xsd:date and xsd:time, as XPath has them.


def _dated(term: Term) -> DateTime | Date:
    found = known_value(term)
    if isinstance(found, DateTime | Date):
        return found
    raise ExpressionError(f"{term} has no date")


def _timed(term: Term) -> DateTime | Time:
    found = known_value(term)
    if isinstance(found, DateTime | Time):
        return found
    raise ExpressionError(f"{term} has no time of day")


def _zone(term: Term) -> int | None:
    found = known_value(term)
    if isinstance(found, DateTime | Date | Time):
        return found.zone
    raise ExpressionError(f"{term} is not a date or time")


def year(moment: Term) -> Literal:
    return literal(_dated(moment).year)


def month(moment: Term) -> Literal:
    return literal(_dated(moment).month)


def day(moment: Term) -> Literal:
    return literal(_dated(moment).day)


def hours(moment: Term) -> Literal:
    return literal(_timed(moment).hour)


def minutes(moment: Term) -> Literal:
    return literal(_timed(moment).minute)


def seconds(moment: Term) -> Literal:
    return literal(_timed(moment).second)


def timezone(moment: Term) -> Literal:
    """An xsd:dayTimeDuration; an error without a time zone."""
    zone = _zone(moment)
    if zone is None:
        raise ExpressionError(f"{moment} has no time zone")
    return literal(Duration(0, Decimal(zone * 60), XSD_DAY_TIME_DURATION))


def tz(moment: Term) -> Literal:
    """The time zone as it is written: `Z`, `-05:00`, or "" without one. Where the form has `+00:00`, so has this."""
    zone = _zone(moment)
    assert isinstance(moment, Literal)
    written = moment.value[-6:]
    return Literal(written if zone == 0 and written in ("+00:00", "-00:00") else zone_text(zone))


Function: TypeAlias = Callable[..., Term]

_NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')
_NO_SCHEME = re.compile(r"[^/?#]*:")  # neither a scheme nor a path, which has no colon before its first slash
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def call(function: str, arguments: list[Term], context: Context) -> Term:
    """A function by its keyword in upper case.

    >>> print(call("UCASE", [Literal("foo", language="en")], Context()))
    "FOO"@en
    """
    if (pure := FUNCTIONS.get(function)) is not None:
        return pure(*arguments)
    return CONTEXTUAL[function](context, *arguments)


# Terms (17.4.2)


def str_(term: Term) -> Literal:
    if isinstance(term, BlankNode):
        raise ExpressionError("a blank node has no text")
    return Literal(term.value)


def lang(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is not a literal and has no language")
    return Literal(term.language or "")


def datatype(term: Term) -> IRI:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is not a literal and has no datatype")
    return IRI(term.datatype)


def same_term(left: Term, right: Term) -> Literal:
    return _boolean(left == right)


def is_numeric(term: Term) -> Literal:
    """Whether it is a number: an ill-typed one is not."""
    return _boolean(isinstance(term, Literal) and is_number(value(term)))


def strdt(text: Term, type_: Term) -> Literal:
    if not isinstance(type_, IRI):
        raise ExpressionError(f"{type_} is not a datatype")
    if type_.value == RDF_LANG_STRING:
        raise ExpressionError("rdf:langString needs a language: use STRLANG")
    return Literal(simple_literal(text), type_.value)


def strlang(text: Term, tag: Term) -> Literal:
    language = simple_literal(tag)
    if not _LANGUAGE_TAG.fullmatch(language):
        raise ExpressionError(f"{tag} is not a language tag")
    return Literal(simple_literal(text), language=language)


# Strings (17.4.3.14, 17.4.3.15)


def regex_(text: Term, pattern: Term, flags: Term | None = None) -> Literal:
    found = regex(simple_literal(pattern), "" if flags is None else simple_literal(flags))
    return _boolean(found.matches(string_literal(text).value))


def replace(text: Term, pattern: Term, replacement: Term, flags: Term | None = None) -> Literal:
    given = string_literal(text)
    found = regex(simple_literal(pattern), "" if flags is None else simple_literal(flags))
    return Literal(found.replace(given.value, simple_literal(replacement)), language=given.language)


# Numbers (17.4.4)


def _numeric(function: Callable[[Number], Number]) -> Function:
    return lambda term: written(function(number(term)))


FUNCTIONS: dict[str, Function] = {
    "STR": str_,
    "LANG": lang,
    "DATATYPE": datatype,
    "SAMETERM": same_term,
    "ISIRI": lambda term: _boolean(isinstance(term, IRI)),
    "ISURI": lambda term: _boolean(isinstance(term, IRI)),
    "ISBLANK": lambda term: _boolean(isinstance(term, BlankNode)),
    "ISLITERAL": lambda term: _boolean(isinstance(term, Literal)),
    "ISNUMERIC": is_numeric,
    "STRDT": strdt,
    "STRLANG": strlang,
    "STRLEN": strlen,
    "SUBSTR": substr,
    "UCASE": ucase,
    "LCASE": lcase,
    "STRSTARTS": strstarts,
    "STRENDS": strends,
    "CONTAINS": contains,
    "STRBEFORE": strbefore,
    "STRAFTER": strafter,
    "ENCODE_FOR_URI": encode_for_uri,
    "CONCAT": concat,
    "LANGMATCHES": langmatches,
    "REGEX": regex_,
    "REPLACE": replace,
    "ABS": _numeric(numbers.absolute),
    "ROUND": _numeric(numbers.round_half_up),
    "CEIL": _numeric(numbers.ceiling),
    "FLOOR": _numeric(numbers.floor),
    "YEAR": year,
    "MONTH": month,
    "DAY": day,
    "HOURS": hours,
    "MINUTES": minutes,
    "SECONDS": seconds,
    "TIMEZONE": timezone,
    "TZ": tz,
    "MD5": digest("md5"),
    "SHA1": digest("sha1"),
    "SHA256": digest("sha256"),
    "SHA384": digest("sha384"),
    "SHA512": digest("sha512"),
}
"""The functions of their arguments alone: the same terms always give the same term."""


# Functions that depend on more than their arguments


def iri(context: Context, term: Term, base: Term | None = None) -> IRI:
    """IRI(text), relative to the query's base IRI."""
    if isinstance(term, IRI):
        return term
    text = simple_literal(term)
    against = context.base if base is None else base.value
    if not is_absolute(text):
        if _NO_SCHEME.match(text):
            raise ExpressionError(f"{term} is not an IRI")
        if against is None:
            raise ExpressionError(f"{term} is relative, and there is no base IRI")
        text = resolve(text, against)
    if _NOT_IN_AN_IRI.search(text):
        raise ExpressionError(f"{term} is not an IRI")
    return IRI(text)


def bnode(context: Context, label: Term | None = None) -> BlankNode:
    """A fresh blank node; for one label the same one within a solution."""
    return context.fresh() if label is None else context.labels.node(simple_literal(label), context.fresh)


def now(context: Context) -> Literal:
    if context.now is None:
        raise ExpressionError("NOW() needs the time of the run, which is unknown")
    return context.now


def rand(context: Context) -> Literal:
    return literal(context.random.random())


def _uuid(context: Context) -> UUID:
    return UUID(int=context.random.getrandbits(128), version=4)


def uuid(context: Context) -> IRI:
    return IRI(f"urn:uuid:{_uuid(context)}")


def struuid(context: Context) -> Literal:
    return Literal(str(_uuid(context)))


CONTEXTUAL: dict[str, Function] = {
    "IRI": iri,
    "URI": iri,
    "BNODE": bnode,
    "NOW": now,
    "RAND": rand,
    "UUID": uuid,
    "STRUUID": struuid,
}
"""The functions that are given a `Context` before their arguments."""
