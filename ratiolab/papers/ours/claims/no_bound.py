"""Policies without a constant: MC-SF with arrivals, smallest volume and MC-SF with any prompts; and
the constant that smallest volume first has when no request fills the memory.
"""

from collections.abc import Callable
from fractions import Fraction

from ratiolab.model import Instance, Schedule, require_feasible, stream
from ratiolab.online import make, simulate
from ratiolab.papers.claim import PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.theory.worst_case.any_prompts import (
    Family,
    fat_before_thin,
    svf_constant,
    thin_before_fat,
)
from ratiolab.theory.worst_case.equal_prompts import long_first


def recheck_arrivals() -> str:
    """Run MC-SF on 400 tokens with one long and three short requests; judge the other schedule."""
    case = long_first(4, 200)
    instance = Instance("long first", 400, case.arrivals, [200] * 4, case.outputs)
    latency = simulate(instance, make("mc-sf")).schedule.total_latency
    better = require_feasible(Schedule.from_starts(instance, [4, 1, 2, 3])).total_latency
    assert (latency, better) == (case.mc_sf, case.better) == (803, 210)
    return f"MC-SF {latency}, a feasible schedule {better}: {latency / better:.3f} with 4 requests"


@PAPER.claim(
    claimed=lambda n: n - Fraction(1, 2),
    control=lambda n: n + Fraction(1, 2),
    recheck=recheck_arrivals,
)
def mc_sf_arrivals(needed: Callable[[int], Fraction]) -> ClaimResult:
    """With arrivals over time MC-SF pays order n: four requests cost 803 where 210 suffices, and
    the ratio of n requests tends to n.

    Source: MC-SF with arrivals over time
    Assumes: equal prompts, exact predictions, arrivals at 0 and 1
    Assumes: no evictions
    Proof: mc_sf_arrivals
    Evidence: the long request fills the memory that each short one needs
    """
    short = []
    for n in range(1, 8):
        case = long_first(n, 12)
        instance = Instance("long", case.memory, case.arrivals, [12] * n, case.outputs)
        starts = [n, *range(1, n)] if n > 1 else [0]
        better = require_feasible(Schedule.from_starts(instance, starts))
        assert simulate(instance, make("mc-sf")).schedule.total_latency == case.mc_sf
        assert better.total_latency == case.better - (n == 1)
        limit = long_first(n, 10**6)
        if Fraction(limit.mc_sf, limit.better) < needed(n):
            short.append(n)
    four = long_first(4, 200)
    return decided(
        not short,
        PROVED if not short else WITNESSED,
        f"{four.mc_sf}/{four.better} = {four.mc_sf / four.better:.3f} for n = 4; more for longer "
        "long requests",
        witness=f"n = {short[0]}: below" if short else None,
    )


def _judged(family: Family, policy: str) -> tuple[int, int]:
    """Return latencies of the policy and of the other order, simulated and judged."""
    (first, second) = family.requests
    columns = [
        (prompt, output) for prompt, output, number in family.requests for _ in range(number)
    ]
    prompts, outputs = zip(*columns, strict=True)
    nothing = [0] * len(columns)
    instance = Instance("any prompts", family.memory, nothing, prompts, outputs)
    if second[0]:  # fat requests last in the file: one in each round, then the thin one
        starts = [second[2]] * first[2] + list(range(second[2]))
    else:  # thin ones at once, then the fat ones, one in each round
        starts = [second[1] + k for k in range(first[2])] + [0] * second[2]
    better = require_feasible(Schedule.from_starts(instance, starts)).total_latency
    return simulate(instance, make(policy)).schedule.total_latency, better


def recheck_svf() -> str:
    """Run smallest volume first on 4096 tokens with one thin and five fat requests."""
    latency, better = _judged(thin_before_fat(5, 90), "svf")
    assert (latency, better) == (555, 110), (latency, better)
    return f"SVF {latency}, a feasible schedule {better}: {latency / better:.3f} with 6 requests"


@PAPER.claim(
    claimed=lambda n: n - Fraction(1, 2), control=lambda n: n + Fraction(1, 2), recheck=recheck_svf
)
def svf_any_prompts(needed: Callable[[int], Fraction]) -> ClaimResult:
    """Smallest volume first pays order n when one request may fill the memory: 555 where 110
    suffices with 6 requests, and the ratio of n requests tends to n.

    Source: smallest volume first with any prompts
    Assumes: all requests at round 0, any prompts, the memory of one largest request
    Assumes: SVF as read here; the paper claims constants for high concurrency, which this is not
    Proof: no_bound_any_prompts
    Evidence: the thin request has the least volume and leaves no room for a fat one
    """
    short = []
    for n in range(2, 9):
        small = thin_before_fat(n - 1, 12 * n)
        assert _judged(small, "svf") == (small.policy, small.better)
        limit = thin_before_fat(n - 1, 10**6)
        if Fraction(limit.policy, limit.better) < needed(n):
            short.append(n)
    return decided(
        not short,
        PROVED,
        "555/110 = 5.045 for n = 6, M = 4096; more for longer thin requests",
        witness=f"n = {short[0]}: below" if short else None,
    )


@PAPER.claim(claimed=Fraction(2, 5), control=Fraction(3, 5))
def mc_sf_any_prompts(factor: Fraction) -> ClaimResult:
    """With prompts of any size MC-SF pays order sqrt(n): at least (2/5) N for N^2 + N requests.

    Source: MC-SF with any prompts
    Assumes: all requests at round 0, any prompts, the memory of one largest request
    Proof: no_bound_any_prompts
    Evidence: the fat requests have the shortest output, and all thin ones could run before
    """
    broken = []
    for fat in (2, 3, 5, 9, 1000):
        family = fat_before_thin(fat)
        if fat < 10:
            assert _judged(family, "mc-sf") == (family.policy, family.better)
        if family.policy <= factor * fat * family.better:
            broken.append(fat)
    nine = fat_before_thin(9)
    return decided(
        not broken,
        PROVED,
        f"{nine.policy}/{nine.better} = {nine.policy / nine.better:.3f} for 90 requests",
        witness=f"N = {broken[0]}: below" if broken else None,
    )


def recheck_filled() -> str:
    """Judge the family whose requests fill the memory."""
    latency, better = _judged(thin_before_fat(5, 90), "svf")
    assert latency > 5 * better
    return f"SVF {latency}, a feasible schedule {better}: {latency / better:.3f} with 6 requests"


@PAPER.claim(claimed=Fraction(1, 2), control=Fraction(1), recheck=recheck_filled)
def svf_headroom(share: Fraction) -> ClaimResult:
    """When no request ever holds more than half of the memory, smallest volume first is at most 5
    times the optimum, with prompts of any size.

    Source: SVF with headroom
    Assumes: all requests at round 0
    Assumes: exact predictions
    Assumes: no evictions
    Proof: no_bound_any_prompts
    """
    constant = svf_constant(share)
    if constant is None:
        latency, better = _judged(thin_before_fat(5, 90), "svf")
        return decided(
            latency <= 5 * better,
            WITNESSED,
            f"{latency}/{better} with 6 requests; five of them fill the memory",
            witness=f"{latency}/{better} = {latency / better:.3f}",
        )
    rng = stream(0, "cases")
    memory, waits = 60, Fraction(0)
    for _ in range(200):
        prompts = rng.integers(0, 20, 40)
        outputs = rng.integers(1, 31 - prompts)
        instance = Instance("drawn", memory, [0] * 40, prompts, outputs)
        starts = simulate(instance, make("svf")).schedule.starts
        order = starts.argsort(kind="stable")
        volumes = instance.volume[order]
        for j in range(1, 40):
            most = Fraction(2 * int(volumes[:j].sum()), memory) / (1 - share)
            waits = max(waits, Fraction(int(starts[order[j]])) / most)
    return decided(
        constant <= 5 and waits <= 1,
        PROVED,
        f"1 + 2/(1 - alpha) when peaks are at most alpha M: {constant} at {share}",
        evidence="while a request waits, the peaks of those before it that run sum to more than "
        f"(1 - alpha) M; in 200 drawn instances waits are at most {float(waits):.2f} of what "
        "follows",
    )
