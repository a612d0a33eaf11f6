"""Chen et al., Theorem EC.1, part 1: the worst case has only the lengths l and u. It does not.

The proof takes one policy, A_random, though the statement speaks of any; it takes the mean latency
to be linear in one output length and that of H-SF to be concave, neither of which is so: H-SF's
latency jumps when two requests stop fitting beside each other. In the fluid model part 1 does hold
for A_random and not for A_max, whose worst case uses every length between l and u.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._packing import mean, order_latencies
from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.witness import read_witness
from ratiolab.theory.laws.distributions import from_weights
from ratiolab.theory.limits.fluid import batch_area, random_order_ratio
from ratiolab.theory.limits.suprema import max_length_supremum, max_length_two_point_supremum

NAME = "chen2025-theorem-ec1-part-1"
SETTINGS = (("a-random", 1, 3, 4, 2), ("a-min", 1, 3, 4, 2), ("a-max", 1, 3, 5, 3))
"""(policy, l, u, M, n) with s = 1, the smallest for each policy in which part 1 fails."""

PROMPT = 1


class Contest(NamedTuple):
    """The largest squares or ratios over {l, u} and over all lengths, and where they occur."""

    name: str
    extreme: Fraction
    overall: Fraction


def small_instances(slow: bool) -> Iterator[Contest]:
    """Yield exact competitive ratios of printed policies, over {l, u}**n and over [l, u]**n."""
    for policy, lower, upper, memory, n in SETTINGS:
        ratios = competitive_ratios(policy, lower, upper, memory, n)
        extreme = max(r for outputs, r in ratios.items() if set(outputs) <= {lower, upper})
        worst = max(ratios, key=lambda outputs: ratios[outputs])
        name = f"{policy}, [{lower}, {upper}], s = {PROMPT}, M = {memory}, n = {n}, o = {worst}"
        yield Contest(name, extreme, ratios[worst])


def random_order_fluid(slow: bool) -> Iterator[Contest]:
    """Yield A_random's fluid (2 ratio - 1)**2, and g(u)/g(l), its two-length supremum."""
    weights = range(6 if slow else 4)
    for lower, upper, prompt in product((1, 2), (3, 4), (0, 1, 7)):
        extreme = Fraction(batch_area(upper, prompt), batch_area(lower, prompt))
        best = max(
            random_order_ratio(from_weights(lower, shares), prompt)
            for shares in product(weights, repeat=upper - lower + 1)
            if any(shares)
        )
        assert isinstance(best, Fraction)
        square = (2 * best - 1) ** 2 if 2 * best > 1 else Fraction(0)
        yield Contest(f"A_random, [{lower}, {upper}], s = {prompt}, fluid", extreme, square)


def competitive_ratios(
    policy: str, lower: int, upper: int, memory: int, n: int
) -> dict[tuple[int, ...], Fraction]:
    """Return the mean latency over all orders, over that of H-SF, by multiset of n lengths."""
    ratios = {}
    for outputs in combinations_with_replacement(range(lower, upper + 1), n):
        mean_latency = mean(order_latencies(policy, PROMPT, memory, outputs, (lower, upper)))
        ratios[outputs] = mean_latency / hindsight(outputs, memory)
    return ratios


def hindsight(outputs: tuple[int, ...], memory: int) -> int:
    """Return TEL(H-SF)."""
    n = len(outputs)
    instance = Instance("contest", memory, [0] * n, [PROMPT] * n, outputs)
    return simulate(instance, make("h-sf")).schedule.total_latency


def recheck() -> str:
    """Recompute all six instances with n = 2 for A_random; the fluid suprema from radicands."""
    found = read_witness(NAME)
    instance, figures = found.instance, found.figures
    assert instance.lower is not None
    assert instance.upper is not None
    lower, upper = int(instance.lower[0]), int(instance.upper[0])
    outputs = tuple(instance.output.tolist())
    ratios = competitive_ratios("a-random", lower, upper, instance.memory, len(instance))
    extreme = max(r for lengths, r in ratios.items() if set(lengths) <= {lower, upper})
    assert hindsight(outputs, instance.memory) == figures["h_sf"]
    assert found.schedule("h-sf").total_latency == figures["h_sf"]
    assert ratios[outputs] == Fraction(figures["ratio"])
    assert extreme == Fraction(figures["ratio_with_l_and_u"]) < ratios[outputs]
    # 3 (1 + sqrt(r)) / 2 with r = 1 + 2/4 for two lengths, 1 + 1/3 + 1/5 for all of 1, 2, 3
    assert 1 + Fraction(1, 3) + Fraction(1, 5) > 1 + Fraction(2, 4)
    return f"A_random: {ratios[outputs]} with lengths {outputs}, at most {extreme} with l and u"


@PAPER.claim(
    "Theorem EC.1, Eq. (EC.5), p. 34",
    expected=FALSE,
    claimed=small_instances,
    control=random_order_fluid,
    recheck=recheck,
    assumes=(
        "n, M, s, l, u are fixed, as in the definition of the ratio; H-SF is Algorithm 3",
        "the control is A_random in the fluid model, the only policy of which the proof speaks",
    ),
)
def theorem_ec1_part_1(claimed: Callable[[bool], Iterator[Contest]], slow: bool) -> ClaimResult:
    """For any policy the supremum of the ratio over output lengths in [l, u] is reached with every
    length equal to l or u.
    """
    contests = list(claimed(slow))
    broken = [c for c in contests if c.overall > c.extreme]
    two, every = max_length_two_point_supremum(1, 3), max_length_supremum(1, 3)
    return decided(
        not broken,
        WITNESSED if broken else f"{len(contests)} cases",
        "; ".join(f"{c.name}: {c.extreme} with l and u, {c.overall} over all" for c in contests),
        evidence="all multisets of lengths, exact means over all orders; in the fluid model of "
        f"M/u servers A_max on [1, 3] reaches {two} with l and u, {every} with all",
        witness=broken[0].name if broken else None,
    )
