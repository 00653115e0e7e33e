"""A vectorised scanner of plain N-Quads lines: bytes in, columns of term ids out, compiled.

A line is *plain* if its text is canonical N-Triples already: no escapes, no capitals in language tags, no
`^^xsd:string`, IRIs of ordinary characters. Any other line is *odd*: it is left to the RDF library, and either way
gives the same quad. Whether an IRI or a literal is plain is asked once, when its text is first seen; later occurrences
are found by their bytes.
"""

from __future__ import annotations

import numpy as np

from thence.columns.hashing import OFFSET, append, find, hash_step, same_bytes
from thence.jit.compiled import inlined, inner, lazy_entry

PLAIN = 0
EMPTY = 1  # blank, or a comment
ODD = 2

# named, since Numba compiles ord("…") as a call
_DOT, _COLON, _SLASH, _QUESTION, _HASH, _AT, _MINUS, _UNDERSCORE = b".:/?#@-_"
_LESS, _GREATER, _QUOTE, _BACKSLASH, _CARET, _LOWER_A, _LOWER_Z = b'<>"\\^az'
_SPACE, _TAB, _NEWLINE, _RETURN = 32, 9, 10, 13
_STRING_TYPE = np.frombuffer(b"^^<http://www.w3.org/2001/XMLSchema#string>", np.uint8)
_LANG_TYPE = np.frombuffer(b"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#", np.uint8)  # rdf:langString needs a tag


def _byte_set(characters: str) -> np.ndarray:
    allowed = np.zeros(256, np.bool_)
    allowed[[ord(character) for character in characters]] = True
    return allowed


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_SCHEME = _byte_set(_LETTERS + _DIGITS + "+-.")
_HOST = _byte_set(_LETTERS + _DIGITS + ".-")
_PATH = _byte_set(_LETTERS + _DIGITS + "-._~/!$&'()*+,;=:@")
_LABEL = _byte_set(_LETTERS + _DIGITS + "_")


@lazy_entry(lambda source, *others: 4 * len(source))
def scan(source, position, line, text, ends, hashes, slots, count, utf8, lines, status, quads):
    """Scan whole lines from `position` on, until all are read or the dictionary is full: (position, line, terms' new
    count).

    `lines[i]` is where line i starts; `quads[:, i]` its subject, predicate, object and graph (-1: default graph).
    `utf8` says whether the whole of `source` is valid UTF-8; if not, lines with bytes beyond ASCII are odd.
    """
    size = len(source)
    room = min(len(ends), len(slots) // 2) - 4
    while position < size and count <= room:
        lines[line] = position
        count, state, position = _scan_line(source, position, size, text, ends, hashes, slots, count, utf8, quads, line)
        status[line] = state
        if state == ODD:
            while position < size and source[position] != _NEWLINE:
                position += 1
        position += 1
        line += 1
    lines[line] = min(position, size)
    return position, line, count


@inlined
def _scan_line(source, i, size, text, ends, hashes, slots, count, utf8, quads, line):
    """One line from i on: (terms' count, status, where its newline is, or where it turned odd)."""
    quads[:, line] = -1
    i = _skip_blanks(source, i, size)
    if i == size or source[i] == _NEWLINE:
        return count, EMPTY, i
    for place in range(4):
        byte = source[i]
        if place == 3 and byte == _DOT:
            break
        repeated = _repeated(source, i, size, text, ends, quads, place, line)
        if repeated > 0:
            quads[place, line] = quads[place, line - 1]
            i = _skip_blanks(source, repeated, size)
            if i == size:
                return count, ODD, i
            continue
        start = i
        if byte == _LESS:
            code, i = _iri_end(source, i, size)
        elif byte == _UNDERSCORE and place != 1:
            code, i = _label_end(source, i, size)
        elif byte == _QUOTE and place == 2:
            code, i = _literal_end(source, i, size, utf8)
        else:
            return count, ODD, start
        if i < 0:
            return count, ODD, start
        entry = find(text, ends, slots, source, start, i, code)
        if entry < 0:
            if not _is_plain(source, start, i):
                return count, ODD, i
            append(text, ends, hashes, slots, count, source, start, i, code, -1 - entry)
            entry = np.int64(count)
            count += 1
        quads[place, line] = entry
        i = _skip_blanks(source, i, size)
        if i == size:
            return count, ODD, i
    if source[i] != _DOT:
        return count, ODD, i
    i = _skip_blanks(source, i + 1, size)
    if i < size and source[i] == _RETURN:
        i += 1
    if i < size and source[i] != _NEWLINE:
        return count, ODD, i
    return count, PLAIN, i


@inlined
def _skip_blanks(source, i, size):
    while i < size and (source[i] == _SPACE or source[i] == _TAB):
        i += 1
    return i


@inlined
def _repeated(source, i, size, text, ends, quads, place, line):
    """The end of the IRI here if the line before has the same IRI in the same place, else 0. An event's quads are
    adjacent, so its graph, and often its subject, need not be looked up again."""
    if line == 0 or (place != 0 and place != 3) or source[i] != _LESS:
        return 0
    entry = quads[place, line - 1]
    if entry < 0:
        return 0
    begin = ends[entry - 1] if entry > 0 else 0
    length = ends[entry] - begin
    if i + length > size:
        return 0
    # the IRIs of a stream differ at their end, if at all: look there first
    if text[ends[entry] - 2] != source[i + length - 2] or not same_bytes(text, begin, source, i, length):
        return 0
    return i + length


@inlined
def _iri_end(source, i, size):
    """(hash of the IRI, where it ends), or an end of -1."""
    code = OFFSET
    for k in range(np.uint64(i), np.uint64(size)):  # unsigned: see `same_bytes`
        byte = source[k]
        code = hash_step(code, byte)
        if byte == _GREATER:
            return code, np.int64(k) + 1
        if byte == _NEWLINE:
            break
    return code, -1


@inlined
def _label_end(source, i, size):
    if i + 2 >= size or source[i + 1] != _COLON:
        return OFFSET, -1
    code = hash_step(hash_step(OFFSET, source[i]), source[i + 1])
    i += 2
    while i < size and _LABEL[source[i]]:
        code = hash_step(code, source[i])
        i += 1
    # a label may hold more than these (dots, dashes, letters beyond ASCII): then the line is odd
    if i == size or (source[i] != _SPACE and source[i] != _TAB):
        return code, -1
    return code, i


@inlined
def _literal_end(source, i, size, utf8):
    code = hash_step(OFFSET, source[i])
    close = np.int64(-1)
    for k in range(np.uint64(i + 1), np.uint64(size)):
        byte = source[k]
        code = hash_step(code, byte)
        if byte == _QUOTE:
            close = np.int64(k) + 1
            break
        if byte == _BACKSLASH or (byte < _SPACE and byte != _TAB) or (byte > 127 and not utf8):
            break
    if close < 0:
        return code, -1
    i = close
    if i + 2 < size and source[i] == _CARET and source[i + 1] == _CARET and source[i + 2] == _LESS:
        for k in range(np.uint64(i), np.uint64(size)):
            byte = source[k]
            code = hash_step(code, byte)
            if byte == _GREATER:
                return code, np.int64(k) + 1
            if byte == _NEWLINE:
                break
        return code, -1
    if i < size and source[i] == _AT:
        while i < size and (source[i] == _AT or source[i] == _MINUS or _LABEL[source[i]]):
            code = hash_step(code, source[i])
            i += 1
    return code, i


@inner
def _is_plain(source, start, stop):
    """Is this new term's text canonical, and beyond doubt?"""
    if source[start] == _LESS:
        return _is_plain_iri(source, start + 1, stop - 1)
    if source[start] == _UNDERSCORE:
        return stop - start > 2
    last = source[stop - 1]
    if last == _QUOTE:
        return True
    if last == _GREATER:
        i = stop - 1
        while source[i] != _LESS:
            i -= 1
        return (
            not _continues(source, i - 2, stop, _STRING_TYPE)
            and not _continues(source, i - 2, stop, _LANG_TYPE)
            and _is_plain_iri(source, i + 1, stop - 1)
        )
    return _is_plain_tag(source, start, stop)


@inner
def _continues(source, i, stop, expected):
    if stop - i < len(expected):
        return False
    for k in range(len(expected)):
        if source[i + k] != expected[k]:
            return False
    return True


@inner
def _is_plain_tag(source, start, stop):
    """`@xx`, `@xxx`, `@xx-yy`, in lower case: the tags whose well-formedness needs no thought."""
    i = stop - 1
    while source[i] != _AT:
        if not (_LOWER_A <= source[i] <= _LOWER_Z or source[i] == _MINUS):
            return False
        i -= 1
    length = stop - i - 1
    for k in range(i + 1, stop):
        if source[k] == _MINUS and not (length == 5 and k == i + 3):
            return False
    return length == 2 or length == 3 or (length == 5 and source[i + 3] == _MINUS)


@inner
def _is_plain_iri(source, i, stop):
    """An absolute IRI of ordinary ASCII characters: scheme, host with an optional port, path, query, fragment."""
    if i == stop or not (65 <= source[i] <= 90 or 97 <= source[i] <= 122):
        return False
    while i < stop and _SCHEME[source[i]]:
        i += 1
    if i == stop or source[i] != _COLON:
        return False
    i += 1
    if i + 1 < stop and source[i] == _SLASH and source[i + 1] == _SLASH:
        i += 2
        while i < stop and _HOST[source[i]]:
            i += 1
        if i < stop and source[i] == _COLON:
            i += 1
            while i < stop and 48 <= source[i] <= 57:
                i += 1
        if i < stop and source[i] != _SLASH and source[i] != _QUESTION and source[i] != _HASH:
            return False
    fragment = False
    while i < stop:
        byte = source[i]
        if byte == _HASH:
            if fragment:
                return False
            fragment = True
        elif byte != _QUESTION and not _PATH[byte]:
            return False
        i += 1
    return True
