"""Certified bounds around the hindsight optimum of an instance, alone or beside policies."""

from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from ratiolab.model import Instance
from ratiolab.model.feasibility import require_feasible
from ratiolab.model.instance import OPTIONAL_COLUMNS
from ratiolab.model.interrupts import heard
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate
from ratiolab.studies.cell import Cell, Row

if TYPE_CHECKING:
    from ratiolab.hindsight import OptResult
    from ratiolab.hindsight.certificates.certificate import DualCertificate, PathCertificate
    from ratiolab.model.schedule import Schedule

KEPT = 1000
"""Results that a process keeps: workloads that differ in predictions alone share them."""

STEPS = 160
"""Steps of the memetic search: 6 to 30 seconds."""

WIDEST = 64_000
"""Largest width of a sweep, labels."""

POLICIES = ("mc-sf", "svf")


def bound(cell: Cell) -> list[Row]:
    """Return bounds on the least total latency in unit rounds under restart, with their source."""
    return [_ends(cell, _bracket(_bare(cell), cell.seed, cell.option("steps")))]


def enclosure(cell: Cell) -> list[Row]:
    """Return the bounds of `bound`, raised by beams and growth rows for thousands of requests.

    Effort is counted in steps: some ten seconds for 2,000 requests.
    """
    from ratiolab.hindsight import solve
    from ratiolab.hindsight.stages import MOST_REQUESTS

    instance, steps = _bare(cell), cell.option("steps")
    found = _bracket(instance, cell.seed, steps)
    if len(instance) > MOST_REQUESTS:
        known, proven = found.schedule, found.certificate
        more = solve(instance, seed=cell.seed, steps=steps, threads=1, known=known, proven=proven)
        found = more.uninterrupted()
    return [_ends(cell, found)]


def _bare(cell: Cell) -> Instance:
    """Return the instance of a cell without what predictions add: bounds are the same for all."""
    unseen = dict.fromkeys(OPTIONAL_COLUMNS)
    return cell.instance().replace(name="bare", source="", **unseen)


def bracket(cell: Cell) -> list[Row]:
    """Return one row for each policy: its total latency, and the interval around the optimum.

    The interval depends on orders tried, rounds of cuts and work of the labelling loop, never on
    time.
    """
    from ratiolab.hindsight import bracket as enclose  # takes a second to import
    from ratiolab.hindsight.cuts.cut_bound import cut_bound, longest_horizon

    instance = cell.instance()
    found = enclose(instance, seed=cell.seed, steps=cell.option("steps")).uninterrupted()
    lower, upper, source = found.lower, found.upper, found.lower_source
    if lower < upper:
        # any horizon gives a valid bound, the makespan a good one
        horizon = longest_horizon(instance, found.schedule.makespan)
        raised = cut_bound(instance, horizon=horizon, rounds=cell.option("rounds"), target=upper)
        if raised.stopped == "interrupted":
            raise KeyboardInterrupt
        if raised.lower > lower:
            lower, source = raised.lower, "configuration cuts"
        walks = cell.option("walks")
        schedule, walked = _walked(found.schedule, raised.certificate, walks, cell.seed)
        upper = schedule.total_latency
        if walked > lower:
            lower, source = walked, "paths"
    return [
        {
            "policy": key,
            "instance": instance.digest,
            "requests": len(instance),
            "total_latency": simulate(instance, make(key), seed=cell.seed).total_latency,
            "opt_lower": lower,
            "opt_upper": upper,
            "lower_source": source,
        }
        for key in POLICIES
    ]


def _walked(
    known: "Schedule", duals: "DualCertificate", most: int, seed: int
) -> tuple["Schedule", int]:
    """Return a better schedule and bound: by a memetic search, then by the labelling loop.

    Sweeps ask once a layer and start whether to go on, and may ask so often once they have proven
    something: that does not depend on the machine. More memory than they take is left as it is.
    """
    from ratiolab.hindsight.labelling import weights
    from ratiolab.hindsight.labelling.loop import Loop, Surroundings
    from ratiolab.hindsight.params import LabellingParams, SolveParams
    from ratiolab.hindsight.schedules.population import Population
    from ratiolab.hindsight.search import crossing

    best, lower, instance = [known], [duals.bound], known.instance

    def found(schedule: "Schedule | None", proven: "PathCertificate | None" = None) -> None:
        if schedule is not None and schedule.total_latency < best[-1].total_latency:
            best.append(require_feasible(schedule))
        if proven is not None:
            lower.append(proven.bound)

    small = instance.memory <= weights.MOST_MEMORY
    if small and most and duals.bound < known.total_latency:
        asked, never = count(1), (lambda: False)
        with heard():
            cross = crossing(instance, duals.duals, best[-1].total_latency, never)
            population = Population(best[-1], stream(seed, "search", 2), never, found, cross)
            for _ in range(STEPS if duals.bound < best[-1].total_latency else 0):
                population.step()
            around = Surroundings(
                upper=lambda: best[-1].total_latency,
                # what takes no sweep to an end proves nothing
                stop=lambda: len(lower) > 1 and next(asked) > most,
                found=found,
            )
            params = SolveParams(labelling=LabellingParams(most_width=WIDEST))
            with suppress(OverflowError):  # tables too large for labels: what is proven stays
                Loop(instance, duals, around, params).run()
    return best[-1], max(lower)


def _ends(cell: Cell, found: "OptResult") -> Row:
    """Return the row of a bound; its instance is that of the runs, predictions included."""
    return {
        "instance": cell.instance().digest,
        "requests": len(found.schedule.instance),
        "opt_lower": found.lower,
        "opt_upper": found.upper,
        "lower_source": found.lower_source,
    }


@lru_cache(KEPT)
def _bracket(instance: Instance, seed: int, steps: int) -> "OptResult":
    from ratiolab.hindsight import bracket  # takes a second to import

    return bracket(instance, seed=seed, steps=steps).uninterrupted()
