"""SPARQL's built-in functions (17.4), by keyword: terms in, a term out, or an ExpressionError."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from thence.match import date_functions, string_functions
from thence.match.arithmetic import number, written
from thence.match.context import Context
from thence.match.expression_errors import ExpressionError
from thence.match.regex import regex
from thence.match.string_functions import simple_literal, string_literal
from thence.rdf import numbers
from thence.rdf.iris import is_absolute, resolve
from thence.rdf.numbers import Number
from thence.rdf.terms import IRI, RDF_LANG_STRING, BlankNode, Literal, Term
from thence.rdf.values import FALSE, TRUE, is_number, literal, value

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


def _boolean(truth: bool) -> Literal:
    return TRUE if truth else FALSE


def str_(term: Term) -> Literal:
    if isinstance(term, BlankNode):
        raise ExpressionError("a blank node has no text")
    return Literal(term.value)


def lang(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no literal and has no language")
    return Literal(term.language or "")


def datatype(term: Term) -> IRI:
    if not isinstance(term, Literal):
        raise ExpressionError(f"{term} is no literal and has no datatype")
    return IRI(term.datatype)


def same_term(left: Term, right: Term) -> Literal:
    return _boolean(left == right)


def is_numeric(term: Term) -> Literal:
    """Whether it is a number: an ill-typed one is not."""
    return _boolean(isinstance(term, Literal) and is_number(value(term)))


def strdt(text: Term, type_: Term) -> Literal:
    if not isinstance(type_, IRI):
        raise ExpressionError(f"{type_} is no datatype")
    if type_.value == RDF_LANG_STRING:
        raise ExpressionError("rdf:langString needs a language: use STRLANG")
    return Literal(simple_literal(text), type_.value)


def strlang(text: Term, tag: Term) -> Literal:
    language = simple_literal(tag)
    if not _LANGUAGE_TAG.fullmatch(language):
        raise ExpressionError(f"{tag} is no language tag")
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
    "STRLEN": string_functions.strlen,
    "SUBSTR": string_functions.substr,
    "UCASE": string_functions.ucase,
    "LCASE": string_functions.lcase,
    "STRSTARTS": string_functions.strstarts,
    "STRENDS": string_functions.strends,
    "CONTAINS": string_functions.contains,
    "STRBEFORE": string_functions.strbefore,
    "STRAFTER": string_functions.strafter,
    "ENCODE_FOR_URI": string_functions.encode_for_uri,
    "CONCAT": string_functions.concat,
    "LANGMATCHES": string_functions.langmatches,
    "REGEX": regex_,
    "REPLACE": replace,
    "ABS": _numeric(numbers.absolute),
    "ROUND": _numeric(numbers.round_half_up),
    "CEIL": _numeric(numbers.ceiling),
    "FLOOR": _numeric(numbers.floor),
    "YEAR": date_functions.year,
    "MONTH": date_functions.month,
    "DAY": date_functions.day,
    "HOURS": date_functions.hours,
    "MINUTES": date_functions.minutes,
    "SECONDS": date_functions.seconds,
    "TIMEZONE": date_functions.timezone,
    "TZ": date_functions.tz,
    "MD5": string_functions.digest("md5"),
    "SHA1": string_functions.digest("sha1"),
    "SHA256": string_functions.digest("sha256"),
    "SHA384": string_functions.digest("sha384"),
    "SHA512": string_functions.digest("sha512"),
}
"""The functions of their arguments alone: the same terms always give the same term."""


# What depends on more


def iri(context: Context, term: Term, base: Term | None = None) -> IRI:
    """IRI(text), relative to the query's base IRI."""
    if isinstance(term, IRI):
        return term
    text = simple_literal(term)
    against = context.base if base is None else base.value
    if not is_absolute(text):
        if _NO_SCHEME.match(text):
            raise ExpressionError(f"{term} is no IRI")
        if against is None:
            raise ExpressionError(f"{term} is relative, and there is no base IRI")
        text = resolve(text, against)
    if _NOT_IN_AN_IRI.search(text):
        raise ExpressionError(f"{term} is no IRI")
    return IRI(text)


def bnode(context: Context, label: Term | None = None) -> BlankNode:
    """A fresh blank node; for one label the same one within a solution."""
    return context.fresh() if label is None else context.labels.node(simple_literal(label), context.fresh)


def now(context: Context) -> Literal:
    if context.now is None:
        raise ExpressionError("NOW() was asked, and no time was given")
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
