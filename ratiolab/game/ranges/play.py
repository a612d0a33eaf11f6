"""Bounds on the best constant V(R) for volumes within a factor R, by playing the game.

The policies are mixtures of lists of moves, the adversary plays distributions. For each
distribution the best response joins the mixture; the next distribution lies between the best
distribution so far and the worst one for the mixture, whose weights are the best. Distributions and
responses live on a grid of volumes. The proved bounds hold for all distributions: below for the
best distribution on a finer grid with its price, above for the mixture with all its caps shifted by
equally likely parts of a cell.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil, log
from typing import Any

import numpy as np

from ratiolab.game.ranges.finite_range import NEVER_KILL, Enclosure, closed_form, dual_value
from ratiolab.game.ranges.kernels import climb
from ratiolab.game.ranges.orders import FloatArray, Move, complete, form, most, spread
from ratiolab.game.ranges.response import Grid, Path, respond
from ratiolab.model.interrupts import heard

LARGEST = 10**8
"""Largest R for which the game is played; beyond it only formulas bound V(R)."""

GRIDS = (0.16, 0.08, 0.04)
"""Steps of the logarithm of volume, from the first try to the last."""

PARTS = 8
"""Finer cells for each cell of the grid, where bounds for all distributions are computed."""

ROUNDS = 120
"""Responses on each grid, at most."""

CLOSE = 3e-3
"""Gap of the game on a grid at which it ends: finer grids then gain more."""


@dataclass(frozen=True)
class Found:
    """An interval of V(R), and its proof.

    Parameters
    ----------
    volumes, shares, ends, prices : the distribution and the price, as `dual_value` takes them;
        empty where a formula proves the lower end.
    policies : policies of the mixture, with their weights; their caps are among the `nodes`.
    """

    enclosure: Enclosure
    volumes: tuple[float, ...] = field(default=(), repr=False)
    shares: tuple[float, ...] = field(default=(), repr=False)
    ends: tuple[float, ...] = field(default=(), repr=False)
    prices: tuple[float, ...] = field(default=(), repr=False)
    nodes: tuple[float, ...] = field(default=(), repr=False)
    policies: tuple[tuple[float, tuple[Move, ...]], ...] = field(default=(), repr=False)
    interrupted: bool = False


def enclose(
    ratio: float, gap: float = 0.01, tell: Callable[[Enclosure], None] = lambda _: None
) -> Found:
    """Bound V(R) to a relative gap, as far as the finest grid reaches.

    Above `LARGEST`, formulas alone bound V(R). `tell` is called with every better interval.

    Ctrl-C ends the search; what it has found by then is proved and returned.
    """
    found = Found(closed_form(ratio))
    if not NEVER_KILL < ratio <= LARGEST:
        return found
    tell(found.enclosure)
    play: _Play | None = None
    for step in GRIDS:
        play = _Play(ratio, step, play)
        stopped = False
        try:
            with heard():
                for _ in play.rounds():
                    pass
        except KeyboardInterrupt:
            stopped = True
        if play.responses:
            found = _better(found, play.proved(refine=not stopped))
            tell(found.enclosure)
        if stopped:
            return Found(**{**vars(found), "interrupted": True})
        if found.enclosure.gap <= gap:
            break
    return found


def _better(one: Found, other: Found) -> Found:
    """Return the better end of each of two."""
    low, high = one.enclosure, other.enclosure
    below = other if high.lower >= low.lower else one
    above = other if high.upper <= low.upper else one
    return Found(
        Enclosure(low.ratio, below.enclosure.lower, above.enclosure.upper, low.never_kill),
        below.volumes,
        below.shares,
        below.ends,
        below.prices,
        above.nodes,
        above.policies,
    )


class _Play:
    """The game on one grid of volumes."""

    def __init__(self, ratio: float, step: float, before: "_Play | None") -> None:
        self.ratio = ratio
        self.count = max(12, ceil(log(ratio) / step) + 1)
        self.grid = Grid(np.append(0.0, np.geomspace(1, ratio, self.count)))
        self.price: FloatArray = before.best_price if before else self.grid.first_price()
        self.pool: dict[Path, None] = {}
        never = complete([], self.count)
        self.policies: list[list[Move]] = [never]
        self.forms = [form(never, self.grid.nodes.tolist(), at_nodes=True)]
        self.weights = np.ones(1)
        self.law = before.interpolated(self.grid.nodes) if before else _first_law(self.grid.nodes)
        self.best_law: FloatArray = self.law
        self.best_price: FloatArray = self.price
        self.lower, self.upper, self.responses = 0.0, float("inf"), 0

    def rounds(self) -> Iterator[None]:
        """Play until both sides have almost the same value."""
        widths, near = self.grid.widths, 0.3
        while self.responses < ROUNDS and self.upper > (1 + CLOSE) * self.lower:
            answer = respond(self.grid, self.law, self.price, self.pool)
            self.price = answer.weights
            if answer.lower > self.lower:
                self.lower, near = answer.lower, min(0.6, 1.3 * near)
                self.best_law, self.best_price = self.law, self.price
            else:
                near = max(0.12, 0.8 * near)
            self.policies.append(complete(answer.moves, self.count))
            self.forms.append(form(self.policies[-1], self.grid.nodes.tolist(), at_nodes=True))
            self.weights = np.append(0.85 * self.weights, 0.15)
            self.weights, worst = mixture(self.forms, widths, self.weights, self.law[:-1])
            self.upper = most(self._mean(self.forms), widths, np.maximum(worst, 1e-9))
            self.responses += 1
            kept = self.weights > 1e-6
            kept[-1] = True
            self.policies = [one for one, keep in zip(self.policies, kept, strict=True) if keep]
            self.forms = [one for one, keep in zip(self.forms, kept, strict=True) if keep]
            self.weights = self.weights[kept] / self.weights[kept].sum()
            # squares of distributions, scaled to the same optimum, are what costs are concave in
            towards = worst**2 / (widths @ worst**2)
            here = self.best_law[:-1] ** 2 / self.grid.optimum(self.best_law)
            squares = near * towards + (1 - near) * here
            self.law = np.append(np.sqrt(squares / squares[0]), 0.0)
            yield

    def proved(self, *, refine: bool) -> Found:
        """Return the interval that the best distribution and the mixture prove."""
        step = log(self.ratio) / (self.count - 1)
        parts = PARTS if refine else 2
        volumes = np.append(0.0, np.geomspace(1, self.ratio, (self.count - 1) * parts + 1))
        shares, price, grid = self.interpolated(volumes), self.best_price, Grid(volumes)
        if refine:
            price = respond(grid, shares, price, {}, tolerance=step / 80, most=120).weights
        paid = grid.prices @ price
        lower = dual_value(volumes.tolist(), shares.tolist(), grid.ends.tolist(), paid.tolist())
        chosen = [
            (float(weight) / parts, complete(spread(moves, parts, k, self.count), len(volumes) - 1))
            for weight, moves in zip(self.weights, self.policies, strict=True)
            if weight > 1e-4
            for k in range(parts)
        ]
        total = sum(weight for weight, _ in chosen)
        policies = [(weight / total, tuple(moves)) for weight, moves in chosen]
        upper = mixture_value(volumes, policies)
        ends = closed_form(self.ratio)
        enclosure = Enclosure(
            self.ratio, max(lower, ends.lower), min(upper, ends.upper), ends.never_kill
        )
        nodes = tuple(volumes.tolist())
        return Found(
            enclosure,
            nodes,
            tuple(shares.tolist()),
            tuple(grid.ends.tolist()),
            tuple(paid.tolist()),
            nodes,
            tuple(policies),
        )

    def interpolated(self, nodes: FloatArray) -> FloatArray:
        """Return the best distribution on other nodes of the same range."""
        middles = [np.log(v[1:-1] * v[2:]) / 2 for v in (self.grid.nodes, nodes)]
        inside = np.interp(middles[1], middles[0], np.log(np.maximum(self.best_law[1:-1], 1e-12)))
        return np.concatenate([[1.0], np.exp(inside), [0.0]])

    def _mean(self, forms: list[FloatArray]) -> FloatArray:
        return np.tensordot(self.weights, np.array(forms), 1)


def _first_law(nodes: FloatArray) -> FloatArray:
    """Return a distribution to begin with: that of the limit, bent at the ends."""
    level, span = np.log(nodes[1:-1]), log(nodes[-1])
    bent = np.sin(np.pi * (level + 2) / (span + 4)) / np.sin(2 * np.pi / (span + 4))
    inside = np.minimum.accumulate(0.85 * np.exp(-level / 2) * bent)
    return np.concatenate([[1.0], inside, [0.0]])


def mixture(
    forms: list[FloatArray], widths: FloatArray, weights: FloatArray, law: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the best weights of a mixture, and its worst distribution."""
    from scipy.optimize import minimize

    stacked = np.array(forms)

    def worst(logits: Any) -> tuple[float, FloatArray]:
        nonlocal law
        share = np.exp(logits - logits.max())
        share = share / share.sum()
        law = climb(np.tensordot(share, stacked, 1), widths, law, 400, 1e-7)
        costs = np.einsum("i,kij,j->k", law, stacked, law)
        return float(share @ costs), share * (costs - share @ costs)

    begin = np.log(np.maximum(weights, 1e-6))
    found = minimize(worst, begin, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    share = np.exp(found.x - found.x.max())
    share = share / share.sum()
    return share, climb(np.tensordot(share, stacked, 1), widths, law, 2000, 1e-9)


def mixture_value(nodes: FloatArray, policies: list[tuple[float, tuple[Move, ...]]]) -> float:
    """Return the bound on a mixture for all distributions between the first and last node."""
    widths, volumes = np.diff(nodes), nodes.tolist()
    cost = np.zeros((len(widths), len(widths)))
    for weight, moves in policies:
        cost += weight * form(moves, volumes)
    law = climb(cost, widths, 1 / np.sqrt(np.maximum(nodes[:-1], 1.0)), 5000, 1e-10)
    return most(cost, widths, np.maximum(law, 1e-9))
