"""The best response to a distribution: a mixture of paths, and the price that proves it.

The policy knows the distribution. It gives each request a random path of bounds whose mean work by
any time is at most that time (ratiolab/papers/ours/proofs/volume_restart.md, section 3). Prices are
linear between knots, so that the linear program over paths has a row for each knot; paths are its
columns, and the cheapest path at the price of its duals joins them, until it would gain little.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ratiolab.game.ranges.kernels import cheapest
from ratiolab.game.ranges.orders import FloatArray, Move
from ratiolab.hindsight.programs.highs import LinearProgram

Path: TypeAlias = tuple[tuple[int, int, int], ...]
"""Jumps: step of time, bound, cap."""

POOL = 400
"""Paths kept from one distribution to the next."""

HORIZON = 4.0
"""Last time, over the root of the largest volume, about when the last work of the limit
distribution ends: a price that ends earlier lets the last requests wait for nothing."""

FIRST = 0.05
"""First knot and step of time; the least volume, which all requests have, is 1."""


@dataclass
class Grid:
    """Volumes of distributions, steps of time, and knots of prices, for volumes within a factor.

    `nodes` are volumes, ascending, the first 0, the second 1.
    """

    nodes: FloatArray
    ends: FloatArray = field(init=False)
    steps: FloatArray = field(init=False)
    prices: FloatArray = field(init=False)
    limits: FloatArray = field(init=False)
    knots: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        horizon = HORIZON * float(self.nodes[-1]) ** 0.5
        span = np.log(horizon / FIRST)
        self.ends = np.geomspace(FIRST, horizon, int(500 * span))
        self.steps = np.diff(np.append(0.0, self.ends))
        middle = self.ends - self.steps / 2
        self.knots = np.append(FIRST, np.geomspace(1.5 * FIRST, horizon, int(12 * span)))
        falls = self.knots[1:] - middle[:, None]
        # a price is a sum of these: 1 up to a knot, 0 from the next one on
        self.prices = np.clip(falls / np.diff(self.knots), 0, 1)
        self.limits = self.steps @ self.prices

    @property
    def widths(self) -> FloatArray:
        """Widths of the cells between volumes."""
        widths: FloatArray = np.diff(self.nodes)
        return widths

    def first_price(self) -> FloatArray:
        """Return weights of a price to begin with: falling like that of the limit distribution."""
        end = self.knots[-1]
        price = 4.6 / np.maximum(self.knots, 0.9) * np.sqrt(1 - np.minimum(self.knots / end, 1))
        falls: FloatArray = np.maximum(-np.diff(price), 0)
        return falls

    def optimum(self, shares: FloatArray) -> float:
        """Return the integral of the square of a distribution, given after each node."""
        return float(self.widths @ shares[:-1] ** 2)

    def filled(self, shares: FloatArray) -> FloatArray:
        """Return the integral of a distribution up to each node."""
        return np.append(0.0, np.cumsum(self.widths * shares[:-1]))


@dataclass(frozen=True)
class Response:
    """A best response.

    Parameters
    ----------
    lower, upper : interval of the cost over the optimum; the price proves the lower end.
    weights : weights of the price, as `Grid.prices` has them.
    moves : the mixture of paths as moves in the order of time.
    """

    lower: float
    upper: float
    weights: FloatArray
    moves: list[Move]


def respond(
    grid: Grid,
    shares: FloatArray,
    weights: FloatArray,
    pool: dict[Path, None],
    tolerance: float = 7e-4,
    most: int = 80,
) -> Response:
    """Find the best response to a distribution, up to a tolerance or a number of paths.

    `shares` exceed each node, the last 0. `pool` has paths to begin with; good ones are added, and
    the oldest fall out.
    """
    filled, optimum = grid.filled(shares), grid.optimum(shares)
    program, paths = LinearProgram(), dict[Path, None]()
    rows = len(grid.limits)
    program.add_rows(
        np.append(np.full(rows, -np.inf), 1.0),
        np.append(grid.limits, 1.0),
        np.zeros(rows + 2, np.int64),
        np.zeros(0, np.int64),
        np.zeros(0),
    )

    def add(path: Path) -> None:
        if path in paths:
            return
        paths[path] = None
        cost, work = _column(grid, shares, filled, path)
        column = np.append(work, 1.0)
        program.add_columns(
            np.array([cost]),
            np.array([np.inf]),
            np.array([0, len(column)]),
            np.arange(len(column)),
            column,
        )

    proved, best = -np.inf, weights

    def price(by: FloatArray) -> None:
        nonlocal proved, best
        value, jumps = cheapest(grid.nodes, shares, grid.prices @ by, grid.steps)
        if value - grid.limits @ by > proved:
            proved, best = value - grid.limits @ by, by
        add(tuple(jumps))

    add(())
    for path in pool:
        add(path)
    for factor in (1.0,) if pool else (0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0):
        price(weights * factor)
    for round_ in range(most):
        found = program.solve(primal=True)
        duals = np.maximum(-found.duals[:rows], 0)
        if found.value - proved <= tolerance * found.value:
            break
        price(duals)
        price(0.7 * best + 0.3 * duals)  # between the two: duals alone jump about
        if round_ % 3 == 2:
            price(0.45 * best + 0.55 * duals)
    shares_of = [max(0.0, float(x)) for x in found.columns]
    whole = sum(shares_of)  # 1 but for the tolerance of the program
    taken = [(path, x / whole) for path, x in zip(paths, shares_of, strict=False) if x > 1e-9]
    for path, _ in taken:
        pool.pop(path, None)
        pool[path] = None
    for path in list(pool)[:-POOL]:
        del pool[path]
    moves = _moves(grid, shares, filled, taken)
    return Response(proved / optimum, found.value / optimum, best, moves)


def _column(
    grid: Grid, shares: FloatArray, filled: FloatArray, path: Path
) -> tuple[float, FloatArray]:
    """Return the cost of a path, and its work as the prices' parts weigh it."""
    work = np.zeros(len(grid.limits))
    cost, begun, at = 0.0, 0.0, 0
    for step, bound, cap in path:
        begin = grid.ends[step] - grid.steps[step]
        cost += 2 * shares[bound] * (begin - begun)
        begun, at = begin, cap
        again = grid.nodes[bound] * shares[bound] - filled[bound]
        work += grid.prices[step] * (again + filled[cap])
    return float(cost + 2 * shares[at] * (grid.ends[-1] - begun)), work


def _moves(
    grid: Grid, shares: FloatArray, filled: FloatArray, taken: list[tuple[Path, float]]
) -> list[Move]:
    """Return the jumps of a mixture in the order of time, of equals the most efficient first."""
    ordered = []
    for path, share in taken:
        for number, (step, bound, cap) in enumerate(path):
            work = grid.nodes[bound] * shares[bound] + filled[cap] - filled[bound]
            gain = (shares[bound] - shares[cap]) / work
            ordered.append((step, number, -gain, Move(bound, cap, share)))
    return [move for *_, move in sorted(ordered)]
