"""Expressions over a case's variables and terms: mostly of the types that functions want, at times of any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from hypothesis import strategies as st

from strategies.terms import BOOLEANS, DURATIONS, NUMBERS, STRINGS, TIMES, World, typed
from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Expression,
    If,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.rdf.terms import IRI, RDF, XSD, Literal


class Kind(Enum):
    """What an argument should be. ANY is drawn as any of the others."""

    ANY = auto()
    NUMBER = auto()
    STRING = auto()
    TIME = auto()
    DURATION = auto()
    BOOLEAN = auto()
    REGEX = auto()
    FLAGS = auto()
    LANGUAGE = auto()
    DATATYPE = auto()


_DRAWN = (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIME, Kind.DURATION)

_CONSTANTS: dict[Kind, tuple[IRI | Literal, ...]] = {
    Kind.NUMBER: NUMBERS,
    Kind.STRING: STRINGS,
    Kind.TIME: TIMES,
    Kind.DURATION: DURATIONS,
    Kind.BOOLEAN: BOOLEANS,
    Kind.REGEX: tuple(map(Literal, ("a", "^a", "b$", "[a-c]+", "(a)(b)?", ".", "A.", "(", "x*", "\\d", "a|é", ""))),
    Kind.FLAGS: tuple(map(Literal, ("", "i", "s", "m", "x", "q", "z", "is"))),
    Kind.LANGUAGE: tuple(map(Literal, ("en", "EN", "en-GB", "fr", "*", "", "no language"))),
    Kind.DATATYPE: (
        *(IRI(XSD + name) for name in ("integer", "decimal", "string", "dateTime", "boolean", "byte")),
        IRI("http://example.org/type"),
        IRI(RDF + "langString"),
    ),
}


@dataclass(frozen=True)
class Function:
    """A built-in function's signature: what it takes, and what it gives."""

    name: str
    takes: tuple[Kind, ...]
    gives: Kind
    optional: int = 0  # how many of the last arguments may be left out


_S, _N, _T, _B, _A = Kind.STRING, Kind.NUMBER, Kind.TIME, Kind.BOOLEAN, Kind.ANY

FUNCTIONS = (
    *(Function(name, (_A,), _S) for name in ("STR", "LANG")),
    Function("DATATYPE", (_A,), Kind.DATATYPE),
    *(Function(name, (_A,), _B) for name in ("ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC")),
    Function("SAMETERM", (_A, _A), _B),
    Function("STRDT", (_S, Kind.DATATYPE), _A),
    Function("STRLANG", (_S, Kind.LANGUAGE), _S),
    *(Function(name, (_S,), _S) for name in ("UCASE", "LCASE", "ENCODE_FOR_URI")),
    Function("STRLEN", (_S,), _N),
    Function("SUBSTR", (_S, _N, _N), _S, optional=1),
    *(Function(name, (_S, _S), _B) for name in ("STRSTARTS", "STRENDS", "CONTAINS")),
    *(Function(name, (_S, _S), _S) for name in ("STRBEFORE", "STRAFTER")),
    Function("CONCAT", (_S, _S, _S), _S, optional=3),
    Function("LANGMATCHES", (_S, Kind.LANGUAGE), _B),
    Function("REGEX", (_S, Kind.REGEX, Kind.FLAGS), _B, optional=1),
    Function("REPLACE", (_S, Kind.REGEX, _S, Kind.FLAGS), _S, optional=1),
    *(Function(name, (_N,), _N) for name in ("ABS", "ROUND", "CEIL", "FLOOR")),
    *(Function(name, (_T,), _N) for name in ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")),
    Function("TIMEZONE", (_T,), Kind.DURATION),
    Function("TZ", (_T,), _S),
    *(Function(name, (_S,), _S) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")),
    *(Function(name, (_S,), _A) for name in ("IRI", "URI")),
    Function("NOW", (), _T),
)
"""Every built-in function that gives the same answer each time."""

CASTS: dict[str, Kind] = {
    **dict.fromkeys(("integer", "decimal", "float", "double", "byte", "unsignedInt", "long"), _N),
    **dict.fromkeys(("dateTime", "date", "time", "gYear"), _T),
    **dict.fromkeys(("duration", "dayTimeDuration", "yearMonthDuration"), Kind.DURATION),
    "string": _S,
    "boolean": _B,
}
_UNKNOWN_FUNCTION = IRI("http://example.org/function")

NOW = typed("dateTime", "2020-01-01T12:00:00Z")[0]


@dataclass(frozen=True)
class Language:
    """What expressions may be made of: a world's terms, some variables, and the functions that take part."""

    world: World
    variables: Sequence[Variable]
    functions: tuple[Function, ...] = FUNCTIONS
    casts: tuple[str, ...] = tuple(CASTS)
    constants: bool = True  # also others than the world's
    allowed: Callable[[Expression], bool] = lambda expression: True

    def of(self, draw: st.DrawFn, kind: Kind = Kind.ANY, depth: int = 2) -> Expression:
        """An expression that should be of a kind; one time in ten it is of any."""
        for _ in range(5):
            found = self._of(draw, kind, depth)
            if self.allowed(found):
                return found
        return self._leaf(draw, kind)

    def _of(self, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
        if kind in _DRAWN and draw(st.integers(0, 9)) == 9:
            kind = Kind.ANY
        if kind is Kind.ANY:
            kind = draw(st.sampled_from(_DRAWN))
        if depth == 0 or kind in (Kind.REGEX, Kind.FLAGS, Kind.LANGUAGE):
            return self._leaf(draw, kind)
        return draw(st.sampled_from((*_MAKERS[kind], _leaf)))(self, draw, kind, depth - 1)

    def _leaf(self, draw: st.DrawFn, kind: Kind) -> Expression:
        if kind in _DRAWN or kind is Kind.ANY:
            choice = draw(st.integers(0, 9))
            if choice < 6 and self.variables:
                return draw(st.sampled_from(self.variables))
            if choice < 8 or not self.constants or kind is Kind.ANY:
                return draw(st.sampled_from(self.world.constants))
        return draw(st.sampled_from(_CONSTANTS[kind]))


Maker = Callable[[Language, st.DrawFn, Kind, int], Expression]


def _leaf(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    return language._leaf(draw, kind)


def _call(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    of_any_kind = draw(st.integers(0, 7)) == 7  # IRI, STRDT
    fitting = [function for function in language.functions if function.gives is (Kind.ANY if of_any_kind else kind)]
    if not fitting:
        return _leaf(language, draw, kind, depth)
    function = draw(st.sampled_from(fitting))
    count = len(function.takes) - draw(st.integers(0, function.optional))
    return Call(function.name, tuple(language.of(draw, takes, depth) for takes in function.takes[:count]))


def _cast(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    fitting = [name for name in language.casts if CASTS[name] is kind]
    if not fitting:
        return _leaf(language, draw, kind, depth)
    name = draw(st.sampled_from(fitting))
    function = _UNKNOWN_FUNCTION if language.constants and draw(st.integers(0, 19)) == 19 else IRI(XSD + name)
    return Cast(function, (language.of(draw, draw(st.sampled_from((kind, Kind.ANY))), depth),))


def _arithmetic(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    """Of two numbers; or of what, with this result, times and durations combine by."""
    operation = draw(st.sampled_from(Operation))
    left = right = kind
    if kind is Kind.TIME:
        right = Kind.DURATION
    elif kind is Kind.DURATION:
        left, right = draw(st.sampled_from(((kind, kind), (kind, Kind.NUMBER), (Kind.TIME, Kind.TIME))))
    return Arithmetic(operation, language.of(draw, left, depth), language.of(draw, right, depth))


def _sign(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    return draw(st.sampled_from((Negate, Plus)))(language.of(draw, kind, depth))


def _compare(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    """Of two of one kind; one time in four of any two."""
    of = draw(st.sampled_from((*_DRAWN, Kind.ANY)))
    comparison = draw(st.sampled_from(Comparison))
    return Compare(comparison, language.of(draw, of, depth), language.of(draw, of, depth))


def _logic(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    which = draw(st.sampled_from((And, Or, Not)))
    operands = [
        language.of(draw, draw(st.sampled_from((kind, Kind.ANY))), depth) for _ in range(1 + (which is not Not))
    ]
    return which(*operands)


def _in(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    of = draw(st.sampled_from(_DRAWN))
    choices = tuple(language.of(draw, of, 0) for _ in range(draw(st.integers(0, 3))))
    found = In(language.of(draw, of, depth), choices)
    return Not(found) if draw(st.booleans()) else found


def _bound(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    return (
        Bound(draw(st.sampled_from(language.variables))) if language.variables else _leaf(language, draw, kind, depth)
    )


def _if(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    return If(language.of(draw, Kind.BOOLEAN, depth), language.of(draw, kind, depth), language.of(draw, kind, depth))


def _coalesce(language: Language, draw: st.DrawFn, kind: Kind, depth: int) -> Expression:
    return Coalesce(tuple(language.of(draw, kind, depth) for _ in range(draw(st.integers(0, 3)))))


_MAKERS: dict[Kind, tuple[Maker, ...]] = {
    Kind.NUMBER: (_call, _call, _cast, _arithmetic, _arithmetic, _sign, _if, _coalesce),
    Kind.STRING: (_call, _call, _call, _cast, _if, _coalesce),
    Kind.BOOLEAN: (_compare, _compare, _compare, _logic, _logic, _call, _call, _call, _in, _in, _bound, _cast, _if),
    Kind.TIME: (_call, _cast, _arithmetic, _if),
    Kind.DURATION: (_call, _cast, _arithmetic, _sign),
    Kind.DATATYPE: (_call,),
}


@st.composite
def expressions(draw: st.DrawFn, language: Language, kind: Kind = Kind.ANY, depth: int = 2) -> Expression:
    return language.of(draw, kind, depth)
