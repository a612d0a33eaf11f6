"""Draws as Section 5.1 describes them, each with a schedule better than MC-SF's.

Seeds of the generator are stored with schedules that a long annealing over orders found; any
feasible schedule bounds the optimum from above, hence MC-SF's ratio from below, and the judge of
schedules is all that a reader has to trust. The rejected hypothesis is that the distribution, as
described, produces the reported figures; the paper's own draws are not known.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, sqrt
from statistics import mean, variance
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ratiolab.hindsight.cells.master import serial_schedule
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.claim import NOT_REPRODUCED, UNDECIDED, ClaimResult
from ratiolab.papers.witness import Witness, read_witness
from ratiolab.workloads.generators import generate

Model: TypeAlias = Literal[1, 2]
STORED: dict[Model, int] = {1: 20, 2: 80}
"""Stored draws: all seeds from 0."""

LOOKS: dict[Model, tuple[range, ...]] = {1: (range(20),), 2: (range(20), range(20, 80))}
"""Seeds that were judged, look by look; the last look decides.

Model 2 was left undecided by its first 20 draws. Its second look, at seeds not looked at before,
was fixed before any of their ratios was computed; each look pays for the others.
"""

DRAWS = 200
LEVEL = 1e-4
"""Rejected: some figure makes our draws less likely than this over the number of figures and looks.

The level was fixed before any chance was computed.
"""


class Reported(NamedTuple):
    """Figures on the ratio MC-SF/OPT over 200 draws; `optimal` counts ratios of exactly 1."""

    mean: float
    worst: float
    optimal: int | None = None


def stored(model: Model) -> Iterator[Witness]:
    """Yield the stored draws, by seed."""
    for seed in range(STORED[model]):
        yield read_witness(f"jaillet2025-section-5-1-model-{model}-{seed:02d}")


def certified(witness: Witness) -> Fraction:
    """Return MC-SF over the stored schedule, which the judge has accepted: at most MC-SF/OPT."""
    latency = simulate(witness.instance, make("mc-sf")).schedule.total_latency
    better = witness.schedule("better").total_latency
    assert witness.figures == {"mc-sf": latency, "better": better}, (latency, better)
    return Fraction(latency, better)


def recheck(model: Model) -> str:
    """Verify that MC-SF is beaten by a feasible schedule on each stored draw."""
    ratios = [certified(witness) for witness in stored(model)]
    assert all(ratio > 1 for ratio in ratios)
    return (
        f"MC-SF is beaten on {len(ratios)} of {len(ratios)} draws, by {float(min(ratios) - 1):.1%} "
        f"to {float(max(ratios) - 1):.1%}"
    )


def improved_by_orders(instance: Instance) -> bool:
    """Return whether one of a few plain orders already beats MC-SF."""
    latency = simulate(instance, make("mc-sf")).schedule.total_latency
    keys = [instance.volume] + [instance.output + c * instance.prompt for c in (0, 0.5, 1, 2, 3)]
    orders = [np.argsort(key, kind="stable") for key in keys]
    return any(
        build(instance, order).total_latency < latency
        for order in orders
        for build in (list_schedule, serial_schedule)
    )


def chances(ratios: Sequence[float], reported: Reported) -> dict[str, tuple[str, float]]:
    """Return our draws' evidence against each reported figure, and its chance if that were right.

    The hypothesis: the paper's 200 ratios and ours are draws from one distribution. Ours may be
    lower bounds on ratios: then all chances are upper bounds, as long as they are small.

    Returns
    -------
    event and chance by figure: ``optimal`` (binomial), ``mean`` (t; the variance of theirs is the
    largest that the figures leave), ``worst`` (of the largest ratios of all, all are ours).
    """
    from scipy.stats import t

    n, beaten = len(ratios), sum(ratio > 1 for ratio in ratios)
    found = {}
    if reported.optimal is not None:
        rate = 1 - reported.optimal / DRAWS
        found["optimal"] = (
            f"{beaten} of {n} not optimal",
            sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(beaten, n + 1)),
        )
    # variance of numbers in [1, worst] with this mean: at most (mean - 1)(worst - mean)
    theirs = (reported.mean - 1) * (reported.worst - reported.mean) / DRAWS
    score = (mean(ratios) - reported.mean) / sqrt(variance(ratios) / n + theirs)
    found["mean"] = f"a mean of {mean(ratios):.4f} or more", float(t.sf(score, n - 1))
    above = sum(ratio > reported.worst for ratio in ratios)
    if above:
        found["worst"] = (
            f"the {above} largest of {n} + {DRAWS} ratios all ours",
            comb(n, above) / comb(n + DRAWS, above),
        )
    return found


def check(model: Model, reported: Reported, slow: bool) -> ClaimResult:
    """Decide by how likely our draws would be, were the reported figures the distribution's."""
    every = []
    for seed, witness in enumerate(stored(model)):
        drawn = generate(f"jaillet-model-{model}", seed)
        assert drawn.digest == witness.instance.digest, f"seed {seed} draws another instance"
        every.append(certified(witness))
    *earlier, seeds = LOOKS[model]
    ratios = [every[seed] for seed in seeds]
    n, values = len(ratios), [float(ratio) for ratio in ratios]
    beaten = sum(ratio > 1 for ratio in ratios)
    found = chances(values, reported)
    quick = 5 * DRAWS if slow else DRAWS
    draws = (generate(f"jaillet-model-{model}", seed) for seed in range(quick))
    improved = sum(map(improved_by_orders, draws))
    trials = len(found) * len(LOOKS[model])
    rejected = min(chance for _, chance in found.values()) * trials < LEVEL
    before = "".join(
        f" An earlier look, at seeds {look[0]} to {look[-1]}: "
        + "; ".join(
            f"{event}: {chance:.1e}"
            for event, chance in chances([float(every[i]) for i in look], reported).values()
        )
        + "."
        for look in earlier
    )
    return ClaimResult(
        NOT_REPRODUCED if rejected else UNDECIDED,
        f"{n} draws, each with a certified better schedule",
        f"MC-SF/OPT at least {mean(values):.4f} on average, {min(values):.4f} to "
        f"{max(values):.4f}; MC-SF optimal on at most {n - beaten} of {n}, and "
        f"on at most {quick - improved} of {quick}, where plain orders beat it on the others",
        evidence=f"chances of our draws, seeds {seeds[0]} to {seeds[-1]}, were the reported "
        "figures those of the described distribution: "
        + "; ".join(f"{event}: {chance:.1e}" for event, chance in found.values())
        + f". Rejected below {LEVEL:.0e} over {trials}, the number of figures and looks.{before} "
        "The optimum is not known on these draws: the true ratios can only be larger",
        witness=f"instances/witnesses/jaillet2025-section-5-1-model-{model}-{seeds[0]:02d}.json to "
        f"-{seeds[-1]:02d}.json"
        if rejected
        else None,
    )
