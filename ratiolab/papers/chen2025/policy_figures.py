"""Charts on the policies of Chen, Ye, Zhou (2025), arXiv 2508.14544v2, and where they fail.

Suprema come from `ratiolab.theory.bounds`; `evidence.simulated` says what simulated points are.
"""

from functools import cache

from ratiolab.online import make
from ratiolab.papers.chen2025.staggered import max_length_stream_latency
from ratiolab.papers.evidence import (
    INVERSE,
    LONGEST,
    RATIO,
    SEEDS,
    bound_values,
    half_octaves,
    measured,
    simulated,
)
from ratiolab.report.plots.canvas import BROWN, GREEN, Chart
from ratiolab.report.plots.curves import (
    FAINT,
    OTHER,
    PRINTED,
    RIVAL,
    SIMULATED,
    THIRD,
    Curve,
    Panel,
    chart,
)
from ratiolab.theory.bounds import evaluate
from ratiolab.theory.laws.distributions import LengthDistribution, from_weights
from ratiolab.theory.limits.fluid import shortest_first_latency
from ratiolab.theory.limits.printed_a_min import ratio_lower_bound
from ratiolab.theory.limits.suprema import max_length_maximiser
from ratiolab.theory.rayleigh.spectrum import spectral_radius

CAPS = SIMULATED | {"color": GREEN, "marker": "^"}
SLOWEST = {"color": BROWN, "lw": 1.5}
MEMORIES = [16, 32, 64, 128]
"""Memories of the simulations with growing memory, tokens."""


@cache
def _maximiser(upper: int) -> LengthDistribution:
    """Return the lengths 1..upper with the largest quotient of Lemma 2."""
    found = spectral_radius(upper, vector=True)
    assert found.vector is not None
    return from_weights(1, found.vector.tolist(), "maximiser of Lemma 2")


def theorem_2(most: int = 2**20) -> Chart:
    """Draw A_max against 1/alpha at s = 0: Theorem 2 has a lower bound that is an upper one.

    Ratios are multiplied by alpha, so that what grows like 1/alpha is level. Exact suprema are
    those of A_max as M/u parallel servers; simulated is A_max as printed, on their worst lengths.
    """
    uppers = half_octaves(most)

    def scaled(name: str) -> list[float]:
        return [value / u for value, u in zip(bound_values(name, uppers), uppers, strict=True)]

    chosen = [2, 4, 8, 16, 32]
    cases = [max_length_maximiser(1, u) for u in chosen]
    limits = [max_length_stream_latency(d) / shortest_first_latency(d) for d in cases]
    curves = [
        Curve("printed Theorem 1, upper bound", uppers, scaled("theorem-1"), FAINT | {"ls": "--"}),
        Curve("printed Theorem 2, lower bound", uppers, scaled("theorem-2-printed"), PRINTED),
        Curve("exact supremum, all lengths in [l, u]", uppers, scaled("theorem-2-continuum")),
        Curve("exact supremum, two lengths", uppers, scaled("theorem-2-two-point"), OTHER),
        Curve(
            "A_max as printed on the worst lengths of servers, limit",
            chosen,
            [float(limit) / u for limit, u in zip(limits, chosen, strict=True)],
            THIRD,
        ),
        simulated(
            "A_max, simulated",
            make("a-max"),
            chosen,
            cases,
            scale=[1 / u for u in chosen],
        ),
    ]
    title, label = "Theorem 2: the worst case of A_max", "α × ratio to H-SF (total latency)"
    panel = Panel(title, INVERSE, label, curves, log_x=True, log_y=True, y_range=(0.5, 200))
    return chart([panel], height=4.8)


def a_min_simulated() -> Chart:
    """Simulate A_min on the lengths that maximise Lemma 2's quotient, beside two other policies.

    Left for several u, right for u = 8 as memory grows, n = M^2/2 requests.
    """
    uppers, middle = [2, 4, 8, 16, 32], 8
    cases = [_maximiser(u) for u in uppers]
    policies = (
        ("A_min as printed", make("a-min"), SIMULATED),
        ("a-min-fluid", make("a-min-fluid"), RIVAL),
        ("kill-restart, fixed caps", make("kill-restart", {"offset": "none"}), CAPS),
    )
    radii = [spectral_radius(u).rho for u in uppers]
    left = [Curve("Lemma 2: M without limit", uppers, radii)]
    left += [simulated(name, policy, uppers, cases, look) for name, policy, look in policies]
    level = [spectral_radius(middle).rho] * len(MEMORIES)
    right = [Curve("Lemma 2: M without limit", MEMORIES, level)]
    for name, policy, look in policies:
        found = [
            measured(policy, _maximiser(middle), 0, memory, memory**2 // 2, SEEDS)
            for memory in MEMORIES
        ]
        mean, low, high = ([getattr(e, part) for e in found] for part in ("mean", "low", "high"))
        right.append(Curve(name, MEMORIES, mean, look, low, high))
    return chart(
        [
            Panel("The maximiser of Lemma 2", LONGEST, RATIO, left, log_x=True, log_y=True),
            Panel(f"u = {middle}, n = M²/2", "memory M (tokens)", RATIO, right, log_x=True),
        ],
        height=5.0,
    )


def all_policies(most: int = 2**12) -> Chart:
    """Draw the known suprema of every policy at s = 0 against 1/alpha, in the fluid limit.

    The printed A_min has only a lower bound: lengths 1 and u, a share 3/(5 u) long.
    """
    uppers = half_octaves(most)
    fewer = [u for u in uppers if 4 <= u <= 1024]
    batches, refill, offset = (
        evaluate(f"kill-restart/{name}").value
        for name in ("batches", "refill", "refill-random-offset")
    )
    radii = [spectral_radius(u).rho for u in uppers]
    level = [uppers[0], uppers[-1]]
    curves = [
        Curve("A_max as parallel servers", uppers, bound_values("theorem-2", uppers), SLOWEST),
        Curve("A_random", uppers, bound_values("ec1-part-2", uppers), THIRD),
        Curve(
            "A_min as printed, lower bound",
            fewer,
            [ratio_lower_bound(u, 0.6 / u) for u in fewer],
            {"color": "black", "lw": 1.8},
        ),
        Curve(
            "printed bound H_u on A_min", uppers, bound_values("theorem-5-trace", uppers), PRINTED
        ),
        Curve("Lemma 2's quotient (a-min-fluid)", uppers, radii),
        Curve("A_ℓ, two lengths only", uppers, bound_values("theorem-7", uppers), FAINT),
        Curve(f"kill-restart, batches: {batches:g}", level, [batches] * 2, OTHER | {"ls": "-."}),
        Curve(f"kill-restart: {refill:.4f}", level, [refill] * 2, OTHER | {"ls": "--"}),
        Curve(f"kill-restart, random offset: {offset:.4f}", level, [offset] * 2, OTHER),
    ]
    title = "Worst cases over all lengths in [l, u]"
    return chart([Panel(title, INVERSE, RATIO, curves, log_x=True, log_y=True)], height=6.2)
