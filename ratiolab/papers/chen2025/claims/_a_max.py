"""What Theorems 1 and 2 rest on: suprema of the server model, and a bound on A_max as printed.

The proofs stand in proofs/a_max_servers.md and proofs/a_max_printed.md.
"""

from fractions import Fraction
from math import isqrt

from ratiolab.model import Instance
from ratiolab.online import make, simulate

_SCALE = 10**12


def root_below(square: Fraction) -> Fraction:
    """Return a rational at most the square root, within 1e-12 of it.

    >>> root_below(Fraction(9, 4))
    Fraction(3, 2)
    """
    return Fraction(isqrt(square.numerator * _SCALE**2 // square.denominator), _SCALE)


def root_above(square: Fraction) -> Fraction:
    """Return a rational at least the square root, within 2e-12 of it."""
    root = root_below(square)
    return root if root * root == square else root + Fraction(1, _SCALE)


def all_lengths_radicand(lower: int, upper: int, prompt: int = 0) -> Fraction:
    """Return R of the supremum (s+u)/(s+l) (1 + sqrt(R)) / 2 over all distributions on l..u.

    >>> all_lengths_radicand(1, 3)
    Fraction(23, 15)
    """
    steps = (Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1))
    return 1 + Fraction(prompt + lower, lower) * sum(steps, Fraction())


def server_supremum(lower: int, upper: int, prompt: int = 0) -> tuple[Fraction, Fraction]:
    """Return rationals around the supremum of the server model over all distributions on l..u."""
    factor = Fraction(prompt + upper, 2 * (prompt + lower))
    radicand = all_lengths_radicand(lower, upper, prompt)
    return factor * (1 + root_below(radicand)), factor * (1 + root_above(radicand))


def printed_bound(lower: int, upper: int, prompt: int = 0) -> Fraction:
    """Return a rational that A_max as printed never exceeds when s + u divides M: 1 + 2 suprema."""
    return 1 + 2 * server_supremum(lower, upper, prompt)[1]


def equal_requests_ratio(upper: int, rounds: int, memory: int | None = None) -> Fraction:
    """Simulate TEL(A_max) / TEL(H-SF) on equal requests of length 1, interval [1, u], s = 0.

    As many requests as H-SF finishes in `rounds`; memory u unless given. With memory u the ratio
    is (u q + 1) / (q + 1) for q rounds and tends to 1/alpha.

    >>> equal_requests_ratio(4, 3)
    Fraction(13, 4)
    """
    size = upper if memory is None else memory
    n = size * rounds
    instance = Instance("equal", size, [0] * n, [0] * n, [1] * n, [1] * n, [upper] * n)
    latencies = [simulate(instance, make(key)).schedule.total_latency for key in ("a-max", "h-sf")]
    return Fraction(*latencies)
