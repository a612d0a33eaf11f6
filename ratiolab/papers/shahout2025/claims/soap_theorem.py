"""TRAIL, Appendix B: Theorem 5.5 of SOAP as quoted, against queues with known response times."""

from collections.abc import Callable
from math import exp
from typing import NamedTuple

from ratiolab.papers.claim import ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER

RATES = (0.2, 0.5, 0.8)


def moment(power: int, low: float, high: float) -> float:
    """Return the integral of x^n e^-x from low to high, n = 0, 1, 2."""

    def tail(x: float) -> float:
        if x == float("inf"):
            return 0.0
        return {0: 1.0, 1: x + 1, 2: x * x + 2 * x + 2}[power] * exp(-x)

    return tail(low) - tail(high)


class Ranks(NamedTuple):
    """The ranks that SOAP needs of a policy on exponential sizes of mean 1, for a job of size x.

    Parameters
    ----------
    original, recycled : squared service of old jobs, in expectation: before and after they have
        been out of the way.
    old : service of old jobs that were never out of the way, in expectation.
    new : service of a newcomer before it is out of the way, when the job has age a.
    """

    original: Callable[[float], float]
    recycled: Callable[[float], float]
    old: Callable[[float], float]
    new: Callable[[float, float], float]


def least_square(x: float) -> float:
    """Return E[min(X, x)^2]."""
    return moment(2, 0, x) + x * x * exp(-x)


FCFS = Ranks(lambda x: 2.0, lambda x: 0.0, lambda x: 1.0, lambda x, a: 0.0)
LEAST_SERVED = Ranks(least_square, lambda x: 0.0, lambda x: 1 - exp(-x), lambda x, a: 1 - exp(-x))
SRPT = Ranks(
    lambda x: moment(2, 0, x),
    lambda x: x * x * exp(-x),
    lambda x: moment(1, 0, x),
    lambda x, a: moment(1, 0, x - a),
)


def response(ranks: Ranks, rate: float, x: float, power: int) -> float:
    """Return the quoted formula; `power` is that of the first factor of the denominator."""
    from scipy.integrate import quad

    squares = ranks.original(x) + ranks.recycled(x)
    waiting = rate * squares / 2 / (1 - rate * ranks.old(x)) ** power
    waiting /= 1 - rate * ranks.new(x, 0)
    return waiting + quad(lambda a: 1 / (1 - rate * ranks.new(x, a)), 0, x, epsabs=1e-12)[0]


def known(name: str, rate: float, x: float) -> float:
    """Return the response time by the literature: Pollaczek and Khinchine; Schrage and Miller."""
    from scipy.integrate import quad

    if name == "FCFS":
        return rate / (1 - rate) + x
    if name == "least attained service":
        load = rate * (1 - exp(-x))
        return rate * least_square(x) / 2 / (1 - load) ** 2 + x / (1 - load)
    load = rate * moment(1, 0, x)
    residence = quad(lambda t: 1 / (1 - rate * moment(1, 0, t)), 0, x, epsabs=1e-12)[0]
    return rate * least_square(x) / 2 / (1 - load) ** 2 + residence


@PAPER.claim(claimed=1, control=2)
def soap_theorem(power: int) -> ClaimResult:
    """Under a SOAP policy the mean response time of a job is lambda sum E[(X_i^old)^2] over 2 (1 -
    lambda E[X_0^old]) (1 - lambda E[X^new]), plus the integral of 1/(1 - lambda E[X^new]) over its
    ages.

    Source: Theorem 1, Appendix B (p. 14)
    Assumes: one server, Poisson arrivals, exponential sizes; FCFS, least attained service and SRPT
    Assumes: the sum over recycled jobs begins with the original ones, i = 0
    Evidence: the quotation is right; what Lemma 1 makes of it is not, see lemma-1
    """
    policies = {"FCFS": FCFS, "least attained service": LEAST_SERVED, "SRPT": SRPT}
    worst, at, cases = 0.0, "", 0
    for name, ranks in policies.items():
        for rate in RATES:
            for x in (0.3, 1.0, 3.0):
                exact = known(name, rate, x)
                error = abs(response(ranks, rate, x, power) / exact - 1)
                cases += 1
                if error > worst:
                    worst, at = error, f"{name}, rate {rate}, size {x}"
    return decided(
        worst < 1e-9,
        f"{cases} cases",
        f"largest relative difference {worst:.1e}" + (f": {at}" if worst > 1e-9 else ""),
        witness=at if worst > 1e-9 else None,
    )
