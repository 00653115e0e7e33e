"""The events of matches, from their last node back to their first, compiled."""

from __future__ import annotations

from thence.kernel.memory import PARENT
from thence.rdf.compiled import entry
from thence.rdf.interpreted import sparing


@sparing(lambda nodes, last, offsets: len(nodes) * len(last))
def lengths(nodes, last, offsets):
    """Where the events of each match begin and end, into `offsets`; `last` is the last node of each."""
    offsets[0] = 0
    for match in range(len(last)):
        node, count = last[match], 0
        while node >= 0:
            count += 1
            node = nodes[node, PARENT]
        offsets[match + 1] = offsets[match] + count


@sparing(lambda nodes, last, offsets, history: history.size)
def unrolled(nodes, last, offsets, history):
    """The nodes of each match, in the order of its events."""
    for match in range(len(last)):
        node, place = last[match], offsets[match + 1]
        while node >= 0:
            place -= 1
            for k in range(nodes.shape[1]):
                history[place, k] = nodes[node, k]
            node = nodes[node, PARENT]


@entry
def in_order(certain, end, start, order):
    """Put `order`, the numbers of some matches, into the order of certainty, then end, then start. They come nearly so:
    what is certain first comes first, and few are certain at once. False, if they do not."""
    for i in range(1, len(order)):
        row = order[i]
        if certain[row] < certain[i - 1]:
            return False
        place = i
        while place > 0:
            other = order[place - 1]
            if certain[other] < certain[row] or (
                end[other] < end[row] or (end[other] == end[row] and start[other] <= start[row])
            ):
                break
            order[place] = other
            place -= 1
            if i - place > 1000:
                return False
        order[place] = row
    return True
