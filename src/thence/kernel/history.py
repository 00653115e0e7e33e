"""The events of matches, from their last node back to their first, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def lengths(parents, nodes, offsets):
    """How many events each match has, into `offsets[1:]`."""
    for match in range(len(nodes)):
        node = nodes[match]
        while node >= 0:
            offsets[match + 1] += 1
            node = parents[node]


@njit(cache=True)
def chains(parents, nodes, offsets, chain):
    """The nodes of each match, in the order of its events."""
    for match in range(len(nodes)):
        node = nodes[match]
        place = offsets[match + 1]
        while node >= 0:
            place -= 1
            chain[place] = node
            node = parents[node]
