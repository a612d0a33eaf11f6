"""Chen et al., Proposition EC.1 and Example EC.1: packed schedules, their orders and delays.

By the proposition memory beta M costs at most a factor 1/beta. It does not hold: its proof has at
each moment beta times as many requests running. But requests are not divisible: with one token
less, what ran beside another request may have to wait for its end. Two requests of one token
already show it. A long one in front doubles the latency while beta tends to 1: lengths 1 and s + 1
start together in memory 2 s + 2 and cost s + 2, but in 2 s + 1 the short one waits for the long
one, and they cost 2 s + 3.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._packing import (
    fits,
    is_delayed,
    is_packed,
    latency,
    packed_schedules,
    same_order,
)
from ratiolab.papers.claim import EXACT, WITNESSED, ClaimResult, decided
from ratiolab.papers.witness import read_witness

Factor = Callable[[Fraction, int], Fraction]
NAME = "chen2025-proposition-ec1"


def _cases(slow: bool) -> list[tuple[int, tuple[int, ...], int, int]]:
    """Return (prompt, outputs, memory, less memory) for two requests, and for three when slow."""
    cases = []
    for n, longest in ((2, 3), (3, 3)) if slow else ((2, 3),):
        for prompt, outputs in product((1, 2), product(range(1, longest + 1), repeat=n)):
            needed = prompt + max(outputs)
            enough = sum(prompt + o for o in outputs)
            for less in range(needed, enough):
                cases += [(prompt, outputs, memory, less) for memory in range(less + 1, enough + 1)]
    return cases


def long_in_front(prompt: int) -> tuple[Fraction, Fraction]:
    """Return (beta, TEL(I') / TEL(I)) of lengths 1 and s + 1 in memory 2 s + 2, and in one less.

    >>> long_in_front(1)
    (Fraction(3, 4), Fraction(5, 3))
    """
    outputs, memory = (prompt + 1, 1), 2 * prompt + 2
    full, reduced = (0, 0), (0, prompt + 1)
    for starts, available in ((full, memory), (reduced, memory - 1)):
        assert fits(prompt, outputs, starts, available)
        assert is_packed(prompt, outputs, starts, available)
    ratio = Fraction(latency(outputs, reduced), latency(outputs, full))
    return Fraction(memory - 1, memory), ratio


def recheck() -> str:
    """Read the witness and verify feasibility, packing, order and the two latencies."""
    found = read_witness(NAME)
    instance, figures = found.instance, found.figures
    outputs = instance.output.tolist()
    prompt = int(instance.prompt[0])
    assert set(instance.prompt.tolist()) == {prompt}
    less = int(figures["reduced_memory"])
    full = found.schedule("full")
    smaller = Instance(instance.name, less, instance.arrival, instance.prompt, instance.output)
    reduced = require_feasible(Schedule.from_starts(smaller, found.schedules["reduced"]))
    assert is_packed(prompt, outputs, found.schedules["full"], instance.memory)
    assert is_packed(prompt, outputs, found.schedules["reduced"], less)
    assert same_order(found.schedules["full"], found.schedules["reduced"])
    assert full.total_latency == figures["latency"]
    assert reduced.total_latency == figures["reduced_latency"]
    bound = Fraction(instance.memory, less) * full.total_latency
    assert bound == Fraction(figures["bound"]) < reduced.total_latency
    beta, ratio = long_in_front(1000)
    assert ratio * beta > Fraction(199, 100)
    return (
        f"latency {full.total_latency} in memory {instance.memory}, {reduced.total_latency} > "
        f"{bound} in memory {less}; a long request in front: 1.99 times the bound"
    )


# A packed schedule never idles, so each of its n latencies is at most the sum of the outputs.
@PAPER.claim(claimed=lambda beta, n: 1 / beta, control=lambda _, n: Fraction(n), recheck=recheck)
def proposition_ec1(claimed: Factor, slow: bool) -> ClaimResult:
    """Take two optimally packed schedules that preserve the corresponding order, one in memory M
    and one in memory beta M. The second has at most 1/beta times the latency of the first.

    Source: Proposition EC.1, p. 32
    Verdict: false
    Assumes: Definitions EC.1 and EC.2 literally
    Assumes: all requests arrive at round 0
    Assumes: s > 0
    Evidence: complete enumeration of optimally packed schedules that preserve the corresponding
        order; a long request in front makes the quotient tend to 2 as beta tends to 1
    """
    worst, pairs, violated = Fraction(0), 0, 0
    smallest = ""
    for prompt, outputs, memory, less in _cases(slow):
        full = [(latency(outputs, i), i) for i in packed_schedules(prompt, outputs, memory)]
        for reduced in packed_schedules(prompt, outputs, less):
            cost = latency(outputs, reduced)
            for base, starts in full:
                if not same_order(starts, reduced):
                    continue
                pairs += 1
                quotient = cost / (claimed(Fraction(less, memory), len(outputs)) * base)
                worst = max(worst, quotient)
                if quotient > 1:
                    violated += 1
                    smallest = smallest or (
                        f"s = {prompt}, o = {outputs}, M = {memory}: {base} with starts {starts}, "
                        f"but {cost} in memory {less} with starts {reduced}"
                    )
    return decided(
        not violated,
        WITNESSED if violated else f"{pairs} pairs of schedules",
        f"violated by {violated} of {pairs} pairs; largest TEL(I') / (factor TEL(I)) is {worst}",
        witness=smallest,
    )


OUTPUTS = (1, 2, 3, 4)
I_1, I_2, I_3 = (0, 2, 0, 3), (1, 1, 0, 3), (0, 0, 0, 2)


class Example(NamedTuple):
    """Memory, the optimal total latency, and (earlier, later) pairs said to be delayed."""

    memory: int
    optimum: int
    delayed: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@PAPER.claim(
    claimed=Example(7, 12, ((I_3, I_1), (I_3, I_2))),
    control=Example(7, 12, ((I_3, I_1), (I_3, I_2), (I_1, I_2))),
)
def example_ec1(claimed: Example) -> ClaimResult:
    """With M = 7, s = 1 and o = (1, 2, 3, 4), the schedules I1, I2, I3 preserve the corresponding
    order pairwise; I3 is optimal; I1 and I2 are delayed relative to I3 but neither of them relative
    to the other.

    Source: Example EC.1, p. 31
    Assumes: all requests arrive at round 0
    Evidence: definitions applied to all pairs; the optimum by complete enumeration
    """
    schedules = (I_1, I_2, I_3)
    feasible = all(fits(1, OUTPUTS, starts, claimed.memory) for starts in schedules)
    ordered = same_order(I_1, I_2) and same_order(I_1, I_3) and same_order(I_2, I_3)
    delays = tuple((a, b) for a in schedules for b in schedules if a != b and is_delayed(b, a))
    optimum = brute_force(Instance("EC.1", claimed.memory, [0] * 4, [1] * 4, OUTPUTS)).total_latency
    agrees = (
        feasible
        and ordered
        and set(delays) == set(claimed.delayed)
        and latency(OUTPUTS, I_3) == claimed.optimum == optimum
    )
    return decided(
        agrees,
        EXACT,
        f"optimum {optimum}, I3 has {latency(OUTPUTS, I_3)}; {len(delays)} pairs are delayed; "
        f"all feasible: {feasible}; orders correspond: {ordered}",
    )
