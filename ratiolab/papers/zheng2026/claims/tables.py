"""TIE, tables of the results and of the ablation: who is first in every row."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from ratiolab.papers.claim import ARITHMETIC, CONSISTENT, ClaimResult, decided, possible
from ratiolab.papers.zheng2026 import PAPER

Table = Mapping[str, Mapping[str, str]]
"""Printed decimals by row and column."""


def _table(columns: str, rows: Mapping[str, str]) -> Table:
    names = columns.split(", ")
    return {row: dict(zip(names, cells.split(), strict=True)) for row, cells in rows.items()}


LATENCY = _table(
    "FCFS, SSJF, LTR, TIE",
    {
        "LMSYS-Chat-1M, 70B, mean": "9.08 5.50 4.34 2.41",
        "ShareGPT, 70B, mean": "4.36 2.43 2.22 1.41",
        "Alpaca, 70B, mean": "4.52 2.06 2.36 1.54",
        "LMSYS-Chat-1M, 70B, P90": "16.13 8.24 7.03 4.05",
    },
)
WORSENED = _table("FCFS, SSJF, LTR, TIE", {"30 to 100 requests per second": "7.42 8.55 6.17 3.68"})
CONFIGURATIONS = "TIE, dynamic nu, log-normal, SEPT, beta 0.1, beta 0.3"
ABLATION = _table(
    CONFIGURATIONS,
    {
        "mean latency per token": "0.67 0.69 1.63 0.75 0.72 0.71",
        "P90 latency per token": "0.96 1.02 3.37 1.21 1.15 1.18",
    },
)
TIME = _table(CONFIGURATIONS, {"time for 3000 samples": "98.12 97.70 142.21 108.51 104.76 105.04"})


class Ranking(NamedTuple):
    """First places that every row of a table should have, least figure first."""

    table: Table
    places: tuple[str, ...]
    rows: str = ""

    def check(self) -> ClaimResult:
        """Rank the columns in every row that begins with the given words."""
        ranked = {
            row: tuple(sorted(cells, key=lambda name: Fraction(cells[name])))
            for row, cells in self.table.items()
            if row.startswith(self.rows)
        }
        other = {
            row: order for row, order in ranked.items() if order[: len(self.places)] != self.places
        }
        return decided(
            not other,
            ARITHMETIC,
            "; ".join(f"{row}: {', '.join(order)}" for row, order in other.items()) or "so in each",
            evidence="printed figures, least first; what was measured is taken as printed. What "
            "the experiment zheng2026 finds on stand-ins, where it repeats them, is on its page",
            witness="; ".join(other) or None,
        )


ranking = partial(PAPER.claim, expected=CONSISTENT, assumes="the printed figures are right")

CLAIMS = (
    ranking(
        "generalization",
        name="first-in-every-row",
        claimed=Ranking(LATENCY, ("TIE",)),
        control=Ranking(LATENCY, ("LTR",)),
        statement="TIE has the least latency per token on every data set of the table for 70B.",
    )(Ranking.check),
    ranking(
        "abstract",
        name="ltr-strongest-baseline",
        claimed=Ranking(LATENCY, ("TIE", "LTR"), "LMSYS-Chat-1M"),
        control=Ranking(LATENCY, ("TIE", "LTR")),
        statement="On LMSYS-Chat-1M, though not on Alpaca, LTR is the strongest baseline.",
    )(Ranking.check),
    ranking(
        "key findings",
        name="rps-resilience",
        claimed=Ranking(WORSENED, ("TIE",)),
        control=Ranking(WORSENED, ("LTR",)),
        statement="From 30 to 100 requests per second FCFS, SSJF, LTR and TIE worsen 7.42, 8.55, "
        "6.17 and 3.68 times: TIE is the least affected.",
    )(Ranking.check),
    ranking(
        "ablation",
        name="ablation-latency",
        claimed=Ranking(ABLATION, ("TIE",)),
        control=Ranking(TIME, ("TIE",)),
        statement="TIE as proposed has the least mean and the least 90th percentile of the "
        "latency per token among six configurations; fitting nu as well gains 0.4% in the time "
        "for 3000 samples.",
    )(Ranking.check),
)


@PAPER.claim(claimed=("93.1", "90.6", "60.3"), control=("93.1", "90.6", "60.35"))
def ks_rates(rates: tuple[str, ...]) -> ClaimResult:
    """The fitted log-t distribution with three parameters passes the KS test for 93.1% of the
    prompts, with
    nu = 3.5 for 90.6%, the log-normal for 60.3%.

    Source: log-t fitting, KS tests
    Verdict: undecided
    Assumes: 1000 prompts with 100 responses each
    Evidence: the responses are not published, nor is the level of the test or whether its critical
        values allow for fitted parameters, without which a test of fit passes too often; the tests
        would have to be repeated on 100 000 responses of the same model
    """
    prompts = 1000
    impossible = [rate for rate in rates if (Fraction(rate) * prompts / 100).denominator != 1]
    whole = f"each is a whole number of {prompts} prompts, and the richer family is never behind"
    return possible(whole, impossible, f"no share of {prompts} prompts: {{}}%")
