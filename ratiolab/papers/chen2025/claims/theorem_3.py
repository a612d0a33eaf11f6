"""Chen et al., Theorem 3: A_min costs O(M log M).

The proof says that at most M/s prompts are concurrent and sorts those. What the pseudo-code sorts
in every round is R_t, the waiting requests, and these number up to n, whatever M is.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log2
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model import Instance
from ratiolab.online import Information, make, simulate
from ratiolab.online.policy import Policy, Setting
from ratiolab.online.view import Decision, View
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.claim import FALSE, ClaimResult, decided

Bound = Callable[[int, int], float]
MEMORY, PROMPT = 16, 1


@dataclass(frozen=True)
class _Counting(Policy):
    """A_min, noting how many requests Algorithm 2 sorts in each round it is asked in."""

    sorted_requests: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)

    name: ClassVar[str] = "a-min"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 2, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.LOWER_BOUND

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        decide = make("a-min").start(setting, rng)

        def counted(view: View) -> Decision:
            self.sorted_requests.append(len(view.waiting))
            self.running.append(len(view.running))
            return decide(view)

        return counted


def counts(requests: int) -> tuple[int, int]:
    """Return the most requests sorted in a round, and most that run at once, for outputs 1, 2, 3 in
    turn.
    """
    outputs = [1 + i % 3 for i in range(requests)]
    ones = [1] * requests
    instance = Instance("counted", MEMORY, [0] * requests, ones, outputs, lower=ones)
    policy = _Counting()
    simulate(instance, policy)
    return max(policy.sorted_requests), max(policy.running)


def recheck() -> str:
    """Verify that no constant up to 20 saves the bound at M = 16."""
    items, running = counts(2000)
    assert items == 2000, items
    assert running <= MEMORY // (PROMPT + 1), running
    assert items - 1 > 20 * MEMORY * log2(MEMORY), items
    return f"M = {MEMORY}: round 0 sorts {items} requests, above 20 M log2 M = {20 * 64}"


@PAPER.claim(
    "Theorem 3, p. 13, proof p. ec10",
    expected=FALSE,
    claimed=lambda memory, _: memory * log2(memory),
    control=lambda memory, requests: (memory + requests) * log2(memory + requests),
    recheck=recheck,
    assumes=("all requests arrive at round 0", "comparisons are counted, per round"),
)
def theorem_3(claimed: Bound, slow: bool) -> ClaimResult:
    """Algorithm 2 takes O(M log M) time (its proof: in every round)."""
    sizes = [2**k for k in range(5, 15 if slow else 12)]
    measured = [counts(n) for n in sizes]
    # Sorting n items takes at least n - 1 comparisons: every item must be compared.
    rates = [(most - 1) / claimed(MEMORY, n) for n, (most, _) in zip(sizes, measured, strict=True)]
    bounded = max(rates) <= 2 * rates[0]
    return decided(
        bounded,
        f"{len(sizes)} cases" if bounded else "proved",
        "comparisons in a round over the bound stay below a constant",
        f"at n = {sizes[0]} {rates[0]:.2f}, at n = {sizes[-1]} {rates[-1]:.2f}",
        f"M = {MEMORY}: R_t has {measured[-1][0]} requests at n = {sizes[-1]} while at most "
        f"{max(most for _, most in measured)} run, as the proof says. For every C, n = C M log M + "
        "2 requests need more than C M log M comparisons. With a heap over rounds it is "
        "O((M + 1) log n) per round after one sort; a whole run has at least n (s + 1) / M rounds",
        None if bounded else f"M = {MEMORY}, s = 1, n = {sizes[-1]}: {measured[-1][0]} sorted",
    )
