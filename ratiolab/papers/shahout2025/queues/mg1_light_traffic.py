"""Limited preemption to first order in the arrival rate, where two jobs decide.

E[T] = E[X] + D lambda + O(lambda^2). To this order a job of size t meets at most one other,
of size x, which arrives at some age u < t; the two are delayed by x in total if the newcomer
is served first, and by t - u if it waits. Hence D is the mean of that delay, integrated over u,
and no policy has less than the mean of min(x, t - u): an elementary yardstick that needs no
queueing formula and no simulation.

Here sizes are exponential with mean 1 and predictions perfect. With w = 1 - C, so that the
first job can be preempted while v = t - u > w t:

    least    int_0^inf P(t > v) E[min(x, v)] dv = int e^-v (1 - e^-v) dv = 1/2,
    policy   int (1 - e^-v) (e^-v - e^(-v/w)) dv + E[(w t)^2] / 2 = 1/2 + w^3 / (1 + w),
    Lemma 1  (1/4 + 2 / (2 + C)^3) / 2 + int m(u) (e^-u - e^(-u/w)) du
             = 3/8 + 1 / (2 + C)^3 - w^3 / (1 + w)^2,     m(u) = E[X; X < u].

Lemma 1 as printed stays below 1/2 for every C: 1 / (2 + C)^3 < 1/8 for C > 0, and at C = 0
the last term is 1/4. It promises more than any policy can do.

Source: Shahout et al. (2025), Lemma 1, arXiv 2410.01035; the comparison is ours.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ratiolab.papers.shahout2025.queues.mg1 import Profile

LEAST = Fraction(1, 2)
"""Least cost of every policy: the mean of min(x, t - u)."""


def two_jobs(fraction: Fraction) -> Fraction:
    """Return D of SPRPT with limited preemption, from two jobs alone.

    C = ``fraction``. The value is 1 without preemption, as in every M/M/1 queue, and least with
    full preemption.

    The value is 1 without preemption, as in every M/M/1 queue, and least with full preemption.

    >>> print(two_jobs(Fraction(0)), two_jobs(Fraction(1, 2)), two_jobs(Fraction(1)))
    1 7/12 1/2
    """
    w = _rest(fraction)
    return LEAST + w**3 / (1 + w)


def as_printed(fraction: Fraction) -> Fraction:
    """Return D of Lemma 1 to the letter; parameters as `two_jobs`.

    >>> print(as_printed(Fraction(0)), as_printed(Fraction(1)))
    1/4 89/216
    """
    w = _rest(fraction)
    return Fraction(3, 8) + 1 / (3 - w) ** 3 - w**3 / (1 + w) ** 2


def slope(profile: Profile) -> float:
    """Return D of any profile: the derivative of its mean response time at rate 0. O(n)."""
    waiting = profile.square * profile.marginal / 2
    return float(profile.weight @ (waiting + profile.dwell * profile.load))


def _rest(fraction: Fraction) -> Fraction:
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction {fraction}: must lie in [0, 1]")
    return 1 - fraction
