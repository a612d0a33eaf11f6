"""The best caps for a known distribution of lengths, and a lower bound on every policy.

Fluid limit and units of `ratiolab.theory.limits.volume_restart`: all requests at round 0, volumes,
the optimum is the integral of Y**2. For a distribution with finitely many volumes only these matter
as caps: between two of them no request of a run completes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ratiolab.model.caps import cap_costs
from ratiolab.theory.limits.volume_restart import BEST_BASE, Atoms, Shares, ratio

MOST_ATOMS = 40
"""More volumes than this are too many for the linear program."""


@dataclass(frozen=True)
class CapDesign:
    """The best caps for a distribution of volumes; all costs are divided by the optimum.

    Parameters
    ----------
    caps : volumes of the best list of caps for all requests, served in random order.
    cost : cost of that list.
    bound : lower bound on the cost of every policy that knows the distribution, by a linear program
        in floats.
    never_kill : cost of one run for each request, in random order.
    universal : cost of caps in volume with base 13.807 and an offset for each request, which do not
        depend on the distribution.
    """

    caps: tuple[float, ...]
    cost: float
    bound: float
    never_kill: float
    universal: float


def design(law: Atoms, steps: int = 160) -> CapDesign:
    """Return the best caps for a distribution of volumes, and the bound on all policies.

    More `steps` of the linear program make the bound larger.

    >>> found = design([(1.0, 0.9), (100.0, 0.1)], steps=20)
    >>> found.caps, round(found.cost, 3), round(found.never_kill, 3)
    ((1.0, 100.0), 1.055, 5.477)
    """
    if len(law) > MOST_ATOMS:
        raise ValueError(f"{len(law)} volumes: at most {MOST_ATOMS}; see `coarsened`")
    shares = Shares(law)
    caps, cost = best_caps(law)
    bound = least_cost(law, steps) / shares.optimum
    never = shares.integral(float(shares.volume[-1])) / shares.optimum
    return CapDesign(caps, cost, bound, never, ratio(law, BEST_BASE))


def best_caps(law: Atoms) -> tuple[tuple[float, ...], float]:
    """Return the list of caps of least cost, and the cost over the optimum.

    All requests get the same caps and are served in random order; a phase from a to c costs
    T(a, c) [Y(a) + Y(c)]. A shortest path over the volumes, exact but for rounding; O(atoms**2).
    """
    shares = Shares(law)
    nodes = [0.0, *shares.volume.tolist()]
    above, filled = ([part(v) for v in nodes] for part in (shares.above, shares.integral))
    again = [v * share for v, share in zip(nodes, above, strict=True)]
    costs = cap_costs(above, filled, again)
    path: list[float] = []
    k = 0
    while k < len(law):
        k = int(costs[k].argmin())
        path.append(nodes[k])
    return tuple(path), float(costs[0].min()) / shares.optimum


def least_cost(law: Atoms, steps: int = 160) -> float:
    """Return a lower bound on the fluid cost of all policies that know a distribution of volumes.

    Every policy, adaptive or random, gives each request a random path of bounds whose expected work
    by tau is at most tau, and costs twice the integral of the share that is unfinished (see
    ratiolab/papers/ours/proofs/volume_restart.md, section 3). Time is cut into steps; jumps are
    made at the start of a step and their work need only be done by its end, which can only lower
    the cost. Unfinished work after the last step costs nothing.

    A linear program in floats, with tolerances of the solver of 1e-7.
    """
    shares = Shares(law)
    nodes = [0.0, *shares.volume.tolist()]
    above = np.array([shares.above(v) for v in nodes])
    jumps = [(a, c) for a in range(len(nodes)) for c in range(a + 1, len(nodes))]
    work = np.array([shares.work(nodes[a], nodes[c]) for a, c in jumps])
    # any horizon is valid; beyond it work is free, so it is twice that of the best list
    caps = [0.0, *best_caps(law)[0]]
    horizon = 2 * sum(shares.work(a, c) for a, c in pairwise(caps))
    ends = horizon * (np.arange(1, steps + 1) / steps) ** 1.5
    widths = np.diff(np.append(0.0, ends))
    states, each = len(nodes), len(jumps)
    block = each + states  # variables of a step: jumps, and the shares at each bound
    entries: list[tuple[int, int, float]] = []
    for k in range(steps):
        row, jump, share = k * (states + 1), k * block, k * block + each
        for j, (a, c) in enumerate(jumps):
            entries += [(row + a, jump + j, 1.0), (row + c, jump + j, -1.0)]
            entries.append((row + states, jump + j, -float(work[j])))
        entries += [(row + a, share + a, 1.0) for a in range(states)]
        entries.append((row + states, steps * block + k, 1.0))  # work done by the end of the step
        if k:
            entries += [(row + a, share - block + a, -1.0) for a in range(states)]
            entries.append((row + states, steps * block + k - 1, -1.0))
    started = np.zeros(steps * (states + 1))
    started[0] = 1.0
    cost = np.zeros(steps * (block + 1))
    for k in range(steps):
        cost[k * block + each : (k + 1) * block] = 2 * widths[k] * above
    most = [None] * (steps * block) + ends.tolist()
    return _minimum(cost, entries, started, [(0, limit) for limit in most])


def _minimum(cost: Any, entries: list[tuple[int, int, float]], right: Any, limits: Any) -> float:
    """Return the least cost of a linear program in equations, whose matrix has these entries."""
    from scipy import optimize
    from scipy.sparse import coo_matrix

    i, j, x = (np.array(column) for column in zip(*entries, strict=True))
    matrix = coo_matrix((x, (i, j)), shape=(len(right), len(cost))).tocsr()
    solve: Any = optimize.linprog
    found = solve(cost, A_eq=matrix, b_eq=right, bounds=limits, method="highs")
    if found.status != 0:
        raise ArithmeticError(f"the linear program ends with status {found.status}")
    return float(found.fun)


def coarsened(law: Atoms, most: int = 24) -> list[tuple[float, float]]:
    """Return a distribution of at most ``most`` volumes, the means of geometric bins.

    The answer is about the coarser distribution; its optimum and costs differ a little from those
    of the distribution itself.
    """
    if len(law) <= most:
        return list(law)
    volumes, weights = np.array([v for v, _ in law]), np.array([p for _, p in law])
    edges = np.geomspace(volumes[0], volumes[-1] * (1 + 1e-12), most + 1)[1:]
    bins = np.searchsorted(edges, volumes)
    found = []
    for k in range(most):
        inside = bins == k
        if inside.any():
            weight = float(weights[inside].sum())
            found.append((float(volumes[inside] @ weights[inside]) / weight, weight))
    return found
