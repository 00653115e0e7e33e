"""Typed values as columns: a tag (kind, and a decimal's scale) and 64 bits for each term of a dictionary, compiled.

Values that 64 bits cannot hold exactly are OTHER and take the slow path. A value in bits:

- INTEGER: the integer (xsd:integer and the types derived from it)
- DECIMAL: the integer n of n / 10^scale, without trailing zeros
- FLOAT: the bits of the double that equals the 32-bit float
- DOUBLE: the bits of the double
- BOOLEAN: 0 or 1
- DATETIME: microseconds since 1970-01-01T00:00Z; no zone counts as UTC, as XPath's implicit time zone here
- DURATION: microseconds of an xsd:dayTimeDuration
- others: the term's id
"""

from __future__ import annotations

import numpy as np

from thence.jit.compiled import inner, lazy_entry

NONE = 0  # an error, or unbound
IRI_ = 1
BLANK = 2
STRING = 3
LANG = 4
OTHER = 5  # any other literal, ill-typed ones included
INTEGER = 6
DECIMAL = 7
FLOAT = 8
DOUBLE = 9
BOOLEAN = 10
DATETIME = 11
DURATION = 12

# named, since Numba compiles ord("…") as a call
_LESS, _UNDERSCORE, _QUOTE, _AT, _MINUS, _PLUS, _DOT = b'<_"@-+.'
_0, _1, _9, _LOWER_A, _LOWER_E, _D, _E, _F, _H, _I, _M, _N, _P, _S, _T, _Z = b"019aeDEFHIMNPSTZ"

KIND_MASK = 0xFF
SCALE_SHIFT = 8  # tag = kind | scale << 8; only a DECIMAL has a scale
MAX_SCALE = 18  # 10^18 is the largest power of ten in 64 bits

_XSD = np.frombuffer(b"^^<http://www.w3.org/2001/XMLSchema#", np.uint8)
_RANGED = (
    ("integer", -(2**63), 2**63 - 1),
    ("int", -(2**31), 2**31 - 1),
    ("long", -(2**63), 2**63 - 1),
    ("short", -(2**15), 2**15 - 1),
    ("byte", -(2**7), 2**7 - 1),
    ("nonNegativeInteger", 0, 2**63 - 1),
    ("positiveInteger", 1, 2**63 - 1),
    ("nonPositiveInteger", -(2**63), 0),
    ("negativeInteger", -(2**63), -1),
    ("unsignedLong", 0, 2**63 - 1),
    ("unsignedInt", 0, 2**32 - 1),
    ("unsignedShort", 0, 2**16 - 1),
    ("unsignedByte", 0, 2**8 - 1),
)
_NAMES = [name for name, _, _ in _RANGED] + ["decimal", "float", "double", "boolean", "dateTime", "dayTimeDuration"]
_NAME_TEXT = np.frombuffer("".join(_NAMES).encode(), np.uint8)
_NAME_ENDS = np.cumsum([len(name) for name in _NAMES]).astype(np.int64)
_LOW = np.array([low for _, low, _ in _RANGED], np.int64)
_HIGH = np.array([high for _, _, high in _RANGED], np.int64)
_N_RANGED = len(_RANGED)
_DECIMAL, _FLOAT, _DOUBLE, _BOOLEAN, _DATETIME, _DURATION = range(_N_RANGED, _N_RANGED + 6)

_POWERS = np.array([10**k for k in range(19)], np.int64)
_DOUBLE_POWERS = np.array([10.0**k for k in range(23)], np.float64)  # exact
_FLOAT_POWERS = np.array([10.0**k for k in range(11)], np.float32)  # exact


def _bytes(text, ends, first, last, tags, bits):
    return int(ends[last - 1] - (ends[first - 1] if first > 0 else 0)) if first < last else 0


@lazy_entry(_bytes)
def classify(text, ends, first, last, tags, bits):
    """Fills `tags` and `bits` for the terms `first` to `last` (exclusive)."""
    for index in range(first, last):
        start = ends[index - 1] if index > 0 else 0
        tag, value = _classify_one(text, start, ends[index])
        tags[index] = tag
        bits[index] = value if tag >= INTEGER else index


@inner
def _classify_one(text, start, stop):
    if text[start] == _LESS:
        return IRI_, 0
    if text[start] == _UNDERSCORE:
        return BLANK, 0
    close = stop - 1
    if text[close] == _QUOTE:
        return STRING, 0
    while text[close] != _QUOTE:
        close -= 1
    if text[close + 1] == _AT:
        return LANG, 0
    datatype = _datatype(text, close + 1, stop)
    begin = start + 1
    if datatype < 0:
        return OTHER, 0
    if datatype < _N_RANGED:
        return _integer(text, begin, close, _LOW[datatype], _HIGH[datatype])
    if datatype == _DECIMAL:
        return _decimal(text, begin, close)
    if datatype == _DOUBLE:
        return _double(text, begin, close)
    if datatype == _FLOAT:
        return _float(text, begin, close)
    if datatype == _BOOLEAN:
        return _boolean(text, begin, close)
    if datatype == _DATETIME:
        return _datetime(text, begin, close)
    return _duration(text, begin, close)


@inner
def _datatype(text, start, stop):
    """The number of the datatype in `^^<…>`, or -1 for a datatype without values here."""
    name = start + len(_XSD)
    length = stop - 1 - name
    if length <= 0:
        return -1
    for k in range(len(_XSD)):
        if text[start + k] != _XSD[k]:
            return -1
    begin = 0
    for number in range(len(_NAME_ENDS)):
        if _NAME_ENDS[number] - begin == length:
            same = True
            for k in range(length):
                if text[name + k] != _NAME_TEXT[begin + k]:
                    same = False
                    break
            if same:
                return number
        begin = _NAME_ENDS[number]
    return -1


@inner
def _sign(text, i, stop):
    """(whether it is negative, the position of the first digit)."""
    if i < stop and (text[i] == _MINUS or text[i] == _PLUS):
        return text[i] == _MINUS, i + 1
    return False, i


@inner
def _integer(text, i, stop, low, high):
    negative, i = _sign(text, i, stop)
    if i == stop:
        return OTHER, 0
    number = np.int64(0)
    digits = 0
    while i < stop:
        digit = np.int64(text[i]) - 48
        if digit < 0 or digit > 9:
            return OTHER, 0
        if number > 0 or digit > 0:
            digits += 1
        if digits > 18:
            return OTHER, 0
        number = number * 10 + digit
        i += 1
    if negative:
        number = -number
    if number < low or number > high:
        return OTHER, 0
    return INTEGER, number


@inner
def _digits(text, i, stop):
    """Digits with an optional point: (mantissa, digits after the point, end). The mantissa is -1 without a digit, or
    with more than 18 significant ones. Trailing zeros after the point are dropped."""
    number = np.int64(0)
    scale = 0
    seen = False
    point = False
    zeros = 0  # zeros after the point count only if another digit follows
    while i < stop:
        byte = text[i]
        if byte == _DOT and not point:
            point = True
        elif _0 <= byte <= _9:
            seen = True
            if point and byte == _0:
                zeros += 1
            else:
                shift = zeros + 1
                if number > 0 or not point:
                    if shift > 18 or number >= _POWERS[18 - shift]:
                        return np.int64(-1), 0, i
                    number = number * _POWERS[shift] + (np.int64(byte) - 48)
                else:
                    number = np.int64(byte) - 48
                if point:
                    scale += shift
                zeros = 0
                if scale > MAX_SCALE:
                    return np.int64(-1), 0, i
        else:
            break
        i += 1
    if not seen:
        return np.int64(-1), 0, i
    return number, scale, i


@inner
def _decimal(text, i, stop):
    negative, i = _sign(text, i, stop)
    number, scale, i = _digits(text, i, stop)
    if number < 0 or i != stop:
        return OTHER, 0
    return DECIMAL | (scale << SCALE_SHIFT), -number if negative else number


@inner
def _scientific(text, i, stop):
    """mantissa × 10^exponent: (whether it is negative, mantissa or -1, exponent)."""
    negative, i = _sign(text, i, stop)
    number, scale, i = _digits(text, i, stop)
    exponent = np.int64(-scale)
    if number < 0 or i == stop:
        return negative, number, exponent
    if text[i] != _LOWER_E and text[i] != _E:
        return negative, np.int64(-1), exponent
    down, i = _sign(text, i + 1, stop)
    if i == stop or stop - i > 4:
        return negative, np.int64(-1), exponent
    power = np.int64(0)
    while i < stop:
        digit = np.int64(text[i]) - 48
        if digit < 0 or digit > 9:
            return negative, np.int64(-1), exponent
        power = power * 10 + digit
        i += 1
    return negative, number, exponent + (-power if down else power)


@inner
def double_bits(value):
    """The bits of a double. NaN has one pattern here: which of its many patterns an operation returns depends on the
    processor."""
    return np.float64(value if value == value else np.nan).view(np.int64)


@inner
def _special(text, i, stop):
    """INF, +INF, -INF and NaN: (whether it is one of these, its value)."""
    if stop - i == 3 and text[i] == _N and text[i + 1] == _LOWER_A and text[i + 2] == _N:
        return True, np.nan
    negative, i = _sign(text, i, stop)
    if stop - i == 3 and text[i] == _I and text[i + 1] == _N and text[i + 2] == _F:
        return True, -np.inf if negative else np.inf
    return False, 0.0


@inner
def _double(text, i, stop):
    special, value = _special(text, i, stop)
    if special:
        return DOUBLE, double_bits(value)
    negative, mantissa, exponent = _scientific(text, i, stop)
    # both operands and so the one rounding are exact (Clinger's fast path)
    if mantissa < 0 or mantissa > 2**53 or exponent < -22 or exponent > 22:
        return OTHER, 0
    value = np.float64(mantissa)
    value = value / _DOUBLE_POWERS[-exponent] if exponent < 0 else value * _DOUBLE_POWERS[exponent]
    return DOUBLE, double_bits(-value if negative else value)


@inner
def _float(text, i, stop):
    special, value = _special(text, i, stop)
    if special:
        return FLOAT, double_bits(value)
    negative, mantissa, exponent = _scientific(text, i, stop)
    if mantissa < 0 or mantissa > 2**24 or exponent < -10 or exponent > 10:
        return OTHER, 0
    single = np.float32(mantissa)
    single = single / _FLOAT_POWERS[-exponent] if exponent < 0 else single * _FLOAT_POWERS[exponent]
    value = np.float64(single)
    return FLOAT, double_bits(-value if negative else value)


@inner
def _boolean(text, i, stop):
    length = stop - i
    if length == 1 and (text[i] == _0 or text[i] == _1):
        return BOOLEAN, np.int64(text[i]) - 48
    true = length == 4 and text[i] == 116 and text[i + 1] == 114
    if true and text[i + 2] == 117 and text[i + 3] == 101:
        return BOOLEAN, 1
    false = length == 5 and text[i] == 102 and text[i + 1] == 97 and text[i + 2] == 108
    if false and text[i + 3] == 115 and text[i + 4] == 101:
        return BOOLEAN, 0
    return OTHER, 0


@inner
def _number(text, i, length):
    """The number that `length` digits at i make, or -1."""
    number = np.int64(0)
    for k in range(length):
        digit = np.int64(text[i + k]) - 48
        if digit < 0 or digit > 9:
            return np.int64(-1)
        number = number * 10 + digit
    return number


@inner
def _days(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar, or a huge number for a day that does not exist."""
    leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
    length = 31
    if month == 4 or month == 6 or month == 9 or month == 11:
        length = 30
    elif month == 2:
        length = 29 if leap else 28
    if month < 1 or month > 12 or day < 1 or day > length:
        return np.int64(2**62)
    shifted = year - 1 if month <= 2 else year
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@inner
def _datetime(text, i, stop):
    """`YYYY-MM-DDThh:mm:ss[.ffffff][Z|±hh:mm]`; rarer forms (year 10000, 24:00:00, nanoseconds) are OTHER."""
    if stop - i < 19:
        return OTHER, 0
    if text[i + 4] != 45 or text[i + 7] != 45 or text[i + 10] != _T or text[i + 13] != 58 or text[i + 16] != 58:
        return OTHER, 0
    year, month, day = _number(text, i, 4), _number(text, i + 5, 2), _number(text, i + 8, 2)
    hour, minute, second = _number(text, i + 11, 2), _number(text, i + 14, 2), _number(text, i + 17, 2)
    if year < 1 or month < 0 or day < 0 or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        return OTHER, 0
    days = _days(year, month, day)
    if days == 2**62:
        return OTHER, 0
    i += 19
    micros = np.int64(0)
    if i < stop and text[i] == _DOT:
        i += 1
        places = 0
        while i < stop and _0 <= text[i] <= _9:
            if places == 6:
                return OTHER, 0
            micros = micros * 10 + (np.int64(text[i]) - 48)
            places += 1
            i += 1
        if places == 0:
            return OTHER, 0
        micros *= _POWERS[6 - places]
    offset = np.int64(0)
    if i < stop:
        if text[i] == _Z:
            i += 1
        elif stop - i == 6 and (text[i] == 43 or text[i] == 45) and text[i + 3] == 58:
            hours, minutes = _number(text, i + 1, 2), _number(text, i + 4, 2)
            if hours < 0 or minutes < 0 or minutes > 59 or hours * 60 + minutes > 840:
                return OTHER, 0
            offset = hours * 60 + minutes
            if text[i] == 45:
                offset = -offset
            i += 6
        if i != stop:
            return OTHER, 0
    seconds = (days * 24 + hour) * 3600 + (minute - offset) * 60 + second
    return DATETIME, seconds * 1000000 + micros


_SECOND = 1_000_000


@inner
def _duration(text, i, stop):
    """`[-]PnDTnHnMn[.ffffff]S`; seconds finer than a microsecond and more than 292,000 years are OTHER."""
    negative = i < stop and text[i] == _MINUS
    i += negative
    if i == stop or text[i] != _P:
        return OTHER, 0
    i += 1
    total, rank, timed = np.int64(0), 0, False
    while i < stop:
        if text[i] == _T:
            i += 1
            if timed or i == stop:
                return OTHER, 0
            timed, rank = True, 1
            continue
        number, scale, end = _digits(text, i, stop)
        if number < 0 or end == stop or text[end] == _DOT or text[i] == _DOT or text[end - 1] == _DOT:
            return OTHER, 0
        has_point = False
        for k in range(i, end):
            has_point = has_point or text[k] == _DOT
        place, unit = _unit(text[end], timed)
        if place < 0 or place < rank or scale > 6 or (has_point and place < 3):
            return OTHER, 0
        unit //= _POWERS[scale]
        if number > (2**63 - 1 - total) // unit:
            return OTHER, 0
        total += number * unit
        rank, i = place + 1, end + 1
    if rank == 0 or (timed and rank == 1):
        return OTHER, 0
    return DURATION, -total if negative else total


@inner
def _unit(letter, timed):
    """(the place of a unit among those of a duration, or -1; its microseconds)."""
    if not timed:
        return (0 if letter == _D else -1), 86_400 * _SECOND
    if letter == _H:
        return 1, 3600 * _SECOND
    if letter == _M:
        return 2, 60 * _SECOND
    return (3 if letter == _S else -1), _SECOND
