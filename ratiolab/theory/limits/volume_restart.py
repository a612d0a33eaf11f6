"""Caps geometric in volume: the fluid cost of kill-and-restart against the staggered optimum.

Volume v(a) = s a + a (a + 1)/2 is what a run to age a takes of memory and time. With all requests
at round 0 and many of them, time is measured in memory-rounds per request, tau = M t / n, and costs
in n**2 / (2 M). With Y(v) the share of requests whose volume exceeds v the optimum is the integral
of Y(v)**2: shorter volumes first, with starts staggered so that memory stays full.

A run to the cap c of a request known to exceed a takes T(a, c) = a Y(a) + int_a^c Y on average.
Caps are v_min b**(k + U), k = 0, 1, ..., served in ascending order, with U uniform on [0, 1):

- ``request``: an independent U for each request. When caps around c are served, the share
  N(c) = int_{c/b}^c Y(a) da / (a ln b) is unfinished: the cost is
  (2 / ln b) int N(c) T(c/b, c) dc / c.
- ``run``: one U for all: (1 / ln b) int T(c/b, c) [Y(c/b) + Y(c)] dc / c.
- ``none``: U = 0, requests in random order: the sum of T(c/b, c) [Y(c/b) + Y(c)] over the caps.

With Y(v) = f(ln v) / sqrt(v) the first two are translation-invariant quadratic forms in f with a
nonnegative kernel, and the optimum is int f**2. Hence their suprema over all distributions are the
masses of the kernels, with r = sqrt(b): (r-1)(2-1/r)/ln(r)**2 and (2 r + 1 - 1/r)/(2 ln r). The
first has the minimum V = 2.72837... at b = 13.807, and no policy that does not know the lengths has
a smaller constant. The two directions are proved in ratiolab/papers/ours/proofs/volume_restart.md.

Source: own derivation. Jaeger, Sagnol, Schmidt genannt Waldschmidt, Warode, arXiv 2211.02044, have
the constant of one offset, for one machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import expm1, log
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from sympy import Expr


Offset: TypeAlias = Literal["request", "run", "none"]
Atoms: TypeAlias = Sequence[tuple[float, float]]
"""Volumes, ascending, and their probabilities."""

BEST_BASE = 13.80731
"""The base of V, to six digits."""


class Shares:
    """The function Y of a distribution of volumes with finitely many atoms, and its integral."""

    def __init__(self, law: Atoms) -> None:
        self.volume = np.array([v for v, _ in law])
        weight = np.array([p for _, p in law])
        if not (np.diff(self.volume) > 0).all() or self.volume[0] <= 0 or (weight <= 0).any():
            raise ValueError("volumes must be positive and ascend, with positive probabilities")
        self._above = np.append(weight[::-1].cumsum()[::-1] / weight.sum(), 0.0)
        self._edges = np.append(0.0, self.volume)
        pieces = np.diff(self._edges) * self._above[:-1]
        self._filled = np.append(0.0, pieces.cumsum())
        spans = np.diff(np.log(self.volume)) * self._above[1:-1]
        self._to_come = np.append(spans[::-1].cumsum()[::-1], 0.0)
        self.optimum = float((np.diff(self._edges) * self._above[:-1] ** 2).sum())

    def above(self, volume: float) -> float:
        """Return Y: the share of requests whose volume exceeds this one."""
        return float(self._above[np.searchsorted(self.volume, volume, side="right")])

    def integral(self, volume: float) -> float:
        """Return the integral of Y from 0: the mean work of runs to this volume."""
        k = int(np.searchsorted(self.volume, volume, side="right"))
        if k == len(self.volume):
            return float(self._filled[-1])
        return float(self._filled[k] + (volume - self._edges[k]) * self._above[k])

    def logarithmic(self, volume: float) -> float:
        """Return the integral of Y(a) da / a from this volume to infinity."""
        k = int(np.searchsorted(self.volume, volume, side="right"))
        if k == len(self.volume):
            return 0.0
        return float(self._to_come[k] + self._above[k] * log(self.volume[k] / volume))

    def work(self, bound: float, cap: float) -> float:
        """Return T(bound, cap)."""
        return bound * self.above(bound) + self.integral(cap) - self.integral(bound)


def ratio(law: Atoms, base: float = BEST_BASE, offset: Offset = "request") -> float:
    """Return the fluid latency of these caps over the optimum, for a distribution of volumes.

    Exact but for rounding: between the volumes and their multiples by the base, T is linear in the
    cap and N in its logarithm, so each piece has a closed form. O(atoms log(largest/least volume)).

    >>> ratio([(1.0, 1.0)])  # equal volumes: one run each, no request before half of the time
    1.0
    """
    shares = Shares(law)
    if not base > 1:
        raise ValueError(f"base {base} is not above 1")
    least, most = float(shares.volume[0]), float(shares.volume[-1])
    if offset == "none":
        caps = [least]
        while caps[-1] < most:
            caps.append(caps[-1] * base)
        cost = sum(
            shares.work(a, c) * (shares.above(a) + shares.above(c))
            for a, c in pairwise([0.0, *caps])
        )
        return cost / shares.optimum
    beta = log(base)
    breaks = {least, most * base}
    breaks |= {float(v) for v in shares.volume} | {float(v) * base for v in shares.volume}
    cost = 0.0
    for c, d in pairwise(sorted(breaks)):
        middle = c * (d / c) ** 0.5  # inside the piece: no end decides which side is meant
        before, after = shares.above(middle / base), shares.above(middle)
        if offset == "run":
            unfinished, slope = (before + after) / 2, 0.0
        else:
            unfinished = (shares.logarithmic(c / base) - shares.logarithmic(c)) / beta
            slope = (after - before) / beta
        # T is linear in c with the slope Y(c): what reruns add cancels
        work = before * c / base + shares.integral(c) - shares.integral(c / base)
        cost += _piece(unfinished, slope, work, after, c, log(d / c))
    return 2 * cost / beta / shares.optimum


def _piece(n: float, g: float, work: float, slope: float, c: float, x: float) -> float:
    """Return the integral over [0, x] of (n + g y)(work - slope c + slope c e**y) dy."""
    constant = work - slope * c
    exponential = n * expm1(x) + g * ((x - 1) * expm1(x) + x)
    return constant * (n * x + g * x * x / 2) + slope * c * exponential


def constant(base: Any, offset: Offset = "request") -> Expr:
    """Return the supremum of `ratio` over all distributions, for a number or a sympy expression b >
    1.

    For ``none`` and requests in random order: with Y at its means over the cells between caps, the
    cost is a Toeplitz form of the cells with nonnegative entries, whose mass is
    (r**2 + r - 1)/(r - 1); reached by atoms just above the caps. An adversary that also decides the
    order reaches 1 + 2 b**(3/2)/(b - 1) (`adversarial_order`).

    >>> constant(4, "none")
    5
    """
    import sympy as sp

    r = sp.sqrt(sp.sympify(base))
    if offset == "request":
        return (r - 1) * (2 - 1 / r) / sp.log(r) ** 2
    if offset == "run":
        return (2 * r + 1 - 1 / r) / (2 * sp.log(r))
    return (r**2 + r - 1) / (r - 1)


def adversarial_order(base: Any) -> Expr:
    """Return the supremum without offsets when an adversary orders the requests.

    >>> adversarial_order(3)
    1 + 3*sqrt(3)
    """
    import sympy as sp

    b = sp.sympify(base)
    return 1 + 2 * b ** sp.Rational(3, 2) / (b - 1)


def best(offset: Offset = "request") -> tuple[Expr, Expr]:
    """Return the base with the least `constant`, and that constant; to 30 digits with an offset.

    >>> best("none")
    (4, 5)
    """
    import sympy as sp

    if offset == "none":
        return sp.Integer(4), sp.Integer(5)
    r = sp.Symbol("r", positive=True)
    value = constant(r**2, offset)
    start = 3.7 if offset == "request" else 2.8
    root = sp.nsolve(sp.diff(value, r), r, start, prec=30)
    return root**2, value.subs(r, root)


def finite_range(lower: int, upper: int, prompt: int = 0) -> Expr:
    """Return a constant that caps in volume attain when lengths lie in [lower, upper].

    min(V, (1 + sqrt(R))/2) with R the ratio of the volumes of `upper` and `lower`: the second is
    that of never killing, in random order, which is optimal for R <= ((1 + sqrt(5))/2)**2.
    """
    import sympy as sp

    volumes = [prompt * a + a * (a + 1) // 2 for a in (lower, upper)]
    never = (1 + sp.sqrt(sp.Rational(volumes[1], volumes[0]))) / 2
    least = best()[1]
    return never if float(never) <= float(least) else least
