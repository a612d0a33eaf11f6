"""Kill-and-restart policies: run every request up to a cap, kill it, come back with a larger cap.

The policy knows the lower bound l of the output lengths and nothing else. In phase k it runs all
unfinished requests, in random order, each for at most c_k tokens; then it starts over with
c_{k+1} > c_k. While the cap is c each running request is granted its peak s + c, so M / (s + c) run
at a time and memory never overflows. Two ways to fill the places:

- synchronous batches: a batch starts and stops as one and lasts c, whatever finishes before;
- immediate refill: a request that ends or is killed is replaced at once.

The fluid latency (see `ratiolab.theory.limits.fluid`) follows. With Y(t) = P(o > t), a phase whose
predecessor had cap a lasts n T / M with T = c (s + c) Y(a) for batches and
T = (s + c) E[min(o, c); o > a] for refill. Requests that finish in it wait on average for half of
it, all others for the whole of it: T (Y(a) + Y(c)) in units of n**2 / (2 M).

The constants below are relative to H-SF, whose latency is the integral of g'(t) Y(t)**2 with
g(t) = t (s + t). Against the best schedule that may stagger its starts they at most double.

Caps grow geometrically in sqrt(g), g(c_k) = b**(2k) g(l); that is c_k = b**k l at s = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any

from ratiolab.theory.laws.distributions import LengthDistribution, Number, check_range

if TYPE_CHECKING:
    from sympy import Expr


def geometric_caps(
    lower: int, upper: int, base: Number, prompt: int = 0, offset: float = 0.0
) -> tuple[Number, ...]:
    """Return caps with sqrt(c (s + c)) in geometric progression, the last one at least ``upper``.

    The first cap stands at b**offset sqrt(l (s + l)), 0 <= offset < 1, b = ``base`` > 1. Caps are
    exact when ``prompt`` and ``offset`` are 0 and ``base`` is an int or Fraction.

    >>> geometric_caps(2, 6, Fraction(3, 2))
    (Fraction(2, 1), Fraction(3, 1), Fraction(9, 2), Fraction(27, 4))
    """
    check_range(lower, upper, prompt)
    if not base > 1:
        raise ValueError(f"base {base} is not above 1")
    if not 0 <= offset < 1:
        raise ValueError(f"offset {offset} is not in [0, 1)")
    caps: list[Number] = []
    while not caps or caps[-1] < upper:
        growth = base ** len(caps) * (1 if offset == 0 else float(base) ** offset)
        if prompt == 0:
            caps.append(lower * growth if isinstance(growth, float) else Fraction(lower * growth))
        else:
            area = float(growth) ** 2 * lower * (prompt + lower)
            # the positive root of c (s + c) = area, free of cancellation
            caps.append(2 * area / (prompt + sqrt(prompt**2 + 4 * area)))
    return tuple(caps)


def latency(
    distribution: LengthDistribution,
    caps: Sequence[Number],
    prompt: int = 0,
    *,
    refill: bool = True,
) -> Number:
    """Return the fluid latency of kill-and-restart with the given caps.

    Caps increase and the last reaches the longest length. Time is continuous: a request is killed
    after c rounds of work, also when c is not an integer. O(caps + upper - lower).

    >>> from ratiolab.theory.laws.distributions import uniform
    >>> latency(uniform(1, 2), (1, 2), refill=False)
    Fraction(5, 2)
    """
    for number, (before, after) in enumerate(pairwise((0, *caps))):
        if not before < after:
            raise ValueError(f"cap {number}: {after} does not exceed {before}")
    if not caps or caps[-1] < distribution.upper:
        last = caps[-1] if caps else 0
        raise ValueError(f"last cap {last} is below the longest output {distribution.upper}")
    total: Number = 0
    alive = distribution.tail[0]
    length = distribution.lower
    for cap in caps:
        finished: Number = 0
        while length <= min(cap, distribution.upper):
            finished += length * distribution.probability(length)
            length += 1
        left = distribution.survival(cap)
        work = finished + cap * left if refill else cap * alive
        total += (prompt + cap) * work * (alive + left)
        alive = left
    return total


def constant(base: Any, *, refill: bool, random_offset: bool) -> Expr:
    """Return the supremum of the ratio over all distributions on [l, infinity).

    Write w_k = sqrt(g(c_k)) Y(c_{k-1}). Adding phases below l can only raise the cost, so k may run
    over all integers.

    Batches. N = sum w_k**2 + w_k w_{k+1} / b, and D >= (b**2 - 1)/b**4 sum w_{k+1}**2 because Y is
    at least Y(c_k) on phase k, with equality for lengths just above the caps. Since
    w_k w_{k+1} <= (w_k**2 + w_{k+1}**2)/2, N/D <= b**3/(b-1), approached by slowly varying w. Only
    g enters: this holds for every s.

    Refill. For such lengths N = sum b**2 (theta y + (1-theta) z)(y + z) with y = Y(c_{k-1}),
    z = Y(c_k), g(c_{k-1}) = 1 and theta = c_{k-1}/c_k <= 1/b, with equality at s = 0; N increases
    in theta, and theta = 1/b gives L = b (2b-1)/(b-1) as before, with (w_k - w_{k+1})**2/(2b) to
    spare in L D - N. Another Y = z + h, h >= 0, within a phase changes L D - N by
    int h (2 L g' z + L g' h - (s+c)(y+z)) dt, at least -((s+c)(y+z) - 2 L g' z)_+**2 / (4 L g')
    integrated. Its root and the root of what is spared are linear in z; comparing them at both ends
    shows that nothing is gained when kappa (b+1) <= 2 L, kappa = (s+c)/(s+2a) <= max(1, b**2/2),
    a = c_{k-1}: for all s when b**3 - 9b + 4 <= 0, which is demanded here.

    Random offset (s = 0; batches for every s). With Y(t) = f(ln t)/t the cost is a
    translation-invariant quadratic form in f with a nonnegative kernel, so its supremum against
    D = 2 int f**2 is the total mass of the kernel: b (b+1)/(2 ln b) for batches,
    (b+1)(1 + ln b)/(2 ln b) for refill; approached by P(o > t) = l/t cut far out.

    ``base`` is b > 1, a number or a sympy expression; symbols are not checked.

    Source: own derivation; Feng, Yang, Zhang (2026), arXiv 2601.22996, prove a constant for a
    related policy with geometric slices.

    >>> constant(Fraction(3, 2), refill=False, random_offset=False)
    27/4
    """
    import sympy as sp

    b = sp.sympify(base)
    if b.is_number:
        if not b > 1:
            raise ValueError(f"base {base} is not above 1")
        if refill and not random_offset and b**3 - 9 * b + 4 > 0:
            raise ValueError(f"base {base}: base**3 - 9 base + 4 <= 0 is needed for the supremum")
    if random_offset:
        factor = 1 + sp.log(b) if refill else b
        return (b + 1) * factor / (2 * sp.log(b))
    return b * (2 * b - 1) / (b - 1) if refill else b**3 / (b - 1)


def best(*, refill: bool, random_offset: bool) -> tuple[Expr, Expr]:
    """Return the base with the smallest `constant`, and that constant.

    Exact without the random offset: (3/2, 27/4) for batches, (1 + sqrt(2)/2, 3 + 2 sqrt(2)) for
    refill. With it the base solves (2b+1) ln b = b+1 for batches and
    b ln(b) (1 + ln b) = b+1 for refill, given to 30 digits: constants 4.2848... and 3.6287...

    >>> best(refill=True, random_offset=False)
    (sqrt(2)/2 + 1, 2*sqrt(2) + 3)
    """
    import sympy as sp

    b = sp.Symbol("b", positive=True)
    if random_offset:
        log_b = sp.log(b)
        stationary = b * log_b * (1 + log_b) - b - 1 if refill else (2 * b + 1) * log_b - b - 1
        base = sp.nsolve(stationary, b, 2, prec=30)
    elif refill:
        base = 1 + sp.sqrt(2) / 2
    else:
        base = sp.Rational(3, 2)
    value = constant(b, refill=refill, random_offset=random_offset).subs(b, base)
    return base, sp.radsimp(sp.simplify(value))


def staggered_ratio(base: float, levels: float, offsets: int = 64) -> float:
    """Return the ratio to the staggered optimum for P(o > t) = 1/t on [1, R), R = e**levels.

    Random offset, immediate refill, no prompts; lengths and caps are real numbers.

    The optimum may stagger its starts, so that a request costs it its volume, half of o**2, where
    H-SF's batches pay o**2: it is the integral of t Y(t)**2, here 1/2 + ln R, exactly half of what
    H-SF pays. Hence against it no distribution costs more than twice `constant`, 7.2574 at the best
    base.

    This distribution attains that in the limit. A run to c = a b by a request that exceeds a takes
    on average a Y(a) + int_a^c Y = 1 + ln b, c times as much memory-time, and both those before and
    after wait: c (1 + ln b)(1/a + 1/c) = (b + 1)(1 + ln b) for each cap inside [1, R). There are
    ln R / ln b of them up to a constant number, so the ratio tends to
    (b + 1)(1 + ln b)/ln b = 2 `constant`, with an error of order 1/ln R. Whole lengths are near
    the real ones when the least length l is large, and its own unit of time: scaled by l, both
    costs differ from those here by O(1/l) of themselves.

    Source: own derivation.

    >>> round(staggered_ratio(2.2324, 3000.0), 2)
    7.26
    """
    if not (base > 1 and levels > 0):
        raise ValueError(f"base {base} must be above 1 and levels {levels} above 0")
    step = log(base)
    total = 0.0
    for k in range(offsets):
        shift = step * (k + 0.5) / offsets
        inside = max(0, int((levels - shift) // step))  # caps after the first, below R
        last = shift + inside * step  # in ln t
        if shift >= levels:
            total += exp(shift) * (1 + levels)
            continue
        total += exp(shift) * (1 + shift) * (1 + exp(-shift)) + inside * (base + 1) * (1 + step)
        total += base * (1 + levels - last)
    return total / offsets / (0.5 + levels)
