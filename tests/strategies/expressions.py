"""Expressions over a case's variables and terms: mostly of the types that functions want, at times of any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from strategies.choices import Choices
from strategies.terms import BOOLEANS, DURATIONS, NUMBERS, STRINGS, TIMES, World, typed
from thence.algebra.expressions import (
    COMPARISONS,
    OPERATIONS,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Expression,
    If,
    In,
    Negate,
    Not,
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

    def of(self, choices: Choices, kind: Kind = Kind.ANY, depth: int = 2) -> Expression:
        """An expression that should be of a kind; one time in ten it is of any."""
        if kind in _DRAWN and choices.number(0, 9) == 9:
            kind = Kind.ANY
        if kind is Kind.ANY:
            kind = choices.pick(_DRAWN)
        if depth == 0 or kind in (Kind.REGEX, Kind.FLAGS, Kind.LANGUAGE):
            return self.leaf(choices, kind)
        return choices.pick((*_MAKERS[kind], _leaf))(self, choices, kind, depth - 1)

    def leaf(self, choices: Choices, kind: Kind) -> Expression:
        if kind in _DRAWN or kind is Kind.ANY:
            choice = choices.number(0, 9)
            if choice < 6 and self.variables:
                return choices.pick(self.variables)
            if choice < 8 or not self.constants or kind is Kind.ANY:
                return choices.pick(self.world.constants)
        return choices.pick(_CONSTANTS[kind])


Maker = Callable[[Language, Choices, Kind, int], Expression]


def _leaf(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    return language.leaf(choices, kind)


def _call(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    of_any_kind = choices.number(0, 7) == 7  # IRI, STRDT
    fitting = [function for function in language.functions if function.gives is (Kind.ANY if of_any_kind else kind)]
    if not fitting:
        return _leaf(language, choices, kind, depth)
    function = choices.pick(fitting)
    count = len(function.takes) - choices.number(0, function.optional)
    return Call(function.name, tuple(language.of(choices, takes, depth) for takes in function.takes[:count]))


def _cast(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    fitting = [name for name in language.casts if CASTS[name] is kind]
    if not fitting:
        return _leaf(language, choices, kind, depth)
    name = choices.pick(fitting)
    function = _UNKNOWN_FUNCTION if language.constants and choices.number(0, 19) == 19 else IRI(XSD + name)
    return Cast(function, (language.of(choices, choices.pick((kind, Kind.ANY)), depth),))


def _arithmetic(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    """Of two numbers; or of what, with this result, times and durations combine by."""
    operation = choices.pick(OPERATIONS)
    left = right = kind
    if kind is Kind.TIME:
        right = Kind.DURATION
    elif kind is Kind.DURATION:
        left, right = choices.pick(((kind, kind), (kind, Kind.NUMBER), (Kind.TIME, Kind.TIME)))
    return Arithmetic(operation, language.of(choices, left, depth), language.of(choices, right, depth))


def _sign(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    return choices.pick((Negate, Plus))(language.of(choices, kind, depth))


def _compare(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    """Of two of one kind; one time in four of any two."""
    of = choices.pick((*_DRAWN, Kind.ANY))
    comparison = choices.pick(COMPARISONS)
    return Compare(comparison, language.of(choices, of, depth), language.of(choices, of, depth))


def _logic(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    which = choices.pick((And, Or, Not))
    operands = [language.of(choices, choices.pick((kind, Kind.ANY)), depth) for _ in range(1 + (which is not Not))]
    return which(*operands)


def _in(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    of = choices.pick(_DRAWN)
    among = tuple(language.of(choices, of, 0) for _ in range(choices.number(0, 3)))
    found = In(language.of(choices, of, depth), among)
    return Not(found) if choices.pick((True, False)) else found


def _bound(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    return Bound(choices.pick(language.variables)) if language.variables else _leaf(language, choices, kind, depth)


def _if(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    return If(
        language.of(choices, Kind.BOOLEAN, depth), language.of(choices, kind, depth), language.of(choices, kind, depth)
    )


def _coalesce(language: Language, choices: Choices, kind: Kind, depth: int) -> Expression:
    return Coalesce(tuple(language.of(choices, kind, depth) for _ in range(choices.number(0, 3))))


_MAKERS: dict[Kind, tuple[Maker, ...]] = {
    Kind.NUMBER: (_call, _call, _cast, _arithmetic, _arithmetic, _sign, _if, _coalesce),
    Kind.STRING: (_call, _call, _call, _cast, _if, _coalesce),
    Kind.BOOLEAN: (_compare, _compare, _compare, _logic, _logic, _call, _call, _call, _in, _in, _bound, _cast, _if),
    Kind.TIME: (_call, _cast, _arithmetic, _if),
    Kind.DURATION: (_call, _cast, _arithmetic, _sign),
    Kind.DATATYPE: (_call,),
}
