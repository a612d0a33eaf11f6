"""MC-SF with equal prompts, all requests at 0: printed constants, and better ones with proofs.

Throughout s is the prompt, o an output, M the memory, vol(o) = s o + o(o+1)/2 the memory-time of a
request, all in tokens and rounds; requests are sorted by output, k = 1, ..., n, and

- C = sum of all o,
- S = sum over k of the volumes of the requests before k,
- A = sum_o n_o sum_{o'<=o} n_{o'} vol(o'), the paper's quantity; S <= A.

**MC-SF from above.** Let request k start in round p_k > 0. In each round t < p_k MC-SF stopped at
some request h, no later than k in the order, because at some time t' in (t, t + o_h] the requests R
running in round t that are still there at t' and h itself would need more than M. Each holds at
most its peak, so

    sum_{j in R} (s + o_j)  >=  M + 1 - (s + o_h)  >=  M + 1 - (s + o_k).

MC-SF starts in sorted order, so all of R stand before k, and a request is in R in at most o_j
rounds. Adding over t = 0, ..., p_k - 1:

    p_k (M + 1 - s - o_k)  <=  sum_{j<k} o_j (s + o_j)  <=  2 sum_{j<k} vol(o_j).              (*)

With M >= K max(s + o), K > 1, adding p_k + o_k gives MC-SF <= 2K/(K-1) S/M + C; for K = 2, the
paper's assumption, **MC-SF <= 4 S/M + C**, where Lemma 4.4 has 1536 A/M + 24 C.

**Ratio.** OPT >= S/M + C/3 (`ratiolab.theory.worst_case.volume_bound`) and OPT >= C, so with r =
2K/(K-1) MC-SF <= max(r, 1 + 2r/3) OPT: **4 OPT** for K = 2, where the paper's constants give 9216,
and 7/3 as K grows. Predictions that are at least o and at most a o, MC-SF sorting by them: (*) has
o_j (s + o'_j) with o' the predictions and requests in their order. If o_j <= o_k this is at most 2
a vol(o_j), else o'_j <= o'_k <= a o_k makes it at most 2 a**2 vol(o_k); so every pair pays at most
2 a**2 min(vol(o_j), vol(o_k)) and MC-SF <= 4 a**2 OPT.

**From below.** See `staggered`: no constant below 2 is possible.

**One class.** Let U be the requests with b <= o <= B, b = 2**l, B = 2b - 1, W their volume. The
first starts in round q, so shorter requests are gone after time q + b - 1. From round q + b - 1 to
the start p of the last one, (*) counts requests of U alone: with M >= 2 (s + B),
(p - q - b + 1) M/2 <= 2 W. Processing takes the times q + 1 to at most p + B, a distance of at most
**4 W/M + 3 (B - 1)/2**, where Lemma 4.5 has 192 W/M + 5 B.

Source: sharpens Jaillet et al. (2025), Lemmas 4.4, 4.5 and Theorem 4.3, arXiv 2502.07115v5; own
proofs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Factors(NamedTuple):
    """Factors of a bound ``volume * A/M + length * C`` (for a class, of W/M and of B)."""

    volume: Fraction
    length: Fraction


UPPER_PRINTED = Factors(Fraction(1536), Fraction(24))
"""Lemma 4.4: MC-SF <= 1536 A/M + 24 C."""

UPPER = Factors(Fraction(4), Fraction(1))
"""MC-SF <= 4 S/M + C <= 4 A/M + C; own proof, above."""

LOWER_PRINTED = Factors(Fraction(1, 6), Fraction(1, 6))
"""Lemma 4.7: OPT >= A/(6 M) + C/6."""

LOWER = Factors(Fraction(1, 2), Fraction(1, 3))
"""OPT >= A/(2 M) + C/3; proof at `ratiolab.theory.worst_case.volume_bound.volume_lower_bound`."""

CLASS_PRINTED = Factors(Fraction(192), Fraction(5))
"""Lemma 4.5: a class is processed within 192 W/M + 5 B."""

CLASS = Factors(Fraction(4), Fraction(3, 2))
"""A class is processed within 4 W/M + 3 B/2; own proof, above."""


def volume(prompt: int, output: int) -> int:
    """Return vol(o) = s o + o (o+1)/2, the tokens a request holds, over its rounds. O(1).

    >>> volume(1, 3)
    9
    """
    return prompt * output + output * (output + 1) // 2


def pair_volume(prompt: int, outputs: Sequence[int]) -> int:
    """Return A = sum_o n_o sum_{o'<=o} n_{o'} vol(o'), tokens times requests. O(n log n).

    Source: Jaillet et al. (2025), Lemma 4.4, arXiv 2502.07115v5.

    >>> pair_volume(0, [1, 1, 2])
    9
    """
    total = running = 0
    for output, number in sorted(Counter(outputs).items()):
        running += number * volume(prompt, output)
        total += number * running
    return total


def linear_bound(factors: Factors, prompt: int, outputs: Sequence[int], memory: int) -> Fraction:
    """Return volume A/M + length C in rounds, for the factors of a bound. O(n log n).

    >>> linear_bound(UPPER, 0, [1, 1], 2)
    Fraction(10, 1)
    """
    return factors.volume * pair_volume(prompt, outputs) / memory + factors.length * sum(outputs)


def class_bound(factors: Factors, prompt: int, outputs: Sequence[int], memory: int) -> Fraction:
    """Return volume W/M + length B, in rounds, for requests with b <= o <= B = 2b - 1, b = 2**l.

    Source: Jaillet et al. (2025), Lemma 4.5, arXiv 2502.07115v5.

    >>> class_bound(CLASS, 0, [2, 3], 6)
    Fraction(21, 2)
    """
    levels = {output.bit_length() for output in outputs}
    if len(levels) != 1:
        raise ValueError(f"outputs {sorted(set(outputs))} must lie in one class 2**l .. 2**(l+1)-1")
    work = sum(volume(prompt, output) for output in outputs)
    longest: int = 2 ** levels.pop() - 1
    return factors.volume * work / memory + factors.length * longest


def start_bounds(prompt: int, outputs: Sequence[int], memory: int) -> list[Fraction]:
    """Return (*), upper bounds on MC-SF's starts, by request in sorted order. O(n log n).

    M is at least s + o for every request.

    >>> start_bounds(0, [1, 1, 1], 1)
    [Fraction(0, 1), Fraction(1, 1), Fraction(2, 1)]
    """
    work, bounds = 0, []
    for output in sorted(outputs):
        bounds.append(Fraction(work, memory + 1 - prompt - output))
        work += output * (prompt + output)
    return bounds


def mc_sf_bound(prompt: int, outputs: Sequence[int], memory: int) -> int:
    """Return an upper bound on MC-SF's total latency, rounds: (*) rounded down, plus C. O(n log n).

    >>> mc_sf_bound(0, [1, 1, 1], 1)
    6
    """
    return sum(int(p) for p in start_bounds(prompt, outputs, memory)) + sum(outputs)


def ratio_bound(headroom: Fraction, stretch: Fraction = Fraction(1)) -> Fraction:
    """Return a constant that MC-SF/OPT never exceeds.

    ``headroom`` is K > 1 with M >= K max(s + o), where the paper assumes 2; ``stretch`` is a >= 1
    with o <= prediction <= a o, and then K counts predictions.

    >>> ratio_bound(Fraction(2)), ratio_bound(Fraction(2), Fraction(3))
    (Fraction(4, 1), Fraction(36, 1))
    """
    if headroom <= 1 or stretch < 1:
        raise ValueError(f"headroom {headroom} must exceed 1 and stretch {stretch} be at least 1")
    rate = 2 * headroom / (headroom - 1) * stretch**2
    return max(rate, 1 + 2 * rate / 3)


class Staggered(NamedTuple):
    """Equal requests with s = 0 on which synchronous batches waste memory; see `staggered`."""

    memory: int
    output: int
    requests: int
    mc_sf: int
    better: int


def staggered(together: int, gap: int, batches: int) -> Staggered:
    """Return equal requests that MC-SF serves in batches and that should start one by one.

    s = 0, o = (2k - 1) gap, M = k o, n = k N with k = ``together`` >= 2 and N = ``batches``. MC-SF
    starts k at once; a further one would overflow at their common end, so it waits for that, and
    MC-SF has k o N(N+1)/2. Starting one every ``gap`` rounds has at most 2k - 1 running, which
    hold at most gap (1 + ... + (2k-1)) = k o = M: feasible, with n o + gap n(n-1)/2. The quotient
    tends to (2k-1)/k as N grows, and to 2 with k; M = k max(s+o) meets the assumption M >= 2 max.

    Source: own construction.

    >>> staggered(2, 1, 4)
    Staggered(memory=6, output=3, requests=8, mc_sf=60, better=52)
    """
    output = (2 * together - 1) * gap
    requests = together * batches
    mc_sf = requests * output * (batches + 1) // 2
    better = requests * output + gap * requests * (requests - 1) // 2
    return Staggered(together * output, output, requests, mc_sf, better)
