"""Terms, expressions and functions of TEF-SPARQL: bare names, `?_`, durations, now() and duration(a, b)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from lark import Token

from thence.algebra.expressions import (
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Expression,
    If,
    Operation,
    Variable,
)
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import FRESH, is_fresh
from thence.algebra.variables import mentioned
from thence.errors import InputError, QueryError, closest
from thence.lang.draft import TimeDemand
from thence.lang.mistakes import Diagnosis
from thence.lang.sparql.term_reader import ExpressionReader
from thence.lang.syntax import offset
from thence.lang.tef_sparql.draft import Caution
from thence.lang.text import Text
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.dates import parse_duration as parse_xsd_duration
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI, RDF, RDFS, XSD, XSD_STRING, Literal
from thence.rdf.times import XSD_DATE_TIME, Domain, parse_duration

# The functions of TEF-SPARQL: SPARQL's built-ins by name, XPath's by `fn:`, now() and duration(a, b).

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
AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
NO_AGGREGATE = "{} is not supported: TEF-SPARQL computes aggregates with facts."
INSTEAD_OF_AGGREGATE = "REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p"
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
    if keyword in AGGREGATES:
        reason = NO_AGGREGATE.format(keyword)
        return Diagnosis(reason, INSTEAD_OF_AGGREGATE)
    if keyword in _RANDOM:
        return Diagnosis(f"{keyword} is not supported: the same events must give the same rows.", "a value of an event")
    if keyword in _EP_SPARQL:
        reason = f"{name} is EP-SPARQL's; here brackets bind the times of the triple or parenthesis before them."
        return Diagnosis(reason, "( … )[?s, ?e], duration(?s, ?e) < 10d")
    if keyword in ("EXISTS", "NOT"):
        return Diagnosis(f"{keyword} is not supported.", "WITHOUT ( … )")
    if name in _XPATH:
        return Diagnosis(f"{shown} is not a known function.", f"fn:{name}")
    known = [each if each not in ("NOW", "DURATION") else each.lower() for each in _ARITIES]
    hint = closest(name, known if len(name) > 2 else ()) or f":{name[:_LONGEST]}(…) for one of your own"
    return Diagnosis(f"{shown} is not a known function.", hint)


# Terms and expressions of TEF-SPARQL: bare names, `?_`, numbers without signs, durations, functions (TEF-56 to
# TEF-61).

PREFIXES: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "fn": FN, "owl": "http://www.w3.org/2002/07/owl#"}
"""Those that a file need not declare."""

_SIGNS = {"≠": "!=", "≤": "<=", "≥": ">="}
_NUMBERS = (XSD + "integer", XSD + "decimal", XSD + "double")


class TefExpressionReader(ExpressionReader):
    """Terms and expressions."""

    def __init__(self, text: Text, *, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> None:
        super().__init__(text, base=base, prefixes={**PREFIXES, **(prefixes or {})})
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)
        self._bare_at: dict[int, str] = {}  # where bare names are
        self._constants: dict[int, str] = {}  # those of this statement that are in expressions
        self._fresh = 0  # how often this statement has `?_`
        self._demands: list[TimeDemand] = []
        self._cautions: list[Caution] = []
        self._terms_at: list[int] = []  # where variables and IRIs are, since the last triple
        self._noted: dict[int, int] = {}  # where patterns and triples of heads of this statement are, by identity

    def caution(self, reason: str, at: int, *, hint: str = "") -> None:
        """Keep a warning."""
        self._cautions.append(Caution(str(self.error(reason, at=at, hint=hint)), at))

    def refused(self, error: InputError) -> QueryError:
        """A wrong time or duration as an error of the query."""
        reason, _, hint = str(error).partition(" Try: ")
        return self.error(reason if reason.endswith(".") else f"{reason}.", hint=hint)

    # Terms

    def var(self, token: Token) -> Variable:
        variable = super().var(token)
        if variable.name == "_":
            self._fresh += 1
            variable = Variable(f"{FRESH}{self._fresh}")
        self._named[variable].append(offset(token))
        self._terms_at.append(offset(token))
        return variable

    def iri(self, written: Token | IRI) -> IRI:
        self._terms_at.append(self.here)
        return super().iri(written)

    def a(self, token: Token) -> IRI:
        self._terms_at.append(offset(token))
        return super().a(token)

    @property
    def namespace(self) -> str:
        """The namespace of bare names at this place: the same as of names that begin with a colon."""
        return self.prefixes.get("") or self.base or DEFAULT_NAMESPACE

    def bare_name(self, token: Token) -> IRI:
        self._bare_at[offset(token)] = str(token)
        return IRI(self.namespace + token)

    def prefixed_name(self, token: Token) -> IRI:
        if token.startswith(":") and "" not in self.prefixes:
            self.prefixes[""] = self.namespace
            found = super().prefixed_name(token)
            del self.prefixes[""]
            return found
        return super().prefixed_name(token)

    def signed_number(self, sign: Token, number: Literal) -> Literal:
        return Literal(f"{sign}{number.value}", number.datatype)

    def short_duration(self, token: Token) -> Literal:
        """`10d` (TEF-61)."""
        try:
            span = parse_duration(str(token))
        except InputError as error:
            raise self.refused(error) from None
        return Literal(str(Duration(0, Decimal(span.length) / 1_000_000, XSD_DAY_TIME_DURATION)), XSD_DAY_TIME_DURATION)

    def triple(self, subject: Variable | IRI, verb: Variable | IRI, target: Any) -> TriplePattern:
        found = TriplePattern(subject, verb, target)
        self._noted[id(found)] = self._predicate_at()
        return found

    def _predicate_at(self) -> int:
        """The place of the current triple's predicate, its second term."""
        at = min((at for at in self._terms_at if at > self.here), default=self.here)
        self._terms_at.clear()
        return at

    def _resolve(self, token: Token) -> str:
        if token == "<>":
            raise self.error('"<>" is not an operator.', at=offset(token), hint="!=")
        return super()._resolve(token)

    # Expressions

    def constant(self, iri: IRI) -> IRI:
        if bare := self._bare_at.get(self.here, ""):
            self._constants[self.here] = bare
            if bare.upper() == "NOW":
                self.caution(f'"{bare}" is a constant here.', self.here, hint="now()")
        return iri

    def function(self, name: IRI, *arguments: Expression) -> Expression:
        try:
            if bare := self._bare_at.get(self.here, ""):
                return built_in(bare, arguments, self.base)
            if name.value.startswith(FN):
                return xpath(name.value.removeprefix(FN), arguments, self.base)
        except UnknownFunction as error:
            raise self.error(error.mistake.reason, hint=error.mistake.hint) from None
        return Cast(name, arguments)

    def comparison(self, left: Expression, sign: Token, right: Expression) -> Expression:
        found = Compare(Comparison(_SIGNS.get(sign, str(sign))), left, right)
        self._note_demand(left, right)
        self._note_demand(right, left)
        return found

    def _note_demand(self, side: Expression, other: Expression) -> None:
        """Note the kind of time that a comparison demands: of duration() with a length (TEF-60), of now() with an
        instant or with a time plus or minus a length (TEF-63)."""
        match side, other:
            case Call("DURATION"), Literal():
                domain, words = _length_domain(other), "duration()"
            case Call("NOW"), Literal():
                domain, words = (Domain.DATETIME if other.datatype == XSD_DATE_TIME else _tick_domain(other)), "now()"
            case Call("NOW"), Arithmetic(Operation.ADD | Operation.SUBTRACT, _, Literal() as length):
                domain, words, other = _length_domain(length), "now()", length
            case _:
                return
        if domain is not None:
            self._demands.append(TimeDemand(domain, f"{words} beside {other.value[:40]}", self.here))

    def read_only(self, *expressions: Expression) -> None:
        """Refuse `?_` in expressions: it is new each time, so it has no value there (TEF-56)."""
        fresh = (each for expression in expressions for each in mentioned(expression) if is_fresh(each))
        place = min((self._named[each][0] for each in fresh), default=None)
        if place is not None:
            raise self.error("?_ is a new variable each time, so it has no value here.", at=place, hint="a name")


def _tick_domain(literal: Literal) -> Domain | None:
    return Domain.TICKS if literal.datatype in _NUMBERS else None


def _length_domain(literal: Literal) -> Domain | None:
    is_duration = literal.datatype == XSD_DAY_TIME_DURATION or _is_duration(literal)
    return Domain.DATETIME if is_duration else _tick_domain(literal)


def _is_duration(literal: Literal) -> bool:
    return literal.datatype == XSD_STRING and len(literal.value) < 100 and parse_xsd_duration(literal.value) is not None
