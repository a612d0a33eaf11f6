"""Jaillet et al., Section 4.1: which moments MC-SF has to look at, and what a round of it costs."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Literal, TypeAlias

from ratiolab.model import Instance, held, stream
from ratiolab.online import make, simulate
from ratiolab.papers.claim import PROVED, ClaimResult, decided, verdict_on_bound
from ratiolab.papers.jaillet2025 import PAPER

MEMORY = 9

Run = tuple[int, int, int]
"""Age, prompt, and tokens still to come."""


def needs(runs: tuple[Run, ...], ahead: int) -> int:
    """Return the tokens held ``ahead`` rounds ahead."""
    return sum(held(prompt, age + ahead) for age, prompt, left in runs if ahead <= left)


@PAPER.claim(claimed="every", control="last")
def completion_times(checked: str) -> ClaimResult:
    """It suffices to check the memory at the predicted completion times of the requests that run or
    are admitted.

    Source: Section 4.1, pp. 8-9
    Assumes: the requests that run and are admitted now, no later ones; predictions are believed
    Proof: completion_times
    """
    missed, cases = None, 0
    kinds = list(product((0, 1, 2), (0, 2), (1, 2, 4)))
    for runs in product(kinds, repeat=3):
        ends = sorted({left for _, _, left in runs})
        seen = ends if checked == "every" else ends[-1:]
        cases += 1
        passes = all(needs(runs, end) <= MEMORY for end in seen)
        fits = all(needs(runs, ahead) <= MEMORY for ahead in range(1, ends[-1] + 1))
        if passes != fits and missed is None:
            missed = f"(age, prompt, left) = {runs}, M = {MEMORY}"
    return decided(
        missed is None,
        PROVED,
        "equal to a check of every round" if missed is None else f"not for {missed}",
        evidence=f"{cases} sets of three compared",
        witness=missed,
    )


Order: TypeAlias = Literal["quadratic", "linear", "harmonic"]


def harmonic(memory: int) -> Fraction:
    """Return H_M = 1 + 1/2 + ... + 1/M."""
    return sum((Fraction(1, i) for i in range(1, memory + 1)), Fraction(0))


LIMITS: dict[Order, Callable[[int], Fraction]] = {
    "quadratic": lambda memory: Fraction(3 * memory * memory),
    "linear": lambda memory: Fraction(3 * memory),
    "harmonic": lambda memory: 2 * memory * harmonic(memory) + memory,
}


def run(memory: int, requests: list[tuple[int, int]]) -> tuple[list[int], int]:
    """Run MC-SF on (prompt, output) at round 0: return starts, and the most steps of a round.

    A round lays the running requests into a profile of future memory, then lets each candidate
    look at its own rounds and, admitted, add itself to them; a step is one entry read or written.
    """
    order = sorted(range(len(requests)), key=lambda i: requests[i][1])
    starts, now, position, most = [0] * len(requests), 0, 0, 0
    running: list[int] = []
    while position < len(order):
        steps, profile = 0, [0] * (memory + 1)
        running = [i for i in running if starts[i] + requests[i][1] > now]
        for i in running:
            for age in range(now - starts[i] + 1, requests[i][1] + 1):
                profile[starts[i] + age - now] += requests[i][0] + age
                steps += 1
        while position < len(order):
            prompt, output = requests[order[position]]
            steps += output
            if any(profile[k] + prompt + k > memory for k in range(1, output + 1)):
                break
            for k in range(1, output + 1):
                profile[k] += prompt + k
            steps += output
            starts[order[position]] = now
            running.append(order[position])
            position += 1
        most, now = max(most, steps), now + 1
    return starts, most


@PAPER.claim(claimed="quadratic", control="linear")
def proposition_4_2(claimed: Order, slow: bool) -> ClaimResult:
    """A round of MC-SF costs O(M**2), however many requests wait.

    Source: Proposition 4.2, p. 9, proof p. 28
    Verdict: tightened
    Assumes: the waiting requests are at hand in order of length: keeping them so is not counted
    Assumes: sums of (5) are kept in a profile of future memory
    Proof: proposition_4_2
    """
    rng = stream(0, "cases")
    sizes = (8, 16, 32, 64, 128) + ((256, 512) if slow else ())
    exceeded, proven_holds, most = None, True, 0
    for memory in sizes:
        # as many requests of each length as fit: memory // i of them are at least i long
        filling = [
            (0, i) for i in range(1, memory + 1) for _ in range(memory // i - memory // (i + 1))
        ]
        drawn = [(int(s), 1 + int(rng.integers(memory - s))) for s in rng.integers(0, 4, 60)]
        for requests in (filling, drawn):
            starts, steps = run(memory, requests)
            prompts, outputs = zip(*requests, strict=True)
            instance = Instance("round", memory, [0] * len(requests), prompts, outputs)
            assert simulate(instance, make("mc-sf")).schedule.starts.tolist() == starts
            proven_holds &= steps <= LIMITS["harmonic"](memory)
            most = max(most, steps)
            if steps > LIMITS[claimed](memory) and exceeded is None:
                exceeded = f"M = {memory}: {steps} steps"
    literal = sum(k * k for k in range(1, sizes[-1] + 1))
    return ClaimResult(
        verdict_on_bound(exceeded is not None, proven_holds, claimed == "harmonic"),
        f"M up to {sizes[-1]}" if exceeded else PROVED,
        f"M (2 H_M + 1) steps, O(M log M); at most {most} counted at M = {sizes[-1]}",
        evidence="evaluating (5) term by term, as Algorithm 1 is printed, would not meet the "
        f"bound: M admitted requests of length 1 take {literal} terms at M = {sizes[-1]}, about "
        "M**3/3",
        witness=exceeded,
    )
