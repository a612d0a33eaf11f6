"""Chen et al., Theorem 3: A_min costs O(M log M).

The proof says that at most M/s prompts are concurrent and sorts those. The pseudo-code sorts in
every round R_t, the waiting requests, and these number up to n, whatever M is. Bounds are
integers up to M, so the waiting requests can stand in buckets by bound instead: then nothing is
sorted, and a round costs what Theorem 3 says.
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
from ratiolab.papers.claim import PROVED, WITNESSED, ClaimResult, decided

Bound = Callable[[int, int], float]
MEMORY, PROMPT = 16, 1


@dataclass(frozen=True)
class _Counting(Policy):
    """A_min, noting what each decision of Algorithm 2 costs.

    ``sorted_requests`` are the waiting ones. ``steps`` are those with buckets: the entries of the
    profile of future memory that running and admitted requests have under their bounds, twice for
    the admitted, one move for each evicted or admitted request, and the entries that the first
    misfit reads.
    """

    sorted_requests: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    name: ClassVar[str] = "a-min"
    source: ClassVar[str] = "Chen, Ye, Zhou (2025), Algorithm 2, arXiv 2508.14544v2"
    information: ClassVar[Information] = Information.LOWER_BOUND

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        decide, bound = make("a-min").start(setting, rng), dict[int, int]()

        def counted(view: View) -> Decision:
            self.sorted_requests.append(len(view.waiting))
            for i in view.arrived:
                bound[i] = view.lower[i]
            steps = sum(max(1, bound[i] - view.now + p) for i, p in view.running.items())
            decision = decide(view)
            for i in decision.evict:
                bound[i] = max(bound[i], view.now - view.running[i] + 1)
            admitted = sum(2 * bound[i] + 1 for i in decision.admit)
            self.steps.append(steps + admitted + len(decision.evict) + setting.memory)
            return decision

        return counted


def counts(requests: int) -> tuple[int, int]:
    """Return the most requests sorted in a round, and the most steps with buckets, for outputs
    1, 2, 3 in turn.
    """
    outputs = [1 + i % 3 for i in range(requests)]
    ones = [1] * requests
    instance = Instance("counted", MEMORY, [0] * requests, ones, outputs, lower=ones)
    policy = _Counting()
    simulate(instance, policy)
    return max(policy.sorted_requests), max(policy.steps)


@PAPER.claim(claimed=lambda memory: memory * log2(memory), control=lambda memory: log2(memory))
def theorem_3(claimed: Callable[[int], float], slow: bool) -> ClaimResult:
    """Algorithm 2 takes O(M log M) time in every round.

    Source: Theorem 3, p. 13, proof p. ec10
    Assumes: per round; waiting requests stand in buckets by their integer bound
    Assumes: putting a request into its bucket when it arrives is counted for it, not for a round
    Proof: theorem_3
    Evidence: sorting R_t anew in each round is another matter: see theorem-3-printed
    """
    sizes = [2**k for k in range(5, 15 if slow else 12)]
    steps = [counts(n)[1] for n in sizes]
    return decided(
        max(steps) <= 4 * claimed(MEMORY),
        PROVED,
        f"at most {max(steps)} steps, for {sizes[0]} to {sizes[-1]} requests",
        witness=f"{max(steps)} steps",
    )


def recheck() -> str:
    """Verify that no constant up to 20 saves the bound at M = 16."""
    items, _ = counts(2048)
    assert items == 2048, items
    assert items - 1 > 20 * MEMORY * log2(MEMORY), items
    return (
        f"M = {MEMORY}, s = {PROMPT}: round 0 sorts {items} requests, above 20 M log2 M = {20 * 64}"
    )


@PAPER.claim(
    claimed=lambda memory, _: memory * log2(memory),
    control=lambda memory, requests: (memory + requests) * log2(memory + requests),
    recheck=recheck,
)
def theorem_3_printed(claimed: Bound, slow: bool) -> ClaimResult:
    """Algorithm 2 takes O(M log M) time in a round that sorts all waiting requests.

    Source: Theorem 3, p. 13, for Algorithm 2
    Verdict: false
    Assumes: all requests arrive at round 0; comparisons are counted, per round
    Assumes: R_t is sorted anew in each round, as the pseudo-code says
    """
    sizes = [2**k for k in range(5, 15 if slow else 12)]
    most = [counts(n)[0] for n in sizes]
    # Sorting n items takes at least n - 1 comparisons: every item must be compared.
    rates = [(m - 1) / claimed(MEMORY, n) for n, m in zip(sizes, most, strict=True)]
    return decided(
        max(rates) <= 2 * rates[0],
        WITNESSED,
        f"at n = {sizes[0]} {rates[0]:.2f}, at n = {sizes[-1]} {rates[-1]:.2f}",
        evidence=f"M = {MEMORY}: R_t has {most[-1]} requests at n = {sizes[-1]}. For every C, "
        "n = C M log M + 2 requests need more than C M log M comparisons. A whole run has at least "
        "n (s + 1) / M rounds",
        witness=f"M = {MEMORY}, s = 1, n = {sizes[-1]}: {most[-1]} sorted",
    )
