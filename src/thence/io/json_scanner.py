"""A scanner of flat JSON objects, one per line: bytes in, the place and the value of each cell out, compiled.

A line is *flat* if it is an object of names without escapes, each once, and of texts, numbers of at most 18 digits,
booleans and nulls. Any other line is left to the reader of single lines (`jsonl`), and either way gives the same.
"""

from __future__ import annotations

import numpy as np

from thence.jit.compiled import inlined, inner, lazy_entry

# The kinds of cells.
ABSENT, NULL, TEXT, ESCAPED, INTEGER, DECIMAL, DOUBLE, TRUE, FALSE = range(9)
KINDS = 9

BLANK, TYPED, GRAPH, OTHER = range(4)
"""What a line is: nothing, a typed event, a graph with its time, or left to the other reader."""

NEVER, BESIDE_GRAPHS, ALWAYS = range(3)
"""Whether a line without a type is a typed event: no line, one without a graph, or every line."""

_FULL = -2
TYPE, TIME, END, ID, SUBJECT, GRAPH_TEXT, _QUERY = range(7)
SEEDED = ("type", "time", "end", "id", "subject", "graph", "query")
"""Our names for the first columns."""

_QUOTE, _BACKSLASH, _COLON, _COMMA, _OPEN, _CLOSE, _AT, _SLASH = b'"\\:,{}@/'
_MINUS, _PLUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = b"-+.09eE"
_B, _F, _N, _R, _T, _U, _LARGE_A, _LARGE_F, _SMALL_A, _SMALL_F = b"bfnrtuAFaf"
_SPACE, _TAB, _LF, _CR = 32, 9, 10, 13
_MOST_DIGITS = 18
_MOST_POWER_DIGITS = 2  # so that none is out of range

_NULL = np.frombuffer(b"null", np.uint8)
_TRUE = np.frombuffer(b"true", np.uint8)
_FALSE = np.frombuffer(b"false", np.uint8)


@lazy_entry(lambda data, *others: len(data))
def scan_lines(data, longest, untyped, allowed, names, name_ends, count, guess, kinds, cells, lines):
    """Scan whole lines: (number of lines, of rows, of names; 1 if there were more names than room).

    `lines[i]` is where line i starts and stops, what it is, and its row. `kinds[c, r]` is the kind of a cell;
    `cells[c, r]` where it starts and stops, and of a number the digits and how many are behind the point.
    `untyped` says which lines without a type are typed events.
    `allowed[c, k]`: cells of kind k may stand in column c of a typed event. `guess` has the column that the last line
    had in each place. Lines longer than `longest` are left out.
    """
    size = len(data)
    line = 0
    row = 0
    i = 0
    while i < size:
        stop = i
        while stop < size and data[stop] != _LF:
            stop += 1
        status = OTHER
        begin = _skip(data, i, stop)
        if begin == stop:
            status = BLANK
        elif stop - i <= longest and data[begin] == _OPEN:
            found = _scan_object(data, begin + 1, stop, row, names, name_ends, count, guess, kinds, cells)
            if found == _FULL:
                return line, row, count, 1
            if found >= 0:
                count = found
                status = _judged(row, count, untyped, allowed, kinds)
            if status == OTHER:
                for column in range(len(kinds)):
                    kinds[column, row] = ABSENT
        lines[line, 0] = i
        lines[line, 1] = stop
        lines[line, 2] = status
        lines[line, 3] = row
        row += status == TYPED or status == GRAPH
        line += 1
        i = stop + 1
    return line, row, count, 0


@inner
def _judged(row, count, untyped, allowed, kinds):
    """What a flat object is."""
    has_graph = kinds[GRAPH_TEXT, row] != ABSENT
    if kinds[TYPE, row] != ABSENT or untyped == ALWAYS or (untyped == BESIDE_GRAPHS and not has_graph):
        for column in range(SUBJECT + 1):
            if not allowed[column, kinds[column, row]]:
                return OTHER
        return TYPED
    if kinds[GRAPH_TEXT, row] != TEXT and kinds[GRAPH_TEXT, row] != ESCAPED:
        return OTHER
    for column in range(count):
        if column > _QUERY or column == SUBJECT:
            if kinds[column, row] != ABSENT:
                return OTHER
        elif TYPE < column < SUBJECT and not allowed[column, kinds[column, row]]:
            return OTHER
    return GRAPH


@inlined
def _skip(data, i, stop):
    while i < stop and (data[i] == _SPACE or data[i] == _TAB or data[i] == _CR):
        i += 1
    return i


@inlined
def _scan_object(data, i, stop, row, names, name_ends, count, guess, kinds, cells):
    """The cells of the object whose first brace is before i: the number of names, -1 if the object is not flat."""
    place = 0
    while True:
        i = _skip(data, i, stop)
        if i >= stop or data[i] != _QUOTE:
            return -1
        begin = i + 1
        i = begin
        while i < stop and data[i] != _QUOTE:
            if data[i] == _BACKSLASH or data[i] < _SPACE:
                return -1
            i += 1
        if i >= stop or i == begin or data[begin] == _AT:
            return -1
        column = guess[place] if place < len(guess) else 0
        # a name that only a line which is not flat had is behind `count`, and forgotten
        if column >= count or not _is_name(names, name_ends, column, data, begin, i):
            column = 0
            while column < count and not _is_name(names, name_ends, column, data, begin, i):
                column += 1
            if column == count:
                if count == len(name_ends) or count == len(kinds):
                    return _FULL
                at = name_ends[count - 1]
                if at + i - begin > len(names):
                    return _FULL
                for k in range(i - begin):
                    names[at + k] = data[begin + k]
                name_ends[count] = at + i - begin
                count += 1
            if place < len(guess):
                guess[place] = column
        if kinds[column, row] != ABSENT:
            return -1
        i = _skip(data, i + 1, stop)
        if i >= stop or data[i] != _COLON:
            return -1
        i = _skip(data, i + 1, stop)
        if i >= stop:
            return -1
        i = _scan_value(data, i, stop, column, row, kinds, cells)
        if i < 0:
            return -1
        i = _skip(data, i, stop)
        if i >= stop:
            return -1
        if data[i] == _CLOSE:
            break
        if data[i] != _COMMA:
            return -1
        i += 1
        place += 1
    return count if _skip(data, i + 1, stop) == stop else -1


@inlined
def _is_name(names, name_ends, column, data, begin, stop):
    first = name_ends[column - 1] if column > 0 else 0
    if name_ends[column] - first != stop - begin:
        return False
    for k in range(stop - begin):
        if names[first + k] != data[begin + k]:
            return False
    return True


@inlined
def _scan_value(data, i, stop, column, row, kinds, cells):
    """Where a value ends; -1 if it is not a plain one."""
    byte = data[i]
    if byte == _QUOTE:
        return _scan_text(data, i + 1, stop, column, row, kinds, cells)
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return _scan_number(data, i, stop, column, row, kinds, cells)
    if _is_word(data, i, stop, _NULL):
        kinds[column, row] = NULL
        return i + 4
    if _is_word(data, i, stop, _TRUE):
        kinds[column, row] = TRUE
        return i + 4
    if _is_word(data, i, stop, _FALSE):
        kinds[column, row] = FALSE
        return i + 5
    return -1


@inlined
def _is_word(data, i, stop, word):
    if stop - i < len(word):
        return False
    for k in range(len(word)):
        if data[i + k] != word[k]:
            return False
    return True


@inlined
def _scan_text(data, i, stop, column, row, kinds, cells):
    kind = TEXT
    cells[column, row, 0] = i
    while i < stop and data[i] != _QUOTE:
        if data[i] < _SPACE:
            return -1
        if data[i] == _BACKSLASH:
            kind = ESCAPED
            i = _escape_end(data, i, stop)
            if i < 0:
                return -1
        else:
            i += 1
    if i >= stop:
        return -1
    cells[column, row, 1] = i
    kinds[column, row] = kind
    return i + 1


@inner
def _escape_end(data, i, stop):
    """Behind an escape, which may be two surrogates; -1 if it is none, or a lone surrogate."""
    if i + 1 >= stop:
        return -1
    byte = data[i + 1]
    if byte == _U:
        code = _code(data, i, stop)
        if code < 0 or 0xDC00 <= code <= 0xDFFF:
            return -1
        if code < 0xD800 or code > 0xDFFF:
            return i + 6
        low = _code(data, i + 6, stop)
        return i + 12 if 0xDC00 <= low <= 0xDFFF else -1
    if (
        byte == _QUOTE
        or byte == _BACKSLASH
        or byte == _SLASH
        or byte == _B
        or byte == _F
        or byte == _N
        or byte == _R
        or byte == _T
    ):
        return i + 2
    return -1


@inner
def _code(data, i, stop):
    r"""The number of `\\uXXXX`; -1 if it is not that."""
    if i + 6 > stop or data[i] != _BACKSLASH or data[i + 1] != _U:
        return -1
    code = np.int64(0)
    for k in range(i + 2, i + 6):
        byte = np.int64(data[k])
        if _ZERO <= byte <= _NINE:
            digit = byte - _ZERO
        elif _SMALL_A <= byte <= _SMALL_F:
            digit = byte - _SMALL_A + 10
        elif _LARGE_A <= byte <= _LARGE_F:
            digit = byte - _LARGE_A + 10
        else:
            return -1
        code = code * 16 + digit
    return code


@inlined
def _scan_number(data, i, stop, column, row, kinds, cells):
    begin = i
    negative = data[i] == _MINUS
    i += negative
    number = np.int64(0)
    digits = 0
    scale = 0
    first = i
    while i < stop and _ZERO <= data[i] <= _NINE:
        number = number * 10 + (np.int64(data[i]) - _ZERO) if digits < _MOST_DIGITS else number
        digits += 1
        i += 1
    if digits == 0 or (digits > 1 and data[first] == _ZERO):
        return -1
    kind = INTEGER
    if i < stop and data[i] == _POINT:
        kind = DECIMAL
        i += 1
        while i < stop and _ZERO <= data[i] <= _NINE:
            number = number * 10 + (np.int64(data[i]) - _ZERO) if digits < _MOST_DIGITS else number
            digits += 1
            scale += 1
            i += 1
        if scale == 0:
            return -1
    if digits > _MOST_DIGITS:
        return -1
    if i < stop and (data[i] == _SMALL_E or data[i] == _LARGE_E):
        kind = DOUBLE
        i += 1
        if i < stop and (data[i] == _MINUS or data[i] == _PLUS):
            i += 1
        power = i
        while i < stop and _ZERO <= data[i] <= _NINE:
            i += 1
        if i == power or i - power > _MOST_POWER_DIGITS:
            return -1
    kinds[column, row] = kind
    cells[column, row, 0] = begin
    cells[column, row, 1] = i
    cells[column, row, 2] = -number if negative else number
    cells[column, row, 3] = scale
    return i


@lazy_entry(lambda data, rows, *others: 20 * len(rows))
def copy_texts(data, rows, kinds, cells, out, ends):
    """Copy the texts of some rows of a column to `out`, one after the other, without escapes; `ends` has where each
    ends."""
    at = 0
    for number in range(len(rows)):
        row = rows[number]
        i, stop = cells[row, 0], cells[row, 1]
        if kinds[row] != ESCAPED:
            for k in range(i, stop):
                out[at] = data[k]
                at += 1
            i = stop
        while i < stop:
            byte = data[i]
            if byte != _BACKSLASH:
                out[at] = byte
                at += 1
                i += 1
                continue
            byte = data[i + 1]
            if byte == _U:
                code = _code(data, i, stop)
                i += 6
                if 0xD800 <= code <= 0xDBFF:
                    code = 0x10000 + ((code - 0xD800) << 10) + (_code(data, i, stop) - 0xDC00)
                    i += 6
                at = _put(out, at, code)
                continue
            if byte == _B:
                byte = np.uint8(8)
            elif byte == _F:
                byte = np.uint8(12)
            elif byte == _N:
                byte = np.uint8(_LF)
            elif byte == _R:
                byte = np.uint8(_CR)
            elif byte == _T:
                byte = np.uint8(_TAB)
            out[at] = byte
            at += 1
            i += 2
        ends[number] = at
    return at


@inner
def _put(out, at, code):
    """A character in UTF-8: where the next one goes."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | (code >> 6)
        out[at + 1] = 0x80 | (code & 0x3F)
        return at + 2
    if code < 0x10000:
        out[at] = 0xE0 | (code >> 12)
        out[at + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    out[at] = 0xF0 | (code >> 18)
    out[at + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[at + 3] = 0x80 | (code & 0x3F)
    return at + 4
