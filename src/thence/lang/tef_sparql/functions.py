"""The functions of TEF-SPARQL: SPARQL's built-ins by name, XPath's by `fn:`, now() and duration(a, b)."""

from __future__ import annotations

from collections.abc import Mapping

from thence.algebra.expressions import Bound, Call, Coalesce, Expression, If, Variable
from thence.hints import closest
from thence.lang.mistakes import Diagnosis
from thence.rdf.terms import IRI

FN = "http://www.w3.org/2005/xpath-functions#"

_MANY = 1_000_000
_ARITIES: Mapping[str, tuple[int, int]] = {
    "NOW": (0, 0), "DURATION": (2, 2), "IF": (3, 3), "COALESCE": (0, _MANY), "BOUND": (1, 1), "CONCAT": (0, _MANY),
    "SUBSTR": (2, 3), "REGEX": (2, 3), "LANGMATCHES": (2, 2), "CONTAINS": (2, 2), "STRSTARTS": (2, 2),
    "STRENDS": (2, 2), "STRBEFORE": (2, 2), "STRAFTER": (2, 2), "STRLANG": (2, 2), "STRDT": (2, 2), "SAMETERM": (2, 2),
} | dict.fromkeys(
    ("STR", "LANG", "DATATYPE", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN", "UCASE", "LCASE",
     "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256",
     "SHA384", "SHA512", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"),
    (1, 1),
)  # fmt: skip
_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}
_XPATH = {
    "year-from-dateTime": "YEAR", "month-from-dateTime": "MONTH", "day-from-dateTime": "DAY",
    "hours-from-dateTime": "HOURS", "minutes-from-dateTime": "MINUTES", "seconds-from-dateTime": "SECONDS",
    "timezone-from-dateTime": "TIMEZONE", "abs": "ABS", "round": "ROUND", "ceiling": "CEIL", "floor": "FLOOR",
    "concat": "CONCAT", "contains": "CONTAINS", "starts-with": "STRSTARTS", "ends-with": "STRENDS",
    "string-length": "STRLEN", "substring": "SUBSTR", "substring-before": "STRBEFORE", "substring-after": "STRAFTER",
    "upper-case": "UCASE", "lower-case": "LCASE", "encode-for-uri": "ENCODE_FOR_URI", "matches": "REGEX",
}  # fmt: skip
_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_RANDOM = ("RAND", "UUID", "STRUUID", "BNODE")
_EP_SPARQL = ("GETDURATION", "GETSTARTTIME", "GETENDTIME")
_LONGEST = 40


class UnknownFunction(Exception):
    """A call that means nothing, and why."""

    def __init__(self, mistake: Diagnosis) -> None:
        super().__init__(mistake.reason)
        self.mistake = mistake


def built_in(name: str, arguments: tuple[Expression, ...], base: str | None) -> Expression:
    """The call of a function by its bare name, in any case."""
    keyword = name.upper()
    if keyword not in _ARITIES:
        raise UnknownFunction(_unknown(name))
    _check_arity(name if len(name) <= _LONGEST else keyword, keyword, arguments)
    return _call(_SYNONYMS.get(keyword, keyword), arguments, base)


def xpath(local: str, arguments: tuple[Expression, ...], base: str | None) -> Expression:
    """The call of `fn:local`, which has a counterpart in SPARQL."""
    if local not in _XPATH:
        near = closest(local, _XPATH)
        hint = f"fn:{near}" if near else "a function of SPARQL, by its name"
        raise UnknownFunction(Diagnosis(f"fn:{local[:_LONGEST]} is not supported.", hint))
    _check_arity(f"fn:{local}", _XPATH[local], arguments)
    return _call(_XPATH[local], arguments, base)


def _call(keyword: str, arguments: tuple[Expression, ...], base: str | None) -> Expression:
    match keyword, arguments:
        case "IF", (condition, then, otherwise):
            return If(condition, then, otherwise)
        case "COALESCE", _:
            return Coalesce(arguments)
        case "BOUND", (Variable() as variable,):
            return Bound(variable)
        case "BOUND", _:
            raise UnknownFunction(Diagnosis("BOUND asks about a variable.", "BOUND(?v)"))
        case "IRI", _ if base is not None:
            return Call("IRI", (*arguments, IRI(base)))  # what a relative IRI is resolved against, once it is known
        case _:
            return Call(keyword, arguments)


def _check_arity(shown: str, keyword: str, arguments: tuple[Expression, ...]) -> None:
    least, most = _ARITIES[keyword]
    if least <= len(arguments) <= most:
        return
    needed = f"{least}" if least == most else f"{least} or {most}"
    noun = "argument" if needed == "1" else "arguments"
    found = f"{len(arguments):,}" if arguments else "none"
    hint = f"{shown}({', '.join('?' + letter for letter in 'abc'[:most])})"
    raise UnknownFunction(Diagnosis(f"{shown} takes {needed if most else 'no'} {noun}, found {found}.", hint))


def _unknown(name: str) -> Diagnosis:
    keyword, shown = name.upper(), f'"{name[:_LONGEST]}"'
    if keyword in _AGGREGATES:
        reason = f"{keyword} is not supported: TEF-SPARQL computes aggregates with facts."
        return Diagnosis(reason, "REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p")
    if keyword in _RANDOM:
        return Diagnosis(f"{keyword} is not supported: the same events must give the same rows.", "a value of an event")
    if keyword in _EP_SPARQL:
        reason = f"{name} is EP-SPARQL's; here brackets bind the times of what stands before them."
        return Diagnosis(reason, "( … )[?s, ?e], duration(?s, ?e) < 10d")
    if keyword in ("EXISTS", "NOT"):
        return Diagnosis(f"{keyword} is not supported.", "WITHOUT ( … )")
    if name in _XPATH:
        return Diagnosis(f"{shown} is no known function.", f"fn:{name}")
    known = [each if each not in ("NOW", "DURATION") else each.lower() for each in _ARITIES]
    hint = closest(name, known if len(name) > 2 else ()) or f":{name[:_LONGEST]}(…) for one of your own"
    return Diagnosis(f"{shown} is no known function.", hint)
