"""Policies of the fluid limit as lists of moves, and the worst distribution for a mixture of them.

Units of `ratiolab.game.ranges.finite_range`. A policy that knows no distribution is a list of
moves: a share of the requests that may have outlived one volume, drawn at random, runs to another.
Its cost is a quadratic form of the distribution with nonnegative entries, so that a mixture of
policies has the mean of their forms. Such a form is concave in the squares of the distribution, and
for every guess of the distribution there is a bound for all distributions that is exact when the
guess is right (`most`).

Proofs: ratiolab/papers/ours/proofs/volume_restart.md, section 5.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Move(NamedTuple):
    """A share of all requests that runs from nothing to a cap.

    Parameters
    ----------
    bound, cap : numbers of nodes, which are volumes in ascending order from 0; the requests are
        known to exceed the bound.
    share : share of all requests, including requests that have completed.
    """

    bound: int
    cap: int
    share: float


def complete(moves: Iterable[Move], last: int) -> list[Move]:
    """Return the moves, and then moves that bring all requests to the last node."""
    done = list(moves)
    at = np.zeros(last + 1)
    at[0] = 1
    for move in done:
        at[move.bound] -= move.share
        at[move.cap] += move.share
        if not move.bound < move.cap <= last or at[move.bound] < -1e-9 or move.share < 0:
            raise ValueError(f"{move}: not a move from a bound with that share of requests")
    return done + [Move(k, last, float(at[k])) for k in range(last) if at[k] > 1e-12]


def spread(moves: Iterable[Move], parts: int, shift: int, last: int) -> list[Move]:
    """Return the moves on nodes that lie `parts` times as close, with caps higher by ``shift`` of
    these nodes.

    Nodes 0, the least volume (1) and the last one are nodes of both; the last is not moved.
    """

    def node(k: int) -> int:
        inside = 1 + (k - 1) * parts
        return 0 if k == 0 else inside if k == last else inside + shift

    return [Move(node(bound), node(cap), share) for bound, cap, share in moves]


def form(moves: Sequence[Move], nodes: Sequence[float], *, at_nodes: bool = False) -> FloatArray:
    """Return the cost as a symmetric form of the means of Y between nodes, shape (cells, cells).

    A move from a to c of a share x works x (a Y(a) + int_a^c Y), and what waits falls from before
    to after it: it costs the work times the sum of both. Y at a node is at most the mean of the
    cell before it, and is put in its place. With `at_nodes` the distribution has volumes at nodes
    alone, so that Y at a node is its value in the cell after it, and the form is exact. `moves` end
    with all requests at the last node; `nodes` are volumes, ascending from 0.
    """
    edges = np.asarray(nodes, np.float64)
    widths, last = np.diff(edges), len(edges) - 1
    cell = np.arange(last + 1) if at_nodes else np.maximum(np.arange(last + 1) - 1, 0)
    at = np.zeros(last + 1)
    at[0] = 1
    works, waits = np.zeros((len(moves), last)), np.zeros((len(moves), last + 1))
    for k, (bound, cap, share) in enumerate(moves):
        works[k, bound:cap] = share * widths[bound:cap]
        works[k, cell[bound]] += share * edges[bound]
        np.add.at(waits[k], cell, at)
        before = at[last]
        at[bound] -= share
        at[cap] += share
        np.add.at(waits[k], cell, at)
        waits[k, cell[last]] -= before + at[last]  # beyond the last node nobody waits
    product = works.T @ waits[:, :last]
    # rounding may leave less than nothing somewhere
    symmetric: FloatArray = np.maximum((product + product.T) / 2, 0)
    return symmetric


def most(cost: FloatArray, widths: FloatArray, guess: FloatArray) -> float:
    """Return a bound on a form over the integral of Y**2, for all distributions.

    Let m be the means of the distribution, and y the guess; then m_i m_j is at most
    (m_i**2 y_j/y_i + m_j**2 y_i/y_j)/2. The form is therefore at most the sum of g_i m_i**2,
    g = (cost y)/y. As m does not increase, that is at most the largest mean of g over the first
    cells, weighted by widths, times the sum of widths_i m_i**2, and this is at most the integral.
    `cost` is symmetric with entries at least 0; the `guess` is positive and may be any.
    """
    if (cost < 0).any() or (guess <= 0).any():
        raise ValueError("entries of the form must be at least 0, and the guess positive")
    slopes: Any = np.cumsum((cost @ guess) / guess) / np.cumsum(widths)
    return float(slopes.max())
