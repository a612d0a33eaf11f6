"""MC-SF with equal prompts, all requests at round 0: start times and constants."""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import Instance, Schedule, stream
from ratiolab.online import make, simulate
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.theory.worst_case.equal_prompts import (
    mc_sf_bound,
    optimum_bound,
    pair_volume,
    ratio_bound,
    ratio_bound_at,
    staggered,
    start_bounds,
)

PROOF = "mc_sf_constant"
EQUAL = (
    "all requests arrive at round 0 with the same prompt, and fit into memory one by one",
    "exact predictions",
)


class Case(NamedTuple):
    """Equal prompts; outputs ascending, predictions too, by default the outputs."""

    prompt: int
    outputs: tuple[int, ...]
    memory: int
    predicted: tuple[int, ...] = ()

    def instance(self) -> Instance:
        """Return the case as an instance with all requests at round 0."""
        n = len(self.outputs)
        upper = list(self.predicted or self.outputs)
        prompts = [self.prompt] * n
        return Instance("equal", self.memory, [0] * n, prompts, self.outputs, [1] * n, upper)

    def mc_sf(self) -> Schedule:
        """Return MC-SF's schedule when it believes the predictions."""
        return simulate(self.instance(), make("mc-sf", {"lengths": "upper"})).schedule

    def __str__(self) -> str:
        n, first = len(self.outputs), ", ".join(map(str, self.outputs[:5]))
        outputs = f"outputs {first}" + (f", ... ({n} in all)" if n > 5 else "")
        return f"s = {self.prompt}, M = {self.memory}, {outputs}"


class Known(NamedTuple):
    """A case, MC-SF's latency, and that of an optimal or at least of a better schedule, or a bound
    on them.
    """

    case: Case
    latency: int
    better: int | Fraction


Ratio = Callable[[Case], Fraction]


def largest_ratio(
    known: Iterable[Known], limit: Ratio, unit: Ratio = lambda _: Fraction(1)
) -> tuple[Fraction, str | None]:
    """Return MC-SF's largest ratio, in a unit, and the first case whose ratio exceeds the limit."""
    worst, broken = Fraction(0), None
    for case, latency, better in known:
        ratio = Fraction(latency) / better / unit(case)
        worst = max(worst, ratio)
        if ratio > limit(case) and broken is None:
            broken = str(case)
    return worst, broken


def small() -> Iterator[Case]:
    """Yield all multisets of up to 4 outputs to 4, three prompts, three memories from the peak
    on.
    """
    for n in range(1, 5):
        for outputs in combinations_with_replacement(range(1, 5), n):
            for prompt, more in product((0, 1, 4), (0, 1, 3)):
                yield Case(prompt, outputs, prompt + outputs[-1] + more)


def drawn(cases: int) -> Iterator[Case]:
    """Yield cases of up to 60 requests, memory from the largest peak to three times as much."""
    rng = stream(73, "cases")
    for _ in range(cases):
        longest, prompt = int(rng.choice([2, 7, 20, 60])), int(rng.choice([0, 1, 9, 60]))
        outputs = tuple(sorted(rng.integers(1, longest + 1, int(rng.integers(5, 61))).tolist()))
        peak = prompt + outputs[-1]
        yield Case(prompt, outputs, int(rng.integers(peak, 3 * peak + 1)))


def large(slow: bool) -> list[Case]:
    """Return cases in which only MC-SF is run: drawn ones, and equal requests in batches."""
    equal = [staggered(together, 1, batches) for together, batches in ((2, 40), (8, 30), (20, 20))]
    return [
        *drawn(600 if slow else 60),
        *(Case(0, (case.output,) * case.requests, case.memory) for case in equal),
    ]


@cache
def solved() -> tuple[Known, ...]:
    """Return the small cases with the latency of MC-SF and the optimum by brute force."""
    return tuple(
        Known(case, case.mc_sf().total_latency, brute_force(case.instance()).total_latency)
        for case in small()
    )


@PAPER.claim(claimed=Fraction(2), control=Fraction(9, 5), assumes=EQUAL, proof=PROOF)
def mc_sf_start_times(factor: Fraction, slow: bool) -> ClaimResult:
    """MC-SF starts request k, in order of output, in a round p_k <= (2/M) times the volume of the
    requests before it; so it costs at most 2 P/M + C.

    Source: start times of MC-SF
    Evidence: induction over k: the requests that block k hold memory whose volume pays for the wait
    """
    cases = [*small(), *large(slow)]
    worst, late = Fraction(0), None
    for case in cases:
        schedule = case.mc_sf()
        bounds = start_bounds(case.prompt, case.outputs, case.memory)
        starts = sorted(schedule.starts.tolist())
        for start, bound in zip(starts[1:], bounds[1:], strict=True):
            worst = max(worst, start / bound)
            if start > factor / 2 * bound and late is None:
                late = str(case)
        assert schedule.total_latency <= mc_sf_bound(case.prompt, case.outputs, case.memory)
    return decided(
        late is None,
        PROVED,
        f"starts reach {float(worst):.4f} of (2/M) times the volume before, in {len(cases)} cases",
        witness=late,
    )


def _check_ratio(bound: Ratio) -> ClaimResult:
    """Compare MC-SF with a multiple of the optimum, by brute force, and with own lower bounds."""
    for case, _, optimum in solved():
        assert optimum_bound(case.prompt, case.outputs, case.memory) <= optimum
    worst, broken = largest_ratio(solved(), bound)
    family = staggered(40, 1, 4000)
    # two of the family's equal requests say which bound is theirs
    many = Known(Case(0, (family.output,) * 2, family.memory), family.mc_sf, family.better)
    limit, beyond = largest_ratio([many], bound)
    if broken is None and beyond is not None:
        broken = f"{family.requests} equal requests of {family.output} tokens"
    return decided(
        broken is None,
        PROVED,
        f"up to {float(worst):.4f} in {len(solved())} small cases, {float(limit):.4f} for many "
        "equal requests",
        evidence="2 P/M + C above, P/M + V/(2M) + sum of o (3s + o)/(3 (2s + o)) and C below",
        witness=broken,
    )


@PAPER.claim(claimed=ratio_bound(), control=Fraction(19, 10), assumes=EQUAL, proof=PROOF)
def mc_sf_constant(constant: Fraction) -> ClaimResult:
    """MC-SF costs at most 7/3 times the optimum, for every memory.

    Source: constant of MC-SF
    """
    return _check_ratio(lambda _: constant)


@PAPER.claim(claimed=2, control=1, assumes=EQUAL, proof=PROOF)
def mc_sf_constant_with_prompt(base: int) -> ClaimResult:
    """MC-SF costs at most 2 + 1/(3 (1 + 2 s/o)) times the optimum: 19/9 at s = o, tending to 2.

    Source: constant of MC-SF
    Assumes: o is the longest output
    """
    return _check_ratio(lambda case: ratio_bound_at(case.prompt, case.outputs[-1]) - 2 + base)


@PAPER.claim(claimed=Fraction(2), control=Fraction(21, 20), assumes=EQUAL, proof=PROOF)
def mc_sf_constant_when_memory_is_large(constant: Fraction) -> ClaimResult:
    """MC-SF costs at most twice the optimum when P/M <= C/2.

    Source: constant of MC-SF
    Assumes: P/M <= C/2: requests can nearly all start at once
    Evidence: 2 P/M + C <= 2 C <= 2 OPT
    """
    ample = []
    for each in solved():
        case = each.case
        # P = sum over pairs of the smaller volume; the paper's A counts equal lengths both ways.
        before = start_bounds(case.prompt, case.outputs, case.memory)
        assert sum(before) * case.memory <= 2 * pair_volume(case.prompt, case.outputs)
        if sum(before) <= sum(case.outputs):
            ample.append(each)
    worst, broken = largest_ratio(ample, lambda _: constant)
    return decided(
        broken is None, PROVED, f"up to {float(worst):.4f} in {len(ample)} cases", witness=broken
    )


STRETCHES = (Fraction(3, 2), Fraction(2), Fraction(3))


@PAPER.claim(
    claimed=ratio_bound, control=lambda stretch: Fraction(3, 2), assumes=EQUAL[0], proof=PROOF
)
def mc_sf_constant_with_predictions(bound: Callable[[Fraction], Fraction]) -> ClaimResult:
    """With predictions from o to a o, MC-SF costs at most max(2 a^2, 1 + 4 a^2/3) times the
    optimum.

    Source: constant of MC-SF
    Assumes: o <= o' <= a o; MC-SF sorts by the predictions o' and plans with them
    Evidence: the start times hold with predicted volumes, where each pair counts the smaller, and
        vol(o') <= a^2 vol(o)
    """
    found, broken, cases = [], None, 0
    for stretch in STRETCHES:
        worst = Fraction(0)
        for outputs in combinations_with_replacement((1, 2, 4), 4):
            for mask in product((False, True), repeat=4):
                pairs = [
                    (int(stretch * o) if long else o, o)
                    for o, long in zip(outputs, mask, strict=True)
                ]
                predicted, true = zip(*sorted(pairs), strict=True)
                case = Case(0, true, max(predicted), predicted)
                latency = case.mc_sf().total_latency
                ratio = Fraction(latency, _least(tuple(sorted(true)), case.memory))
                worst, cases = max(worst, ratio), cases + 1
                if ratio > bound(stretch) and broken is None:
                    broken = f"M = {case.memory}, outputs {true}, predicted {predicted}"
        found.append(f"{float(worst):.4f} for a = {stretch}, at most {bound(stretch)}")
    return decided(broken is None, PROVED, "; ".join(found) + f", in {cases} cases", witness=broken)


@cache
def _least(outputs: tuple[int, ...], memory: int) -> int:
    return brute_force(Case(0, outputs, memory).instance()).total_latency
