"""Whether arrays that came from outside are such as compiled code may walk over, which asks no array where it ends: a
state may have been damaged or forged behind its digest. Told by NumPy, all of an array at once.

What is looked at is what could lead astray: sizes, places, links, term ids and tags. Times and numbers may be any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.errors import InputError
from thence.kernel import memory as layout
from thence.kernel.memory import Memory, region
from thence.program.sequence import SequenceProgram
from thence.program.values import NON_CANONICAL, Values
from thence.rdf.tagged import SHORTEST
from thence.rdf.tags import BOOLEAN, DECIMAL, MAX_SCALE, NONE, OTHER, SCALE_SHIFT
from thence.rdf.texts import Texts

if TYPE_CHECKING:
    from thence.kernel.rows import Matched

Ints = NDArray[np.int64]

_ALIKE = (layout.RUN_WIDTH, layout.NODE_WIDTH, layout.MATCH_WIDTH, layout.FRAMES, layout.FRAME_WIDTH, layout.STACK)
"""Of a memory's head: what the program alone decides."""

_GROWING = (
    layout.RUN_CAPACITY,
    layout.NODE_CAPACITY,
    layout.MATCH_CAPACITY,
    layout.ANSWER_CAPACITY,
    layout.BUCKETS,
)
"""And what only ever grows."""

_LESS, _UNDERSCORE, _QUOTE, _GREATER = b'<_">'


def sure(holds: Any, what: str) -> None:
    """InputError, unless it holds."""
    if not holds:
        raise InputError(f"The saved state is damaged: {what}. Run the query again from the beginning.")


def _tags_by_number() -> NDArray[np.bool_]:
    is_tag = np.zeros(2**16, np.bool_)
    is_tag[[*range(NONE, BOOLEAN + 1), NON_CANONICAL, SHORTEST]] = True  # a date is a term of the dictionary
    is_tag[[DECIMAL | scale << SCALE_SHIFT for scale in range(MAX_SCALE + 1)]] = True
    return is_tag


_IS_TAG = _tags_by_number()


def check_array(array: NDArray[Any], kind: type[np.generic], *shape: int) -> None:
    """Of that type, and of so many items each way; -1: of any number."""
    fits = array.dtype == kind and array.ndim == len(shape)
    sure(fits and all(b in (-1, a) for a, b in zip(array.shape, shape, strict=True)), "an array has another shape")


def check_texts(texts: Texts) -> None:
    check_array(texts.text, np.uint8, -1)
    check_array(texts.ends, np.int64, -1)
    ends = texts.ends
    whole = int(ends[-1]) if len(ends) else 0
    sure(whole == len(texts.text), "texts do not end where their bytes do")
    sure((ends[:1] >= 0).all() and (ends[1:] >= ends[:-1]).all(), "texts end before they begin")


def check_terms(texts: Texts) -> None:
    """Texts that are terms, as far as compiled code looks: `<…>`, `_:…`, or quoted with something behind."""
    check_texts(texts)
    if not len(texts):
        return
    starts, ends, text = texts.starts, texts.ends, texts.text
    sure((ends - starts >= 2).all(), "a term is too short")
    first, last = text[starts], text[ends - 1]
    sure(np.isin(first, (_LESS, _UNDERSCORE, _QUOTE)).all(), "a term does not begin as terms do")
    sure((last[first == _LESS] == _GREATER).all(), "an IRI does not end")
    tagged = np.flatnonzero((first == _QUOTE) & (last != _QUOTE))
    if len(tagged):
        quotes = np.flatnonzero(text == _QUOTE)
        closing = quotes[np.searchsorted(quotes, ends[tagged]) - 1]
        sure((closing > starts[tagged]).all(), "a literal is not closed")


def check_values(tags: NDArray[Any], bits: NDArray[Any], terms: int) -> None:
    """Tags that there are, and beside those of terms the numbers of some of so many."""
    tags, bits = tags.ravel(), bits.ravel()
    if not len(tags):
        return
    sure(tags.dtype == np.uint16 or (int(tags.min()) >= 0 and int(tags.max()) < 2**16), "a value is of no kind")
    sure(_IS_TAG[tags].all(), "a value is of no kind")
    named = bits[((tags > NONE) & (tags <= OTHER)) | (tags == NON_CANONICAL)]
    sure(not len(named) or (int(named.min()) >= 0 and int(named.max()) < terms), "there is no such term")


def check_matched(rows: Matched, width: int, terms: int, next_ref: int) -> None:
    count = len(rows.time) if rows.time.ndim else 0
    check_array(rows.time, np.int64, count)
    check_array(rows.refs, np.int64, count, width)
    check_array(rows.fresh, np.bool_, count)
    check_within(rows.refs, 0, next_ref, "an event")
    for values in rows.columns.values():
        check_column(values, count)
        check_values(values.tags, values.bits, terms)


def check_column(values: Values, count: int) -> None:
    check_array(values.tags, np.uint16, count)
    check_array(values.bits, np.int64, count)


def check_partitions(keys: NDArray[Any], times: NDArray[Any], by: int, terms: int) -> None:
    """What contiguity remembers, where partitions go by so many variables."""
    check_array(times, np.int64, -1, 2)
    check_array(keys, np.int64, len(times), 2 * by)
    sure(by or len(times) <= 1, "there are several partitions of everything")
    check_values(keys[:, 0::2], keys[:, 1::2], terms)


def check_memory(program: SequenceProgram, memory: NDArray[Any], terms: int, next_ref: int) -> None:
    """A memory between two steps."""
    check_array(memory, np.int64, -1)
    _check_sizes(program, memory)
    free, pending = _listed(memory, layout.AT_FREE, layout.FREE), _listed(memory, layout.AT_PENDING, layout.PENDING)
    runs = region(memory, layout.AT_RUNS)
    is_linked = np.ones(len(runs), np.bool_)
    is_linked[free] = is_linked[pending] = False
    sure(len(free) + len(pending) + is_linked.sum() == len(runs), "a run is in two places")
    sure((runs[free, layout.STATE] == -1).all(), "a run that is free goes on")
    _check_links(memory, runs, is_linked)
    automaton = program.automaton
    check_within(runs[is_linked, layout.STATE], 0, len(automaton.selection), "a state")
    ending = np.flatnonzero(np.diff(automaton.end_from) > 0)
    sure(np.isin(runs[pending, layout.STATE], ending).all(), "a match waits for nothing")
    is_linked[pending] = True
    used = runs[is_linked]
    check_within(used[:, layout.NODE], 0, int(memory[layout.NODES]), "a run's last event")
    check_values(used[:, layout.SLOTS :: 2], used[:, layout.SLOTS + 1 :: 2], terms)
    _check_nodes(program, memory, terms, next_ref)


def _check_sizes(program: SequenceProgram, memory: Memory) -> None:
    """That everything has room where the head says, and the head is that of a machine that has stopped."""
    sure(len(memory) >= layout.HEAD, "it has no head")
    fresh = layout.empty_memory(program.automaton)
    sure((memory[list(_ALIKE)] == fresh[list(_ALIKE)]).all(), "it is of another width")
    sure((memory[list(_GROWING)] >= fresh[list(_GROWING)]).all(), "it has less room than in the beginning")
    sure(all(at == expected for at, expected in _places(memory)), "it is not as long as it says")
    buckets = int(memory[layout.BUCKETS])
    sure(buckets & (buckets - 1) == 0, "its buckets are no power of two")
    for count, most in (
        (layout.FREE, memory[layout.RUN_CAPACITY]),
        (layout.PENDING, memory[layout.RUN_CAPACITY]),
        (layout.NODES, memory[layout.NODE_CAPACITY]),
        (layout.KEEP_EXPIRED, 1),
        (layout.MATCHES, 0),
        (layout.ANSWERS, 0),
    ):
        sure(0 <= memory[count] <= most, "it has more of something than it has room for")
    sure(memory[layout.EDGE] == -1 and memory[layout.RUN] == layout.BEGIN, "it has stopped in the middle of a row")
    sure(not region(memory, layout.AT_FRAMES)[2].any(), "what has begun nowhere has bound something")


def _places(memory: Memory) -> Iterator[tuple[int, int]]:
    """Where each region begins and all end, as the head has it and as it must be. Numbers of Python, which do not wrap
    around."""
    end = layout.HEAD
    for at, shape in layout.REGIONS:
        yield int(memory[at]), end
        size = 1
        for length in shape:
            size *= int(memory[length])
        end += size
    yield len(memory), end


def _listed(memory: Memory, at: int, count: int) -> Ints:
    """Runs of a list, each of them one that there is."""
    found = region(memory, at)[: memory[count]]
    check_within(found, 0, int(memory[layout.RUN_CAPACITY]), "a run")
    return found


def check_within(numbers: NDArray[Any], low: int, high: int, what: str) -> None:
    """All of some numbers are from `low` to `high`, exclusive."""
    if numbers.size:
        sure(low <= int(numbers.min()) and int(numbers.max()) < high, f"{what} is none that there is")


def _check_links(memory: Memory, runs: Memory, is_linked: NDArray[np.bool_]) -> None:
    """From the buckets' heads on, every run that waits is met once. Were it met twice, or were it free, two links would
    lead there; so no walk along the links goes in a circle."""
    links = np.concatenate([region(memory, layout.AT_HEADS), runs[is_linked, layout.NEXT_RUN]])
    check_within(links, -1, len(runs), "a run")
    met = np.bincount(links[links >= 0], minlength=len(runs))
    sure((met == is_linked).all(), "a run is in two buckets, or in none")


def _check_nodes(program: SequenceProgram, memory: Memory, terms: int, next_ref: int) -> None:
    nodes = region(memory, layout.AT_NODES)[: memory[layout.NODES]]
    parents = nodes[:, layout.PARENT]
    sure((parents >= -1).all() and (parents < np.arange(len(nodes))).all(), "an event comes before its own past")
    sure(np.isin(nodes[:, layout.PLACE], program.automaton.place).all(), "an event has no place in the pattern")
    check_within(nodes[:, layout.REF], 0, next_ref, "an event")
    check_values(nodes[:, layout.ITERATED :: 2], nodes[:, layout.ITERATED + 1 :: 2], terms)
