"""A lower bound for thousands of requests: duals of memory, and what they prove exactly.

The bound. Let u_t >= 0 be duals of a token of memory at times t = 1..T, zero beyond T. Adding to
the latency of any feasible schedule dual times (tokens held - M), which is at most 0, and then
letting every request choose its start alone,

    latency >= sum over i of min over p >= a_i of c_i(p) - M sum over t of u_t,
    c_i(p) = p + o_i - a_i + sum over ages g = 1..o_i of u_{p+g} (s_i + g).

The tail. A start p >= T pays no dual: c_i(p) = p + o_i - a_i grows with p, so p <= max(T, a_i)
suffices. T only says where duals end; no horizon of the schedules is assumed.

Any duals prove a bound. The best prove the value of the linear relaxation in which requests are
started in parts (Geoffrion 1974: the choice of a start alone has integer vertices). `dual_bound`
starts from the duals of the preemptive schedule behind `mean_busy_time` and climbs by deflected
subgradients; duals are equal within buckets of times, which keeps 200,000 rounds cheap. What is
returned is recomputed in integers from duals rounded to a common denominator: a theorem, which
`ratiolab.hindsight.certificates.certify_growth` checks by another route.

What it cannot see. The relaxation fills memory to the last token. Schedules of requests that each
take a good part of it leave some idle, and near or above load 1 a few percent of memory are a
large part of the waiting: there the gap is the relaxation's, and better duals do not close it.

Source: Lagrangian relaxation of the capacity rows of a time-indexed program: Christofides,
Alvarez-Valdes, Tamarit (1987), European J. Oper. Res. 29.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ratiolab.hindsight.bounds import preempt
from ratiolab.hindsight.certificates.certificate import GrowthCertificate
from ratiolab.hindsight.certificates.growth_duals import GrowthDuals
from ratiolab.hindsight.relaxation.subgradient import FloatArray, Steps, climb
from ratiolab.model import Instance, IntArray

ITERATIONS = 600
"""Steps of the ascent by default."""

MOST_PIECES = 6 * 10**8
"""Pieces of cost functions that the ascent looks at, about; some seconds."""

LEVELS = ((16, 3), (4, 2), (1, 1))
"""Buckets that share a dual while climbing, from coarse to fine, and parts of the steps."""

MOST_BUCKETS = 4096
"""Most buckets of times with duals of their own."""

LONGEST = 2**21
"""Most rounds that have duals."""

FINEST_BITS = 30
"""Duals are multiples of at least 2 ** -FINEST_BITS."""

LARGEST_VALUE = 2**62
"""Bound on intermediate values, so that 64-bit integers never overflow."""

DEFLECTION = 0.05
"""Part of the newest subgradient in the direction of a step."""

AIM = 0.01
"""How far above the best bound the ascent aims at first, as a part of it."""

LEAST_AIM = AIM / 10
"""The same at the start of each finer level, at least."""

PATIENCE = 5
"""Steps without a better bound before the aim comes closer."""


@dataclass(frozen=True, eq=False)
class BucketDuals:
    """Nonnegative integer duals of a token, over one denominator.

    Parameters
    ----------
    origin : time 0 of the duals, at most the first arrival.
    width : times in a bucket.
    token : ``token[b] / denominator`` is the dual of a token at times
        ``origin + b width + 1 .. origin + (b + 1) width``; beyond the last bucket it is zero.
    """

    origin: int
    width: int
    denominator: int
    token: IntArray = field(repr=False)


def exact_value(instance: Instance, duals: BucketDuals) -> Fraction:
    """Return the lower bound that these duals prove, unrounded. Cost O(n T / width).

    Raises
    ------
    ValueError
        when a dual is negative, or the origin is after an arrival.
    OverflowError
        when values could exceed `LARGEST_VALUE`.

    >>> two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    >>> exact_value(two, BucketDuals(0, 1, 2, np.array([1])))  # 1/2 a token at time 1
    Fraction(3, 1)
    """
    from ratiolab.hindsight.relaxation.dual_kernels import choose

    token, unit = np.asarray(duals.token, np.int64), duals.denominator
    if unit < 1 or len(token) == 0 or token.min() < 0:
        raise ValueError("duals must be at least 0, of one bucket or more, over 1 or more")
    if duals.origin > instance.arrival.min():
        raise ValueError(f"origin {duals.origin} must not be after an arrival")
    if _magnitude(instance, duals.width, token.tolist(), unit, duals.origin) > LARGEST_VALUE:
        raise OverflowError("duals are too large for 64-bit integers")
    arrival = instance.arrival - duals.origin
    least, _, _ = choose(
        arrival, instance.prompt, instance.output, token, duals.width, np.int64(unit)
    )
    value = sum(least.tolist()) - instance.memory * duals.width * sum(token.tolist())
    return Fraction(value, unit)


def dual_bound(
    instance: Instance,
    upper: int,
    *,
    iterations: int = ITERATIONS,
    stop: Callable[[], bool] = lambda: False,
) -> GrowthCertificate:
    """Return the best bound found by an ascent over duals of memory, with the duals that prove it.

    What it returns is proven whatever the duals are. The ascent has a fixed number of steps, not
    of seconds. Cost O(iterations n w), w the buckets that a request may wait.

    Parameters
    ----------
    upper : total latency of a known schedule; it ends the ascent when reached.
    iterations : steps of the ascent, at least 0; fewer when they would look at more than
        `MOST_PIECES` pieces of cost functions.
    stop : asked before each step; True ends the ascent.

    >>> dual_bound(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), 12).bound
    12
    """
    if iterations < 0:
        raise ValueError(f"iterations {iterations} must be at least 0")
    origin, width, start = fluid_duals(instance)
    found = [rounded(instance, start, origin, width)]
    if iterations:
        climbed = ascend(instance, start, origin, width, upper, iterations, stop)
        found.append(rounded(instance, climbed, origin, width))
    proven = [(exact_value(instance, duals), duals) for duals in found]
    return step_certificate(instance, *max(proven, key=lambda pair: pair[0]))


def step_certificate(instance: Instance, value: Fraction, duals: BucketDuals) -> GrowthCertificate:
    """Return the certificate of duals that prove this value; equal neighbours become one run."""
    token = np.trim_zeros(duals.token, "b")
    last = np.flatnonzero(np.diff(token, append=-1))
    ends = duals.origin + (last + 1) * duals.width
    steps = GrowthDuals(
        duals.denominator, duals.origin, tuple(ends.tolist()), tuple(token[last].tolist())
    )
    return GrowthCertificate(
        instance.name, instance.digest, math.ceil(value), int(value * duals.denominator), steps
    )


def rounded(instance: Instance, token: FloatArray, origin: int, width: int) -> BucketDuals:
    """Round duals down to multiples of the finest power of two that 64 bits allow."""
    fits = LARGEST_VALUE / _magnitude(instance, width, token.tolist(), 1, origin)
    denominator = 2 ** max(0, min(FINEST_BITS, math.floor(math.log2(fits)) - 1))
    return BucketDuals(origin, width, denominator, np.floor(token * denominator).astype(np.int64))


def fluid_duals(instance: Instance) -> tuple[int, int, FloatArray]:
    """Return origin, width and the duals of `busy_duals` in the middle of each bucket."""
    memory, origin = instance.memory, int(instance.arrival.min())
    pieces = [
        (piece.request, piece.begin / memory - origin, piece.end / memory - origin)
        for piece in preempt(instance, shortest_remaining=False)
    ]
    # completions come later than in the fluid: leave room for the longest output
    rounds = min(LONGEST, math.ceil(pieces[-1][2]) + int(instance.output.max()))
    width = -(-rounds // MOST_BUCKETS)
    return origin, width, busy_duals(instance, pieces, rounds, width, LEVELS[0][0])


def busy_duals(
    instance: Instance,
    pieces: Sequence[tuple[int, float, float]],
    rounds: int,
    width: int,
    coarsest: int,
) -> FloatArray:
    """Return the optimal duals of the relaxation by mean busy times, in the middle of buckets.

    There a slot of time t costs request i t / v_i. The dual is the maximum over released i
    of k_i - t / v_i: it falls with slope 1 / v_i while i is served, does not jump when i has its
    last slot, is zero when memory idles, and k_i is one number for all pieces of i.

    Parameters
    ----------
    pieces : request, begin and end of each slot, in order of time.
    rounds, width, coarsest : what buckets of some rounds cover at least; their number is a multiple
        of the coarsest.
    """
    slope = (1.0 / instance.volume).tolist()
    height: dict[int, float] = {}  # k_i
    after, following = 0.0, math.inf
    for i, begin, end in reversed(pieces):
        if i not in height:
            height[i] = end * slope[i] + (after if end == following else 0.0)
        after, following = height[i] - begin * slope[i], begin
    middle = (np.arange(coarsest * -(-rounds // (coarsest * width))) + 0.5) * width
    ends = np.array([end for _, _, end in pieces])
    served = np.minimum(np.searchsorted(ends, middle, side="right"), len(pieces) - 1)
    request = np.array([i for i, _, _ in pieces])[served]
    heights = np.array([height[i] for i in request.tolist()])
    dual = heights - middle * np.array(slope)[request]
    idle = (middle >= ends[-1]) | (middle < np.array([begin for _, begin, _ in pieces])[served])
    return np.where(idle, 0.0, np.maximum(dual, 0.0))


def ascend(
    instance: Instance,
    start: FloatArray,
    origin: int,
    width: int,
    upper: int,
    iterations: int,
    stop: Callable[[], bool] = lambda: False,
) -> FloatArray:
    """Climb by subgradients in floating point, first on coarse buckets, then on finer."""
    token, aim, shares = start, AIM, sum(share for _, share in LEVELS)
    for group, share in LEVELS:
        steps = -(-iterations * share // shares)
        climb = _Climb(instance, origin, width * group)
        # fine detail of the start may be worth more than what coarse steps found
        entries = [duals.reshape(-1, group).mean(axis=1) for duals in (token, start)]
        coarse = max(entries, key=lambda entry: climb.value(entry)[0])
        steps = min(steps, MOST_PIECES * share // (shares * climb.pieces))
        coarse, aim = climb.run(coarse, max(aim, LEAST_AIM), upper, steps, stop)
        token = np.repeat(coarse, group)
    return token


class _Climb:
    """One level of the ascent: buckets of one width."""

    def __init__(self, instance: Instance, origin: int, width: int) -> None:
        self.arrival = instance.arrival - origin
        self.prompt, self.output = instance.prompt, instance.output
        self.width, self.capacity = width, float(instance.memory * width)
        self.pieces = 1  # looked at for the last value

    def value(self, token: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound of these duals, and a subgradient: token-rounds above memory."""
        from ratiolab.hindsight.relaxation.dual_kernels import bucket_usage, choose

        least, starts, pieces = choose(
            self.arrival, self.prompt, self.output, token, self.width, 1.0
        )
        self.pieces = max(1, pieces)
        usage = bucket_usage(starts, self.prompt, self.output, len(token), self.width)
        return float(least.sum() - self.capacity * token.sum()), usage - self.capacity

    def run(
        self, token: FloatArray, aim: float, upper: int, steps: int, stop: Callable[[], bool]
    ) -> tuple[FloatArray, float]:
        """Return the best duals met, and the aim at the end."""
        most = Steps(steps, DEFLECTION, PATIENCE)
        best, _, aim = climb(
            self.value, token, aim, most, lambda value: value > upper - 1 or stop()
        )
        return best, aim


def _magnitude(
    instance: Instance, width: int, token: list[int] | list[float], unit: int, origin: int
) -> float:
    """Return at least the size of every value that `choose` meets, and of its parts."""
    rounds = len(token) * width
    tokens = 4 * (rounds + instance.memory) * (sum(token) * width + max(token) * instance.memory)
    latency = rounds + int(instance.output.max()) + int(instance.arrival.max()) - origin
    return float(tokens + 2 * unit * latency)
