"""Terms and expressions of TEF-SPARQL: bare names, `?_`, numbers without signs, durations, functions (TEF-56 to
TEF-61)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from lark import Token

from thence.algebra.expressions import Call, Cast, Compare, Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_variables import FRESH, is_fresh
from thence.algebra.variables import mentioned
from thence.errors import InputError, QueryError
from thence.lang.placed_draft import TimeDemand
from thence.lang.sparql.expression_reader import ExpressionReader
from thence.lang.syntax import offset
from thence.lang.tef_sparql.draft import Caution
from thence.lang.tef_sparql.functions import FN, UnknownFunction, built_in, xpath
from thence.lang.text import Text
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.dates import parse_duration as parse_xsd_duration
from thence.rdf.terms import IRI, RDF, RDFS, XSD, XSD_STRING, Literal
from thence.rdf.times import Domain, parse_duration
from thence.rdf.typed_events import DEFAULT_NAMESPACE

PREFIXES: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "fn": FN, "owl": "http://www.w3.org/2002/07/owl#"}
"""Those that a file need not declare."""

_SIGNS = {"≠": "!=", "≤": "<=", "≥": ">="}
_NUMBERS = (XSD + "integer", XSD + "decimal", XSD + "double")


class TefExpressionReader(ExpressionReader):
    """Terms and expressions."""

    def __init__(self, text: Text, *, base: str | None = None, prefixes: Mapping[str, str] | None = None) -> None:
        super().__init__(text, base=base, prefixes={**PREFIXES, **(prefixes or {})})
        self._named: defaultdict[Variable, list[int]] = defaultdict(list)
        self._bare_at: dict[int, str] = {}  # where bare names stand
        self._constants: dict[int, str] = {}  # those of this statement that stand in expressions
        self._fresh = 0  # how often this statement has `?_`
        self._demands: list[TimeDemand] = []
        self._cautions: list[Caution] = []
        self._terms_at: list[int] = []  # where variables and IRIs stand, since the last triple
        self._noted: dict[int, int] = {}  # where patterns and triples of heads of this statement stand, by identity

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
        """What bare names are of at this place: the same as names that begin with a colon."""
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
        """Where the predicate of the triple in hand stands: its second term."""
        at = min((at for at in self._terms_at if at > self.here), default=self.here)
        self._terms_at.clear()
        return at

    def _resolve(self, token: Token) -> str:
        if token == "<>":
            raise self.error('"<>" is no operator.', at=offset(token), hint="!=")
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
        """Note the kind of time that a comparison of duration() with a constant demands (TEF-60)."""
        if isinstance(side, Call) and side.function == "DURATION" and isinstance(other, Literal):
            shown = other.value[:40]
            if other.datatype in _NUMBERS:
                self._demands.append(TimeDemand(Domain.TICKS, f"duration() beside {shown}", self.here))
            elif other.datatype == XSD_DAY_TIME_DURATION or _is_duration(other):
                self._demands.append(TimeDemand(Domain.DATETIME, f"duration() beside {shown}", self.here))

    def read_only(self, *expressions: Expression) -> None:
        """Refuse `?_` in expressions: it is new each time, so it has no value there (TEF-56)."""
        fresh = (each for expression in expressions for each in mentioned(expression) if is_fresh(each))
        place = min((self._named[each][0] for each in fresh), default=None)
        if place is not None:
            raise self.error("?_ is a new variable each time, so it has no value here.", at=place, hint="a name")


def _is_duration(literal: Literal) -> bool:
    return literal.datatype == XSD_STRING and len(literal.value) < 100 and parse_xsd_duration(literal.value) is not None
