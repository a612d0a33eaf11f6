"""Charts of worst cases: instances known, families in the limit, and the course of a search."""

from collections.abc import Sequence
from math import exp

from ratiolab.adversary.library import Entry
from ratiolab.adversary.limit import Limit
from ratiolab.adversary.result import Moment
from ratiolab.report.plots.canvas import Chart, in_style, new_chart
from ratiolab.report.plots.curves import EXACT, FAINT, OTHER, THIRD, Curve, Panel, bars, chart
from ratiolab.theory.limits.kill_restart import best, staggered_ratio
from ratiolab.theory.limits.slices import gba_ratio, gsa_ratio, halving_family
from ratiolab.theory.worst_case.any_prompts import thin_before_fat
from ratiolab.theory.worst_case.equal_prompts import long_first, staggered

DOUBLINGS = range(1, 13)
REQUESTS = range(2, 13)


def known(entries: Sequence[Entry]) -> Chart:
    """Draw the ratio of each entry that completes, the worst first."""
    ended = [
        (entry.target.name, float(entry.ratio)) for entry in entries if entry.ratio is not None
    ]
    ended.sort(key=lambda pair: -pair[1])
    return bars("Worst instances known", "ratio to the proven optimum", dict(ended), printed=())


def limit(found: Limit, name: str) -> Chart:
    """Draw between what the ratio of a policy lies on ever larger members of a family."""
    factors = [member.factor for member in found.members]
    low, high = ([float(member.ratio[side]) for member in found.members] for side in (0, 1))
    curves = [
        Curve("policy over the optimum, at most", factors, high, EXACT | {"marker": "o"}),
        Curve("at least", factors, low, OTHER | {"marker": "o"}),
    ]
    panel = Panel(f"{name} on k times a case", "k", "ratio", curves, log_x=True)
    return chart([panel], height=4.0)


def families() -> Chart:
    """Draw what closed families tend to: constants on the left, orders of n on the right."""
    base = float(best(refill=True, random_offset=True)[0])
    sizes = list(DOUBLINGS)
    bounded = [
        Curve("gsa, lengths $2^k$ + 1", sizes, [_gsa(k) for k in sizes], EXACT),
        Curve(
            "kill-restart, range $e^{2^k}$",
            sizes,
            [staggered_ratio(base, 2.0**k) for k in sizes],
            THIRD,
        ),
        Curve("gba, outputs $2^k$ + 1", sizes, [float(gba_ratio(k)) for k in sizes], OTHER),
        Curve("mc-sf, $2^k$ together", sizes, [_mc_sf(k) for k in sizes], FAINT),
    ]
    numbers = list(REQUESTS)
    long = round(exp(12))
    arrivals = [long_first(n, long) for n in numbers]
    prompts = [thin_before_fat(n - 1, long) for n in numbers]
    growing = [
        Curve(
            "mc-sf with arrivals",
            numbers,
            [case.mc_sf / case.better for case in arrivals],
            FAINT | {"lw": 4},
        ),
        Curve(
            "svf with any prompts", numbers, [case.policy / case.better for case in prompts], EXACT
        ),
    ]
    return chart(
        [
            Panel("Equal prompts, all at round 0", "k", "ratio to the optimum", bounded),
            Panel("No constant", "requests", "ratio to the optimum", growing, whole_x=True),
        ]
    )


def _gsa(size: int) -> float:
    return float(gsa_ratio(halving_family(size, 4 * size)))


def _mc_sf(size: int) -> float:
    case = staggered(2**size, 1, 8**size)
    return case.mc_sf / case.better


@in_style
def course(history: Sequence[Moment], evaluations: int, title: str) -> Chart:
    """Draw the best ratio found so far over the evaluations, on a logarithmic axis.

    Parameters
    ----------
    history : when the ratio rose.
    evaluations : of the whole search.
    """
    figure = new_chart((6, 3.2))
    ax = figure.subplots()
    at = [moment.evaluations for moment in history] + [max(evaluations, 1)]
    best = [moment.ratio for moment in history]
    ax.step(at, [*best, best[-1]], where="post")
    ax.set_xscale("log")
    ax.set_xlabel("evaluations")
    ax.set_ylabel("ratio to the exact optimum")
    ax.set_title(title)
    return figure
