"""A lower bound by memory rows and growth rows: duals found in floats, proven in integers.

The rows and the proof of the bound stand in `ratiolab.hindsight.certificates.duals`; the claim is
recomputed in integers from duals rounded down to a common denominator.

Weighted latency and goodput are bounded alike (`ratiolab.hindsight.certificates.certify_promises`),
with the cost of the objective. For goodput the ascent begins with one price for all times, the one
whose bound is largest.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from ratiolab.hindsight.certificates.certificate import GrowthCertificate, PromiseCertificate
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.objective import NEVER_LATE, Objective
from ratiolab.hindsight.relaxation.ascent import (
    PARAMS,
    FloatArray,
    Level,
    Problem,
    ascend,
    fluid_duals,
)
from ratiolab.hindsight.relaxation.row_kernels import accumulate, cheapest
from ratiolab.model.fleet import Fleet, memories_of, replicas_of
from ratiolab.model.footprint import IntArray, volume
from ratiolab.model.instance import Instance

LARGEST_COST = 2**61
"""Bound on the scaled costs of starts, so that differences of them fit 64 bits."""

FINEST_BITS = 40
"""Duals are multiples of at least 2 ** -FINEST_BITS."""

LEAST_SECONDS = 1.2e-4
"""Seconds for each request below which there may be no time for the proof of any bound."""

SHARES = 0.12, 0.97
"""Parts of the time that is left for each ascent: the first soon tells of a good bound."""

MOST_STEPS = 10**6
"""Steps of an ascent that time ends."""

PARTS = 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48
"""Parts of memory that growth rows are tried with: m0 = M / part."""


def dual_bound(
    instance: Instance,
    upper: int,
    *,
    steps: int = PARAMS.steps,
    stop: Callable[[], bool] = lambda: False,
) -> GrowthCertificate:
    """Return the bound by prices of memory alone, after a fixed number of steps.

    Parameters
    ----------
    upper : total latency of a known schedule; it ends the ascent when reached.
    steps : steps of the ascent; 0 for the prices that it begins with.
    stop : asked before each step; True ends the ascent.

    >>> dual_bound(Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), 12).bound
    12
    """
    problem = Problem.of(instance, instance.memory)
    fluid, width = fluid_duals(instance, instance.memory)
    found = [certified(instance, problem, fluid[None, :], width)]
    if steps:
        enough = lambda value: value > upper - 1 or stop()  # noqa: E731
        duals, _ = ascend(problem, fluid[None, :], width, steps, enough=enough)
        found.append(certified(instance, problem, duals, width))
    return max(found, key=lambda proof: Fraction(proof.value, proof.duals.denominator))


def growth_bounds(
    given: Instance | Fleet, seconds: float | None = None
) -> Iterator[GrowthCertificate]:
    """Yield bounds, each with its certificate: a first one soon, and more as time allows.

    The first is that of prices of the preemptive schedule, which an ascent of a hundred thousand
    requests exceeds only after minutes. Without a time limit the number of steps is fixed, and so
    is what is found. With too little time there is none.
    """
    instance, memories = memories_of(given)
    room = sum(memories)
    if seconds is not None and seconds < LEAST_SECONDS * len(instance):
        return
    began = time.perf_counter()
    problem = Problem.of(instance, instance.memory, (growth_row(instance),), room)
    fluid, width = fluid_duals(instance, room)
    duals, best = _best(problem, _each_row(problem, fluid), width)
    if seconds is not None:
        yield certified(given, problem, duals, width)
        seconds = max(0.0, seconds - (time.perf_counter() - began))
    for share in SHARES:
        began = time.perf_counter()
        limit = None if seconds is None else share * seconds
        reached, value = ascend(
            problem, duals, width, PARAMS.steps if limit is None else MOST_STEPS, limit
        )
        ended = time.perf_counter()
        if value > best or limit is None:
            duals, best = reached, value
            yield certified(given, problem, duals, width)
        if seconds is not None:
            proving = time.perf_counter() - ended
            seconds -= ended - began + 2 * proving  # one is for the bound to come


def _each_row(problem: Problem, fluid: FloatArray) -> list[FloatArray]:
    """Return these prices on each row alone."""
    return [np.outer(share, fluid) for share in np.eye(1 + len(problem.tokens))]


def _best(problem: Problem, starts: list[FloatArray], width: int) -> tuple[FloatArray, float]:
    """Return the prices whose bound is largest, and that bound."""
    level = Level(problem, width)
    values = [level.value(start)[0] for start in starts]
    return starts[int(np.argmax(values))], max(values)


def growth_row(instance: Instance) -> tuple[int, int]:
    """Return the m0 and w of the growth row that promises most idle memory.

    With L the mean of sum_i min(1, m_i / m0) when memory is full, and e completions a round, a row
    leaves about m0 L^2 / (2 M^2 e) of memory idle at w = L m0 / (M e).

    >>> growth_row(Instance("equal", 100, [0] * 9, [1] * 9, [9] * 9))
    (7, 1)
    """
    memory, whole = instance.memory, int(instance.volume.sum())
    rate = memory * len(instance) / whole
    found = []
    for part in PARTS:
        tokens = max(1, -(-memory // part))
        level = memory * _capped(instance, tokens) / tokens / whole
        rounds = max(1, round(level * tokens / (memory * rate)))
        found.append((tokens * level**2, tokens, rounds))
    _, tokens, rounds = max(found)
    return tokens, rounds


def _capped(instance: Instance, tokens: int) -> int:
    """Return the sum over all requests and ages of the tokens held, but at most ``most`` each."""
    grown: IntArray = np.clip(tokens - instance.prompt, 0, instance.output)
    return int((volume(instance.prompt, grown) + tokens * (instance.output - grown)).sum())


def _largest(problem: Problem, most: Sequence[float], unit: int, horizon: int) -> float:
    """Return at least the scaled cost of any start, given the largest price of each row."""
    widest, memory = int(volume(problem.prompt, problem.output).max()), int(problem.memory)
    largest = 2 * horizon * unit * float(problem.slope.max()) + 2 * most[0] * widest
    largest += unit * float(np.where(problem.late == NEVER_LATE, 0, problem.late).max())
    for m, w, price in zip(problem.tokens, problem.rounds, most[1:], strict=True):
        largest += price * (2 * int(m + w) * widest + memory * int(w * (w + 1)))
    return largest


def rounded(duals: FloatArray, problem: Problem, horizon: int) -> tuple[IntArray, int]:
    """Return integer duals of each row and their denominator, as fine as 64 bits allow.

    ``duals`` are scaled as in `ratiolab.hindsight.relaxation.ascent`; ``horizon`` is the latest
    time at which a request may complete.
    """
    largest = _largest(problem, (duals * problem.scale).max(axis=1).tolist(), 1, horizon)
    bits = min(FINEST_BITS, math.floor(math.log2(LARGEST_COST / largest)))
    if bits < 0:  # numbers so large that only latency counts
        return np.zeros(duals.shape, np.int64), 1
    return np.floor(duals * problem.scale * 2.0**bits).astype(np.int64), 2**bits


def certified(
    given: Instance | Fleet, problem: Problem, duals: FloatArray, width: int
) -> GrowthCertificate:
    """Return a certificate of the bound that duals prove once they are rounded to integers."""
    value, proof, replicas = _in_integers(given, problem, duals, width)
    claim = given.name, given.digest, -(-value // proof.denominator)
    return GrowthCertificate(*claim, value, proof, replicas=replicas)


def _in_integers(
    given: Instance | Fleet,
    problem: Problem,
    duals: FloatArray,
    width: int,
    objective: Objective | None = None,
) -> tuple[int, GrowthDuals, int]:
    """Return the value that rounded duals prove, these duals, and the number of replicas."""
    instance, memories = memories_of(given)
    horizon = duals.shape[1] * width + int(instance.output.max()) + int(problem.arrival.max())
    whole, unit = rounded(duals, problem, horizon)
    rows = [(int(m), int(w)) for m, w in zip(problem.tokens, problem.rounds, strict=True)]
    value = exact_value(instance, whole, unit, width, rows, sum(memories), objective)
    proof = in_runs(whole, width, int(instance.arrival.min()), unit, rows)
    return value, proof, len(memories)


def exact_value(
    instance: Instance,
    whole: IntArray,
    unit: int,
    width: int,
    rows: Sequence[tuple[int, int]] = (),
    room: int | None = None,
    objective: Objective | None = None,
) -> int:
    """Return the lower bound that integer duals prove, times their denominator ``unit``.

    Parameters
    ----------
    whole : duals of memory and of each growth row in buckets of ``width`` times from the first
        arrival on, at least 0, shape (1 + rows, buckets).
    room : tokens of all replicas; by default those of the instance, the largest one.
    objective : whose cost is bounded; total latency if absent.

    Raises
    ------
    ValueError
        when a dual is negative.
    OverflowError
        when costs could exceed `LARGEST_COST`.

    >>> two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    >>> exact_value(two, np.array([[1]]), 2, 1)  # 1/2 a token at time 1: the bound is 6/2
    6
    """
    if whole.min(initial=0) < 0:
        raise ValueError("duals must be at least 0")
    problem = Problem.of(instance, instance.memory, tuple(rows), objective=objective)
    horizon = whole.shape[1] * width + int(instance.output.max()) + int(problem.arrival.max())
    if _largest(problem, whole.max(axis=1).tolist(), unit, horizon) > LARGEST_COST:
        raise OverflowError("duals are too large for 64-bit integers")
    memory, n = instance.memory, len(instance)
    level = Level(problem, width)
    level.value(whole / unit / problem.scale)
    slack = memory * sum(
        w * (w + 1) // 2 * int(row.max()) for (_, w), row in zip(rows, whole[1:], strict=True)
    )
    sums = accumulate(whole, width, np.int64(memory), problem.tokens, problem.rounds)
    terms = problem.whole_terms(unit)
    least, columns = np.empty(n, np.int64), (problem.arrival, problem.prompt, problem.output)
    cheapest(sums, terms, *columns, width, np.int64(slack), level.starts, least)
    paid = sum(whole[0].tolist())
    paid += sum(m * sum(row.tolist()) for (m, _), row in zip(rows, whole[1:], strict=True))
    value: int = sum(least.tolist()) - (memory if room is None else room) * width * paid
    return value


def in_runs(
    whole: IntArray, width: int, begin: int, unit: int, rows: Iterable[tuple[int, int]]
) -> GrowthDuals:
    """Return duals of buckets as runs: equal neighbours are one, and zeros at the end none."""
    priced = np.flatnonzero(whole.any(axis=0))
    whole = whole[:, : priced[-1] + 1 if len(priced) else 0]
    changes = (np.diff(whole, axis=1) != 0).any(axis=0)
    last = np.flatnonzero(np.append(changes, True)) if whole.shape[1] else priced
    ends = begin + (last + 1) * width
    columns = [tuple(row[last].tolist()) for row in whole]
    return GrowthDuals(
        unit, begin, tuple(ends.tolist()), columns[0], tuple(rows), tuple(columns[1:])
    )


QUANTILES = np.linspace(0.02, 0.98, 25)
"""Parts of the requests whose weight is below what their memory costs, tried as first prices."""

PROMISED_SHARES = 0.1, 0.9
"""Parts of the time of two ascents: the first soon tells of a good bound."""


def promised_bounds(
    given: Instance | Fleet, objective: Objective, seconds: float | None = None
) -> Iterator[PromiseCertificate]:
    """Yield bounds, each better than the one before, with their certificates.

    The first is that of the prices that the ascent begins with. Without a time limit the number of
    steps is fixed. Weighted latency has a growth row; for goodput prices of memory alone climb
    higher in the same time.
    """
    instance, replicas = replicas_of(given)
    rows = () if objective.dropping else (growth_row(instance),)
    room = replicas * instance.memory
    problem = Problem.of(instance, instance.memory, rows, room, objective)
    worth = None if objective.dropping else objective.slope
    fluid, width = fluid_duals(instance, room, weight=worth)
    duals, best = _best(problem, _first(problem, fluid, dropping=objective.dropping), width)
    yield _promised(given, objective, problem, duals, width)
    for share in PROMISED_SHARES:
        began = time.perf_counter()
        limit = None if seconds is None else share * seconds
        steps = PARAMS.steps if limit is None else MOST_STEPS
        reached, value = ascend(problem, duals, width, steps, limit)
        if value > best:
            duals, best = reached, value
            yield _promised(given, objective, problem, duals, width)
        if seconds is not None:
            seconds = max(0.0, seconds - (time.perf_counter() - began))


def alone(given: Instance | Fleet, objective: Objective) -> PromiseCertificate:
    """Return the bound without any price: what each request costs by itself."""
    assert objective.name != "total"
    instance, replicas = replicas_of(given)
    columns = instance.arrival, instance.output, objective.slope, objective.last, objective.late
    value = sum(
        late if last < arrival else slope * output
        for arrival, output, slope, last, late in zip(*(c.tolist() for c in columns), strict=True)
    )
    named = given.name, given.digest, objective.of_cost(value), objective.name
    none = GrowthDuals(1, int(instance.arrival.min()), (), ())
    return PromiseCertificate(*named, value, none, replicas=replicas)


def _first(problem: Problem, fluid: FloatArray, *, dropping: bool) -> list[FloatArray]:
    """Return the prices that an ascent for an objective may begin with."""
    if not dropping:
        return _each_row(problem, fluid)
    none = np.zeros((1 + len(problem.tokens), len(fluid)))
    reachable = problem.last >= problem.arrival
    worth = (problem.late / volume(problem.prompt, problem.output))[reachable]
    prices = np.quantile(worth, QUANTILES) if len(worth) else np.zeros(1)
    return [none, *(none + price for price in prices)]


def _promised(
    given: Instance | Fleet, objective: Objective, problem: Problem, duals: FloatArray, width: int
) -> PromiseCertificate:
    """Return a certificate of the bound on an objective that duals prove once they are rounded."""
    assert objective.name != "total"
    value, proof, replicas = _in_integers(given, problem, duals, width, objective)
    cost = -(-value // proof.denominator)
    bound = objective.of_cost(max(0, cost) if objective.dropping else cost)
    claim = given.name, given.digest, bound, objective.name
    return PromiseCertificate(*claim, value, proof, replicas=replicas)
