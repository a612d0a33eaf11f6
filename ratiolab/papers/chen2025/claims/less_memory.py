"""Chen et al., Lemma EC.1 and Eq. (EC.7): A_max and A_random in memory M and in memory alpha M.

The proof of the lemma compares memory per request, s + l against s + u, as if requests were
divisible. When s + u does not divide M, A_max leaves a part of the memory unused that A_random,
knowing the true lengths, can fill by starting a second request a little later.

The proof of Theorem 1 takes Eq. (EC.7), that A_random in memory alpha M costs at most 1/alpha times
as much, from Proposition EC.1, printing (EC.10) with the memories exchanged; as printed, (EC.10)
bounds the wrong side, and the next line uses it the right way round.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple

from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._packing import mean, order_latencies
from ratiolab.papers.claim import WITNESSED, ClaimResult, decided
from ratiolab.papers.witness import Witness, read_witness

NAME = "chen2025-lemma-ec1"


class Case(NamedTuple):
    """Prompt, interval, memory M and its part alpha M, both integers, and output lengths."""

    prompt: int
    interval: tuple[int, int]
    memory: int
    less: int
    outputs: tuple[int, ...]

    def __str__(self) -> str:
        """Return the case in the paper's letters."""
        return (
            f"s = {self.prompt}, [l, u] = {list(self.interval)}, M = {self.memory}, "
            f"o = {self.outputs}"
        )

    def means(self) -> tuple[Fraction, Fraction]:
        """Return the exact mean latency of A_max in memory M and of A_random in memory alpha M."""
        a_max = order_latencies("a-max", self.prompt, self.memory, self.outputs, self.interval)
        a_random = order_latencies("a-random", self.prompt, self.less, self.outputs, self.interval)
        return mean(a_max), mean(a_random)


def is_divisible(case: Case) -> bool:
    """Return whether A_max's reservations s + u can fill the memory."""
    return case.memory % (case.prompt + case.interval[1]) == 0


def small_cases(longest: int) -> Iterator[Case]:
    """Yield two or three requests, s of 1 or 2, u up to `longest`, memory for at most three.

    Section 2 of the paper assumes s > 0.
    """
    for n in (2, 3):
        for prompt in (1, 2):
            for upper in range(2, longest + 1):
                for lower in range(1, upper + 1):
                    for memory in range(prompt + upper, 3 * (prompt + upper) + 1):
                        less, rest = divmod(lower * memory, upper)
                        if rest:
                            continue
                        top = min(upper, less - prompt)
                        for outputs in combinations_with_replacement(range(lower, top + 1), n):
                            yield Case(prompt, (lower, upper), memory, less, outputs)


def read_case(found: Witness) -> Case:
    """Read the case of a witness with one prompt length, one interval, a figure for alpha M."""
    instance, less = found.instance, int(found.figures["reduced_memory"])
    assert instance.lower is not None
    assert instance.upper is not None
    columns = (instance.prompt, instance.lower, instance.upper)
    assert all(len(set(column.tolist())) == 1 for column in columns)
    prompt, lower, upper = (int(column[0]) for column in columns)
    assert less * upper == lower * instance.memory
    return Case(prompt, (lower, upper), instance.memory, less, tuple(instance.output.tolist()))


def recheck() -> str:
    """Replay both policies on the witness: equal requests have one order, so nothing is random."""
    found = read_witness(NAME)
    instance, figures = found.instance, found.figures
    case = read_case(found)
    a_max, a_random = case.means()
    assert a_max == found.schedule("a-max").total_latency == figures["a_max"]
    smaller = Instance(instance.name, case.less, instance.arrival, instance.prompt, instance.output)
    reduced = require_feasible(Schedule.from_starts(smaller, found.schedules["a-random"]))
    assert a_random == reduced.total_latency == figures["a_random"]
    assert a_max > a_random
    return f"{case}: A_max {a_max}, A_random in {case.less} {a_random}"


@PAPER.claim(claimed=lambda case: True, control=is_divisible, recheck=recheck)
def lemma_ec1(claimed: Callable[[Case], bool], slow: bool) -> ClaimResult:
    """The expected total latency of A_max in memory M is at most that of A_random in memory alpha
    M.

    Source: Lemma EC.1, p. 35
    Verdict: false
    Assumes: A_max as printed with Eq. (3), every output taken as u; A_random is Algorithm 4
    Assumes: alpha M is an integer and holds every single request; the lemma has no O(1/M) term
    """
    tested, violated, rounding, worst, first = 0, 0, 0, Fraction(0), ""
    for case in filter(claimed, small_cases(10 if slow else 8)):
        a_max, a_random = case.means()
        tested += 1
        worst = max(worst, a_max / a_random)
        if a_max > a_random:
            violated += 1
            rounding += not is_divisible(case)
            first = first or f"{case}: A_max {a_max}, A_random in {case.less} {a_random}"
    return decided(
        not violated,
        WITNESSED if violated else f"{tested} cases",
        f"violated in {violated} of {tested} cases; largest quotient {worst}",
        evidence=f"exact means over all orders; {rounding} of the violations have an M that s + u "
        "does not divide",
        witness=first,
    )


RANDOM = "chen2025-equation-ec7"


def means(case: Case) -> tuple[Fraction, Fraction]:
    """Return the exact mean latency of A_random in memory alpha M, and in memory M."""
    less, full = (
        order_latencies("a-random", case.prompt, memory, case.outputs, case.interval)
        for memory in (case.less, case.memory)
    )
    return mean(less), mean(full)


def recheck_random() -> str:
    """Replay A_random in both orders and both memories."""
    found = read_witness(RANDOM)
    figures, case = found.figures, read_case(found)
    less, full = means(case)
    assert (less, full) == (Fraction(figures["reduced"]), Fraction(figures["full"]))
    assert found.schedule("full").total_latency == full
    lower, upper = case.interval
    assert less > Fraction(upper, lower) * full
    return f"mean {full} in {case.memory}, {less} > {upper}/{lower} of that in {case.less}"


@PAPER.claim(
    claimed=lambda case: Fraction(case.interval[1], case.interval[0]),
    # A_random never idles, so each of n latencies is at most the sum of the outputs.
    control=lambda case: Fraction(len(case.outputs)),
    recheck=recheck_random,
)
def equation_ec7(claimed: Callable[[Case], Fraction], slow: bool) -> ClaimResult:
    """The expected total latency of A_random in memory alpha M is at most 1/alpha times that in
    memory M.

    Source: Eq. (EC.7), p. 35
    Verdict: false
    Assumes: A_random is Algorithm 4
    Assumes: alpha M is an integer and holds every single request
    Evidence: exact means over all orders of two or three requests. Eq. (EC.10), p. 39, from which
        the proof of Theorem 1 takes it, is printed with the memories exchanged; the witness says
        nothing about (EC.10) as printed
    """
    tested, violated, worst, first = 0, 0, Fraction(0), ""
    for case in small_cases(7 if slow else 5):
        less, full = means(case)
        tested += 1
        quotient = less / (claimed(case) * full)
        worst = max(worst, quotient)
        if quotient > 1:
            violated += 1
            first = first or (
                f"s = {case.prompt}, [l, u] = {list(case.interval)}, o = {case.outputs}: "
                f"{full} in M = {case.memory}, {less} in {case.less}"
            )
    return decided(
        not violated,
        WITNESSED if violated else f"{tested} cases",
        f"violated in {violated} of {tested} cases; largest quotient of the two sides {worst}",
        witness=first,
    )
