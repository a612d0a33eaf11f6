"""Charts on Jaillet et al. (2025), arXiv 2502.07115v5: adversary, bounds, and Section 5.1."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ratiolab.hindsight import solve
from ratiolab.hindsight.bounds import best_lower_bound
from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.online import Policy, make, simulate
from ratiolab.papers.jaillet2025.claims._cases import Case, drawn, small
from ratiolab.papers.jaillet2025.claims._section_5_1 import Model, Reported, certified, stored
from ratiolab.papers.jaillet2025.late_rush import LateRush, printed, sharper
from ratiolab.papers.registry import select
from ratiolab.ratio.interval import RatioInterval
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.curves import (
    EXACT,
    FAINT,
    OTHER,
    PRINTED,
    RIVAL,
    SIMULATED,
    Curve,
    Look,
    Panel,
    chart,
)
from ratiolab.theory.worst_case.equal_prompts import (
    LOWER,
    LOWER_PRINTED,
    UPPER,
    UPPER_PRINTED,
    Factors,
    staggered,
)
from ratiolab.workloads.generators import generate

RATIO = "ratio to the hindsight optimum (total latency)"
SHARE = "cases up to this value (%)"


def theorem_4_1() -> Chart:
    """Draw the adversary of Theorem 4.1: what it forces on every deterministic algorithm.

    Lines are exact: for each start of the long request, the least total latency that remains
    possible over the optimum of the instance that the start provokes; least over all starts. Points
    are simulated policies against the instance that their own start provokes.
    """
    theirs = [printed(root) for root in (2, 3, 4, 6, 8, 12)]
    ours = [sharper(2, i) for i in (1, 2, 3, 4)]
    constant = float(select(ids=["jaillet2025/theorem-4-1"])[0].claimed) ** 0.5
    ends = np.array([theirs[0].requests, ours[-1].requests])

    def forced(label: str, family: Sequence[LateRush], look: Look) -> Curve:
        points = look | {"marker": ".", "ms": 6}
        return Curve(
            label, [r.requests for r in family], [float(r.forced()) for r in family], points
        )

    def met(policy: str, family: Sequence[LateRush], look: Look) -> Curve:
        ratios = [float(_provoked(make(policy), rush)) for rush in family]
        label = f"{policy} on the sharper family, simulated"
        return Curve(label, [rush.requests for rush in family], ratios, look | {"capsize": 0})

    curves = [
        Curve("printed: √2/28 √(n - 1)", ends, constant * np.sqrt(ends - 1), PRINTED),
        forced("forced by the printed family", theirs, EXACT),
        forced("forced by a sharper family", ours, OTHER),
        Curve("its limit: √(n - 1) / 3", ends, np.sqrt(ends - 1) / 3, FAINT | {"ls": ":"}),
        met("mc-sf", ours[:3], SIMULATED),
    ]
    label = "number of requests n"
    panel = Panel("Theorem 4.1: no deterministic algorithm", label, RATIO, curves, True, True)
    return chart([panel], height=4.9)


def lemma_4_7() -> Chart:
    """Draw how near lower bounds come to the optimum, by brute force on all small cases.

    Up to four requests of equal prompt 0 or 1 at round 0, outputs up to 4, M twice the largest
    s + o or one more. A bound is a lower bound when no case lies right of 1.
    """
    optima = [(case, brute_force(case.instance()).total_latency) for case in small(4)]
    curves = [
        _shares("Lemma 4.7: A/(6M) + C/6", LOWER_PRINTED, PRINTED, optima),
        _shares("improved: A/(2M) + C/3", LOWER, EXACT, optima),
        _shares("too much: A/M + C/3", Factors(Fraction(1), Fraction(1, 3)), FAINT, optima),
    ]
    panel = Panel(
        f"Lower bounds on {len(optima)} optima",
        "bound / optimum (no unit)",
        SHARE,
        curves,
        marks=[(1, "optimum")],
    )
    return chart([panel])


def constants() -> Chart:
    """Draw printed and proven bounds on MC-SF, from above and from below, and what is reached.

    Left the bounds of Lemma 4.4 over MC-SF's simulated latency, on drawn cases of up to 80
    requests; right MC-SF on equal requests, over a schedule that starts them one by one.
    """
    latencies = [(case, case.mc_sf().total_latency) for case in drawn(cases=40)]
    left = [
        _shares("Lemma 4.4: 1536 A/M + 24 C", UPPER_PRINTED, PRINTED, latencies),
        _shares("proven: 4 A/M + C", UPPER, EXACT, latencies),
    ]
    batches = [round(2 ** (k / 2)) for k in range(25)]
    right = [
        Curve(
            f"{k} requests a batch",
            batches,
            [float(Fraction(s.mc_sf, s.better)) for s in (staggered(k, 1, n) for n in batches)],
            look,
        )
        for k, look in ((2, FAINT), (8, OTHER), (40, EXACT))
    ]
    right.append(Curve("limit 2", [1, batches[-1]], [2, 2], FAINT | {"ls": ":"}))
    return chart(
        [
            Panel(
                "MC-SF from above",
                "bound / MC-SF (no unit)",
                SHARE,
                left,
                log_x=True,
                marks=[(1, "MC-SF")],
            ),
            Panel(
                "MC-SF from below",
                "number of batches",
                "ratio to starting one by one",
                right,
                log_x=True,
            ),
        ]
    )


def section_5_1() -> Chart:
    """Draw where MC-SF/OPT lies on stored draws of each arrival model: certified intervals, sorted.

    The lower end divides by the latency of a stored schedule that the judge accepts, the upper end
    by a proven lower bound on the optimum. Red: what the paper reports on its 200 draws.
    """
    panels = []
    models: tuple[Model, Model] = (1, 2)
    for model in models:
        reported: Reported = select(ids=[f"jaillet2025/section-5-1-model-{model}"])[0].claimed
        intervals = []
        for witness in stored(model):
            low, bound = certified(witness), best_lower_bound(witness.instance).value
            cost, better = int(witness.figures["mc-sf"]), int(witness.figures["better"])
            intervals.append(RatioInterval(Fraction(cost), bound, better))
            assert intervals[-1].low == low
        intervals.sort(key=lambda interval: interval.low)
        x = np.arange(1, len(intervals) + 1)
        low_ends = [float(interval.low) for interval in intervals]
        high_ends = [float(interval.high) for interval in intervals]
        ends = [x[0], x[-1]]
        curves = [
            Curve(
                "certified interval; point: lower end", x, low_ends, SIMULATED, low_ends, high_ends
            ),
            Curve(
                f"reported worst: {reported.worst}",
                ends,
                [reported.worst] * 2,
                PRINTED | {"ls": ":"},
            ),
            Curve(f"reported mean: {reported.mean}", ends, [reported.mean] * 2, PRINTED),
        ]
        title = f"Section 5.1, arrival model {model}"
        panels.append(Panel(title, "draw, sorted by lower end", RATIO, curves, whole_x=True))
    return chart(panels)


def section_5_1_small(most: int = 6, draws: int = 8) -> Chart:
    """Draw MC-SF/OPT, solved exactly, for arrival model 1 with few requests.

    Otherwise as Section 5.1 describes it; `draws` seeds for every number of requests from 2.
    """
    x: list[int] = []
    y: list[float] = []
    means = []
    numbers = list(range(2, most + 1))
    for n in numbers:
        found = []
        for seed in range(draws):
            instance = generate("jaillet-model-1", seed, n_least=n, n_most=n)
            optimum = solve(instance).uninterrupted()
            assert optimum.is_exact
            cost = simulate(instance, make("mc-sf")).schedule.total_latency
            found.append(cost / optimum.upper)
        x, y = x + [n] * draws, y + found
        means.append(sum(found) / draws)
    reported: Reported = select(ids=["jaillet2025/section-5-1-model-1"])[0].claimed
    curves = [
        Curve("a draw, solved exactly", x, y, RIVAL | {"capsize": 0}),
        Curve("mean", numbers, means),
        Curve(
            f"reported mean for n = 40..60: {reported.mean}",
            [2, most],
            [reported.mean] * 2,
            PRINTED,
        ),
    ]
    label = "number of requests n"
    panel = Panel("Arrival model 1 with few requests", label, RATIO, curves, whole_x=True)
    return chart([panel])


def _shares(label: str, factors: Factors, look: Look, known: Sequence[tuple[Case, int]]) -> Curve:
    """Return the share of cases whose linear bound over their latency is at most x, as steps."""
    ratios = (Fraction(case.linear_bound(factors), latency) for case, latency in known)
    values = np.sort([float(ratio) for ratio in ratios])
    share = 100 * np.arange(1, len(values) + 1) / len(values)
    return Curve(label, values, share, look | {"drawstyle": "steps-post"})


def _provoked(policy: Policy, rush: LateRush) -> Fraction:
    """Return a policy's ratio on the instance that its start of the long request provokes.

    Until the short ones arrive the policy sees the long request alone, so a start that was found
    with a later release is its start with the true one.
    """
    start = int(simulate(rush.instance(rush.delay), policy).schedule.starts[0])
    cost = simulate(rush.instance(start), policy).schedule.total_latency
    return Fraction(cost, rush.optimum(rush.release(start)))
