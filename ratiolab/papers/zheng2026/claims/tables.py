"""TIE, tables of the results: who is first in every row, and at both request rates."""

from fractions import Fraction

from ratiolab.papers.claim import HOLDS, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER

F = Fraction
POLICIES = ("FCFS", "SSJF", "LTR", "TIE")
LATENCY = {
    "LMSYS-Chat-1M, 8B, mean": ("3.17", "1.95", "1.55", "0.67"),
    "LMSYS-Chat-1M, 70B, mean": ("9.08", "5.50", "4.34", "2.41"),
    "ShareGPT, 70B, mean": ("4.36", "2.43", "2.22", "1.41"),
    "Alpaca, 70B, mean": ("4.52", "2.06", "2.36", "1.54"),
    "LMSYS-Chat-1M, 70B, P90": ("16.13", "8.24", "7.03", "4.05"),
}
WORSENED = ("7.42", "8.55", "6.17", "3.68")


def check_rows(claimed: tuple[tuple[str, ...], str]) -> ClaimResult:
    """Rank the policies in every row of a data set and compare the first places."""
    places, data = claimed
    ranked = {row: _ranked(values) for row, values in LATENCY.items() if row.startswith(data)}
    other = {row: order for row, order in ranked.items() if order[: len(places)] != places}
    return decided(
        not other,
        f"{len(ranked)} rows",
        f"in every row{' of ' + data if data else ''} the order begins {', '.join(places)}",
        "; ".join(f"{row}: {', '.join(order)}" for row, order in other.items()) or "so in each",
        "printed latencies per token; what was measured is taken as printed",
        "; ".join(other) or None,
    )


@PAPER.claim(
    "main results and generalization",
    expected=HOLDS,
    claimed=(("TIE",), ""),
    control=(("LTR",), ""),
    assumes="the printed figures are right",
)
def first_in_every_row(claimed: tuple[tuple[str, ...], str]) -> ClaimResult:
    """TIE has the least latency per token on every data set and model of the tables."""
    return check_rows(claimed)


@PAPER.claim(
    "abstract",
    expected=HOLDS,
    claimed=(("TIE", "LTR"), "LMSYS-Chat-1M"),
    control=(("TIE", "LTR"), ""),
    assumes="the printed figures are right",
)
def ltr_strongest_baseline(claimed: tuple[tuple[str, ...], str]) -> ClaimResult:
    """On LMSYS-Chat-1M, though not on Alpaca, LTR is the strongest baseline."""
    return check_rows(claimed)


@PAPER.claim(
    "key findings",
    expected=HOLDS,
    claimed=("TIE", "SSJF"),
    control=("LTR", "SSJF"),
    assumes=("the printed figures are right", "against SSJF, the fastest baseline at 30"),
)
def rps_resilience(pair: tuple[str, str]) -> ClaimResult:
    """From 30 to 100 requests per second FCFS, SSJF, LTR and TIE worsen 7.42, 8.55, 6.17 and 3.68
    times; TIE, the least affected, is the fastest at 30 as well.
    """
    implied = {
        policy: (
            (F(now) - F(1, 200)) / (F(by) + F(1, 200)),
            (F(now) + F(1, 200)) / (F(by) - F(1, 200)),
        )
        for policy, now, by in zip(
            POLICIES, LATENCY["LMSYS-Chat-1M, 8B, mean"], WORSENED, strict=True
        )
    }
    first, second = (implied[policy] for policy in pair)
    return decided(
        first[1] < second[0],
        "proved",
        f"{pair[0]} is faster than {pair[1]} at 30 requests per second too",
        "; ".join(
            f"{p}: {float(low):.3f} to {float(high):.3f} s" for p, (low, high) in implied.items()
        ),
        "latency at 100 requests per second over the printed factor, for all figures that round to "
        "the printed ones",
    )


def _ranked(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(policy for _, policy in sorted(zip(map(F, values), POLICIES, strict=True)))
