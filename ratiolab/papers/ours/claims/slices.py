"""GBA and GSA, as they are read here: families that cost 4 and 8 times the optimum."""

from collections.abc import Sequence
from fractions import Fraction

from ratiolab.model import Instance, Schedule, require_feasible, stream, volume
from ratiolab.online import make, simulate
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.theory.limits.slices import gba_ratio, gsa_ratio, halving_family

PLACE = "slices that double"
PROOF = "slices_lower_bounds"
MODEL = (
    "all requests at round 0; lengths fixed, n and M to infinity with many rounds beside one",
    "the policy simulated here, read from an abstract: the paper's own may differ",
)
NEAR = Fraction(1, 100)


def member(counts: Sequence[tuple[int, int]], batches: int) -> tuple[Instance, int]:
    """Return a finite member, without prompts, and the latency of a feasible schedule of it.

    Memory is ``batches`` volumes of the longest; each length starts as many a round as its volume
    allows, shortest first, when the length before is done.
    """
    memory = batches * volume(0, counts[-1][0])
    starts: list[int] = []
    free = 0
    for length, number in counts:
        rate = memory // volume(0, length)
        starts += [free + k // rate for k in range(number)]
        free = starts[-1] + length
    outputs = [length for length, number in counts for _ in range(number)]
    nothing = [0] * len(outputs)
    instance = Instance("slices", memory, nothing, nothing, outputs)
    better = require_feasible(Schedule.from_starts(instance, starts))
    return instance, better.total_latency


def on_the_clock(schedule: Schedule, first: int) -> bool:
    """Tell whether each run starts no earlier than the volumes of the slices before it allow.

    ``first`` is the least slice; each further run of a request has twice that of the one before.
    """
    slices: dict[int, int] = {}
    clock = 0
    for run in sorted(schedule.runs, key=lambda run: run.start):
        if run.start < clock // schedule.instance.memory:
            return False
        slices[run.request] = 2 * slices[run.request] if run.request in slices else first
        clock += volume(0, slices[run.request])
    return True


def played(policy: str, counts: Sequence[tuple[int, int]], first: int) -> str:
    """Return the ratio of a simulated member to a feasible schedule, in words."""
    instance, better = member(counts, 4 if policy == "gsa" else 2)
    schedule = simulate(instance, make(policy)).schedule
    assert on_the_clock(schedule, first), f"{policy} starts before its clock"
    found = Fraction(schedule.total_latency, better)
    return f"{float(found):.3f} simulated with n = {len(instance)}, M = {instance.memory}"


@PAPER.claim(PLACE, claimed=4, control=5, assumes=MODEL, proof=PROOF)
def gba_family(claimed: int) -> ClaimResult:
    """GBA costs up to 4 times the optimum on equal requests of output 2**j + 1, and by its clock
    never more.

    Evidence: a request just above a slice is given the next one, of four times its volume
    """
    values = [gba_ratio(level) for level in range(30)]
    most = max(volume(0, 1 << (o - 1).bit_length()) / volume(0, o) for o in range(1, 5000))
    return decided(
        values[-1] >= claimed - NEAR and most <= claimed,
        PROVED,
        f"{float(values[5]):.4f} at outputs 33, {float(values[-1]):.6f} at 2^29 + 1; at most "
        f"{most:.4f} for outputs below 5000; {played('gba', [(33, 2000)], 64)}",
        witness=f"at most {float(values[-1]):.4f}",
    )


@PAPER.claim(PLACE, claimed=8, control=9, assumes=MODEL, proof=PROOF)
def gsa_family(claimed: int, slow: bool) -> ClaimResult:
    """GSA costs up to 8 times the optimum on lengths just above its slices, half as many for each
    doubling, and by its clock never more.

    Evidence: every phase makes all unfinished requests wait for the volumes of its slices; those of
        all phases before the last one are lost
    """
    far = gsa_ratio(halving_family(14, 400))
    rng = stream(11, "cases")
    most = far
    for _ in range(2000 if slow else 200):
        lengths = sorted({int(rng.integers(1, 2 ** int(rng.integers(1, 14)))) for _ in range(6)})
        weights = [int(w) for w in rng.integers(1, 1000, len(lengths))]
        law = [(o, Fraction(w, sum(weights))) for o, w in zip(lengths, weights, strict=True)]
        most = max(most, gsa_ratio(law))
    return decided(
        far >= claimed - NEAR and most <= claimed,
        PROVED,
        f"{float(gsa_ratio(halving_family(4, 4))):.4f} with lengths 17 to 129, {float(far):.6f} "
        f"with 400 lengths from 2^14 + 1 on, more than any of {2000 if slow else 200} drawn "
        "distributions; " + played("gsa", [(9, 800), (17, 400), (33, 400)], 1),
        witness=f"at most {float(most):.4f}",
    )
