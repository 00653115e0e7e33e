"""Whether arrays that came from outside are such as compiled code may walk over, which asks no array where it ends: a
state may have been damaged or forged behind its digest. Told by NumPy, all of an array at once.

What is looked at is what could lead astray: sizes, places, links, term ids and tags. Times and numbers may be any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thence.errors import InputError
from thence.kernel import memory as layout
from thence.kernel.memory import Contents
from thence.kernel.summaries import UNKNOWN
from thence.program.sequence import SequenceProgram
from thence.program.values import NON_CANONICAL, Values
from thence.rdf.tagged import SHORTEST
from thence.rdf.tags import DATETIME, DECIMAL, MAX_SCALE, NONE, OTHER, SCALE_SHIFT
from thence.rdf.texts import Texts

if TYPE_CHECKING:
    from thence.kernel.rows import Matched

Ints = NDArray[np.int64]

_LESS, _UNDERSCORE, _QUOTE, _GREATER = b'<_">'


def sure(holds: Any, what: str) -> None:
    """InputError, unless it holds."""
    if not holds:
        raise InputError(f"The saved state is damaged: {what}. Run the query again from the beginning.")


def _tags_by_number() -> NDArray[np.bool_]:
    is_tag = np.zeros(2**16, np.bool_)
    is_tag[[*range(NONE, DATETIME + 1), NON_CANONICAL, SHORTEST, UNKNOWN]] = True
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
    count = len(rows.end) if rows.end.ndim else 0
    check_array(rows.end, np.int64, count)
    check_array(rows.start, np.int64, count)
    check_intervals(rows.start, rows.end)
    check_array(rows.refs, np.int64, count, width)
    check_array(rows.fresh, np.bool_, count)
    check_within(rows.refs, 0, next_ref, "an event")
    for values in rows.columns.values():
        check_column(values, count)
        check_values(values.tags, values.bits, terms)


def check_intervals(start: Ints, end: Ints) -> None:
    sure(start is end or (start <= end).all(), "an event ends before it starts")


def check_column(values: Values, count: int) -> None:
    check_array(values.tags, np.uint16, count)
    check_array(values.bits, np.int64, count)


def check_partitions(keys: NDArray[Any], times: NDArray[Any], by: int, terms: int) -> None:
    """What contiguity remembers, where partitions go by so many variables."""
    check_array(times, np.int64, -1, 2)
    check_array(keys, np.int64, len(times), 2 * by)
    sure(by or len(times) <= 1, "there are several partitions of everything")
    check_values(keys[:, 0::2], keys[:, 1::2], terms)


def check_contents(program: SequenceProgram, found: Contents, terms: int, next_ref: int) -> None:
    """What a memory is to remember."""
    automaton = program.automaton
    _check_nodes(program, found.nodes, terms, next_ref)
    check_array(found.waiting, np.int64, -1, layout.run_width(automaton))
    check_array(found.pending, np.int64, -1, layout.run_width(automaton))
    check_within(found.waiting[:, layout.STATE], 0, len(automaton.selection), "a state")
    ending = np.flatnonzero(np.diff(automaton.end_from) > 0)
    sure(np.isin(found.pending[:, layout.STATE], ending).all(), "a match waits for nothing")
    for runs in (found.waiting, found.pending):
        check_within(runs[:, layout.NODE], 0, len(found.nodes), "a run's last event")
        slots = runs[:, layout.SLOTS : layout.SLOTS + 2 * automaton.slots]
        check_values(slots[:, 0::2], slots[:, 1::2], terms)
        if automaton.merges:
            absorbed = runs[:, -layout.ABSORBED_WORDS :]
            earlier = absorbed[absorbed[:, layout.ABSORBED_TIME] != layout.NEVER, layout.ABSORBED_NODE]
            check_within(earlier, 0, len(found.nodes), "a run's earlier history")


def check_within(numbers: NDArray[Any], low: int, high: int, what: str) -> None:
    """All of some numbers are from `low` to `high`, exclusive."""
    if numbers.size:
        sure(low <= int(numbers.min()) and int(numbers.max()) < high, f"{what} is none that there is")


def _check_nodes(program: SequenceProgram, nodes: Ints, terms: int, next_ref: int) -> None:
    check_array(nodes, np.int64, -1, layout.node_width(program.automaton))
    parents = nodes[:, layout.PARENT]
    sure((parents >= -1).all() and (parents < np.arange(len(nodes))).all(), "an event comes before its own past")
    places, least = program.automaton.place, 0
    if program.automaton.merges:  # where histories meet is no event
        places, least = np.concatenate([places, [layout.EITHER], layout.OPTIONAL - places]), -1
    sure(np.isin(nodes[:, layout.PLACE], places).all(), "an event has no place in the pattern")
    check_within(nodes[:, layout.REF], least, next_ref, "an event")
    check_values(nodes[:, layout.ITERATED :: 2], nodes[:, layout.ITERATED + 1 :: 2], terms)
