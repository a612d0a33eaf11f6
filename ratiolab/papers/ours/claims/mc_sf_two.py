"""MC-SF with equal prompts, all requests at round 0: where the constant is 2, and whether it is."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from ratiolab.model.streams import stream
from ratiolab.papers.claim import FALSE, PROVED, UNDECIDED, ClaimResult, decided
from ratiolab.papers.ours import PAPER
from ratiolab.papers.ours.claims.mc_sf import (
    EQUAL,
    PROOF,
    Case,
    Known,
    drawn,
    largest_ratio,
    solved,
)
from ratiolab.papers.ours.price_bound import price_bound
from ratiolab.theory.worst_case.equal_prompts import (
    optimum_bound,
    ratio_bound_by_load,
    ratio_bound_of_equal,
    staggered,
    start_bounds,
)


def families() -> list[Known]:
    """Return many equal requests that should start one by one; MC-SF starts them in batches."""
    found = (staggered(k, 1, batches) for k, batches in ((8, 30), (20, 20), (30, 300)))
    return [
        Known(Case(0, (each.output,) * each.requests, each.memory), each.mc_sf, each.better)
        for each in found
    ]


def beside_a_bound(case: Case) -> Fraction:
    """Return MC-SF's latency over the larger of two proved bounds on the optimum."""
    proved = optimum_bound(case.prompt, case.outputs, case.memory)
    return Fraction(case.mc_sf().total_latency) / max(proved, Fraction(sum(case.outputs)))


@PAPER.claim(claimed=Fraction(2), control=Fraction(3, 2), assumes=EQUAL, proof=PROOF)
def mc_sf_constant_by_load(constant: Fraction) -> ClaimResult:
    """MC-SF costs at most min(1 + 2x, 2 + 1/(1 + 3x)) times the optimum, x = P/(M C).

    Source: constant of MC-SF
    Assumes: x = P/(M C)
    """

    def load(case: Case) -> Fraction:
        twice = sum(start_bounds(case.prompt, case.outputs, case.memory))
        return Fraction(twice) / (2 * sum(case.outputs))

    def limit(case: Case) -> Fraction:
        return min(1 + 2 * load(case), constant + 1 / (1 + 3 * load(case)))

    known = [*solved(), *families()]
    worst, broken = largest_ratio(known, lambda _: Fraction(1), limit)
    large = list(drawn(60))
    assert all(beside_a_bound(case) <= ratio_bound_by_load(load(case)) for case in large)
    return decided(
        broken is None,
        PROVED,
        f"quotients reach {float(worst):.4f} of it in {len(known)} cases, and stay below it beside "
        f"a bound on the optimum in {len(large)} larger ones",
        evidence="2 P/M + C above, P/M + C/3 and C below; 7/3 at x = 2/3 alone, 2 as x grows",
        witness=broken,
    )


def equals() -> Iterator[Case]:
    """Yield equal requests: few with all small memories, and many with drawn ones."""
    for prompt, output, n in product((0, 1, 3), (1, 2, 3), range(1, 5)):
        for memory in range(prompt + output, 3 * (prompt + output)):
            yield Case(prompt, (output,) * n, memory)
    rng = stream(74, "cases")
    for _ in range(40):
        prompt, output = int(rng.choice([0, 0, 3, 40])), int(rng.integers(2, 60))
        memory = int(rng.integers(prompt + output, 6 * (prompt + output)))
        yield Case(prompt, (output,) * int(rng.integers(2, 150)), memory)


@PAPER.claim(claimed=Fraction(1), control=Fraction(9, 10), assumes=EQUAL, proof=PROOF)
def mc_sf_constant_of_equal_requests(share: Fraction) -> ClaimResult:
    """For equal requests MC-SF costs at most 2 M/(m (s + o)) times the optimum: twice, when s + o
    divides M, and less than 2 + 2/m times for every M.

    Source: constant of MC-SF
    Assumes: equal outputs; m = floor(M/(s + o))
    Evidence: request k starts by round o floor((k-1)/m); full batches start before the limit of the
        volumes by o/2 on average, more than the o/3 that the general proof lacks
    """
    cases = list(equals())
    for case in cases:
        limit = ratio_bound_of_equal(case.prompt, case.outputs[0], case.memory)
        together = case.memory // (case.prompt + case.outputs[0])
        starts = sorted(case.mc_sf().starts.tolist())
        assert all(start <= case.outputs[0] * (k // together) for k, start in enumerate(starts))
        assert beside_a_bound(case) <= limit
    worst, broken = largest_ratio(
        families(),
        lambda _: share,
        lambda case: ratio_bound_of_equal(0, case.outputs[0], case.memory),
    )
    return decided(
        broken is None,
        PROVED,
        f"a family reaches {float(worst):.4f} of it; starts and latencies are within their bounds "
        f"in {len(cases)} cases",
        witness=broken,
    )


open_claim = partial(
    PAPER.claim,
    "constant of MC-SF",
    expected=UNDECIDED,
    claimed=Fraction(2),
    control=Fraction(3, 2),
    control_verdict=FALSE,
    assumes=EQUAL,
)


def _beside(
    bound: Callable[[Case], Fraction],
    cases: Sequence[Case],
    constant: Fraction,
    more: str,
    evidence: str,
) -> ClaimResult:
    """Compare MC-SF with a multiple of a proved lower bound, which no number of cases proves."""
    known = (Known(case, case.mc_sf().total_latency, bound(case)) for case in cases)
    worst, broken = largest_ratio(known, lambda _: constant)
    return ClaimResult(
        UNDECIDED if broken is None else FALSE,
        f"{len(cases)} cases, MC-SF beside a proved lower bound",
        f"at most {float(worst):.4f} times the bound{more}",
        evidence=evidence,
        witness=broken,
    )


@open_claim()
def mc_sf_twice_what_prices_prove(constant: Fraction, slow: bool) -> ClaimResult:
    """MC-SF costs at most twice the optimum, for every memory: more, at most twice the bound from
    the prices at which the volumes would be served one after the other.
    """
    rng = stream(75, "cases")
    cases = [Case(0, (9,) * 40, 18), Case(0, (19,) * 40, 38)]
    for _ in range(2000 if slow else 60):
        longest, prompt = int(rng.integers(2, 13)), int(rng.choice([0, 0, 1, 9]))
        outputs = tuple(sorted(rng.integers(1, longest + 1, int(rng.integers(2, 25))).tolist()))
        peak = prompt + outputs[-1]
        cases.append(Case(prompt, outputs, int(rng.integers(peak, 3 * peak + 1))))
    return _beside(
        lambda case: price_bound(case.prompt, case.outputs, case.memory),
        cases,
        constant,
        "; proved are 7/3, and 2 for equal requests if a whole number of them fits, and where "
        "P/M <= C/2",
        "no case contradicts it; the proof text says where a proof is stuck",
    )


def prefix_bound(case: Case) -> Fraction:
    """Return the largest bound on the optimum by the volumes of some shortest requests and the
    outputs of the others, and each takes as long as it runs.
    """
    rest, best = sum(case.outputs), Fraction(sum(case.outputs))
    for j, output in enumerate(case.outputs, 1):
        rest -= output
        shorter = optimum_bound(case.prompt, case.outputs[:j], case.memory)
        best = max(best, shorter + rest)
    return best


@open_claim()
def mc_sf_twice_what_prefixes_prove(constant: Fraction, slow: bool) -> ClaimResult:
    """MC-SF costs at most twice the optimum, for every memory: more, for some j at most twice the
    volume bound of the j shortest requests and the outputs of the others.
    """
    cases = [*few_longer(400 if slow else 40), *drawn(1000 if slow else 40)]
    return _beside(
        prefix_bound,
        cases,
        constant,
        "",
        "no case contradicts it; the proof text says what full batches gain, what spread lengths "
        "lose, and where a proof is lacking",
    )


def few_longer(cases: int) -> Iterator[Case]:
    """Yield cases without prompts: many equal requests, and a few longer ones."""
    rng = stream(76, "cases")
    for _ in range(cases):
        output, longest = int(rng.integers(1, 70)), int(rng.choice([20, 60, 200]))
        more = rng.integers(output, output + longest, int(rng.integers(1, 8))).tolist()
        outputs = (*[output] * int(rng.integers(5, 50)), *sorted(more))
        yield Case(0, outputs, int(rng.integers(outputs[-1], 4 * outputs[-1] + 1)))
