"""Bounds on weighted latency and on goodput by prices of memory, found in floats, proven exactly.

`ratiolab.hindsight.certificates.certify_promises` states the bounds. The ascent is that of
`ratiolab.hindsight.relaxation.ascent` on the cost of the objective. For goodput it begins with one
price for all times, the one whose bound is largest.
"""

import time
from collections.abc import Iterator

import numpy as np

from ratiolab.hindsight.certificates.certificate import PromiseCertificate
from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.objective import Objective
from ratiolab.hindsight.relaxation.ascent import (
    PARAMS,
    FloatArray,
    Level,
    Problem,
    ascend,
    fluid_duals,
)
from ratiolab.hindsight.relaxation.growth import (
    MOST_STEPS,
    exact_value,
    growth_row,
    in_runs,
    rounded,
)
from ratiolab.model.fleet import Fleet, replicas_of
from ratiolab.model.instance import Instance

QUANTILES = np.linspace(0.02, 0.98, 25)
"""Parts of the requests whose weight is below what their memory costs, tried as first prices."""

SHARES = 0.1, 0.9
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
    duals, best = _first(problem, objective, instance, fluid, width)
    yield _certified(given, objective, problem, duals, width)
    for share in SHARES:
        began = time.perf_counter()
        limit = None if seconds is None else share * seconds
        steps = PARAMS.steps if limit is None else MOST_STEPS
        reached, value = ascend(problem, duals, width, steps, limit)
        if value > best:
            duals, best = reached, value
            yield _certified(given, objective, problem, duals, width)
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


def _first(
    problem: Problem, objective: Objective, instance: Instance, fluid: FloatArray, width: int
) -> tuple[FloatArray, float]:
    """Return the prices to begin with, and the bound that they give."""
    none = np.zeros((1 + len(problem.tokens), len(fluid)))
    if objective.dropping:
        reachable = objective.last >= instance.arrival
        worth = (objective.late / instance.volume)[reachable]
        prices = np.quantile(worth, QUANTILES) if len(worth) else np.zeros(1)
        starts = [none, *(none + price for price in prices)]
    else:
        starts = [np.outer(share, fluid) for share in np.eye(len(none))]
    level = Level(problem, width)
    values = [level.value(start)[0] for start in starts]
    return starts[int(np.argmax(values))], max(values)


def _certified(
    given: Instance | Fleet, objective: Objective, problem: Problem, duals: FloatArray, width: int
) -> PromiseCertificate:
    """Return the bound that these duals prove, exactly, as a certificate."""
    instance, replicas = replicas_of(given)
    assert objective.name != "total"
    horizon = duals.shape[1] * width + int(instance.output.max()) + int(problem.arrival.max())
    whole, unit = rounded(duals, problem, horizon)
    rows = [(int(m), int(w)) for m, w in zip(problem.tokens, problem.rounds, strict=True)]
    value = exact_value(instance, whole, unit, width, rows, replicas * instance.memory, objective)
    cost = -(-value // unit)
    bound = objective.of_cost(max(0, cost) if objective.dropping else cost)
    proof = in_runs(whole, width, int(instance.arrival.min()), unit, rows)
    claim = given.name, given.digest, bound, objective.name
    return PromiseCertificate(*claim, value, proof, replicas=replicas)
