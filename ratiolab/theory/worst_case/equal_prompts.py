"""MC-SF with equal prompts, all requests at 0: printed constants, and better ones with proofs.

Throughout s is the prompt, o an output, M the memory, vol(o) = s o + o(o+1)/2 the memory-time of a
request, all in tokens and rounds; requests are sorted by output, k = 1, ..., n, and

- C = sum of all o,
- P = sum over k of the volumes of the requests before k,
- A = sum_o n_o sum_{o'<=o} n_{o'} vol(o'), the paper's quantity; P <= A.

**MC-SF from above.** Request k starts in a round p_k <= (2/M) sum_{i<k} vol(o_i), for every
M >= max(s + o). Hence MC-SF <= 2 P/M + C, where Lemma 4.4 has 1536 A/M + 24 C. With
OPT >= P/M + C/3 (`ratiolab.papers.jaillet2025.volume_bound`) and OPT >= C, **MC-SF <= 7/3 OPT**,
where the paper's constants give 9216. The proof, also for predictions, is a text of its own,
`ratiolab/papers/ours/proofs/mc_sf_constant.md`.

**From below.** See `staggered`: no constant below 2 is possible. With arrivals over time there is
no constant: see `long_first`.

**One class.** Let U be the requests with b <= o <= B, b = 2**l, B = 2b - 1, W their volume, and
let M >= 2 max(s + o). In each round before the start p of its last request, MC-SF stopped at some
request h no later in the order, because at some time the running requests that are still there and
h itself would need more than M. Each holds at most its peak, so the peaks s + o_j of the running
ones add up to at least M + 1 - (s + B) > M/2. The first of U starts in round q, so shorter requests
are gone after time q + b - 1. From round q + b - 1 to p all running ones are of U, each in at most
o_j rounds: (p - q - b + 1) M/2 <= sum of o_j (s + o_j) <= 2 W. Processing takes the times q + 1 to
at most p + B, a distance of at most **4 W/M + 3 (B - 1)/2**, where Lemma 4.5 has 192 W/M + 5 B.

Source: sharpens Jaillet et al. (2025), Lemmas 4.4, 4.5 and Theorem 4.3, arXiv 2502.07115v5; own
proofs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ratiolab.model.footprint import volume


class Factors(NamedTuple):
    """Factors of a bound ``volume * A/M + length * C`` (for a class, of W/M and of B)."""

    volume: Fraction
    length: Fraction


UPPER_PRINTED = Factors(Fraction(1536), Fraction(24))
"""Lemma 4.4: MC-SF <= 1536 A/M + 24 C."""

UPPER = Factors(Fraction(2), Fraction(1))
"""MC-SF <= 2 P/M + C <= 2 A/M + C; own proof, see above."""

LOWER_PRINTED = Factors(Fraction(1, 6), Fraction(1, 6))
"""Lemma 4.7: OPT >= A/(6 M) + C/6."""

LOWER = Factors(Fraction(1, 2), Fraction(1, 3))
"""OPT >= A/(2 M) + C/3; proof at `ratiolab.papers.jaillet2025.volume_bound.volume_lower_bound`."""

CLASS_PRINTED = Factors(Fraction(192), Fraction(5))
"""Lemma 4.5: a class is processed within 192 W/M + 5 B."""

CLASS = Factors(Fraction(4), Fraction(3, 2))
"""A class is processed within 4 W/M + 3 B/2; own proof, above."""


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
    Fraction(6, 1)
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
    """Return (2/M) sum_{i<k} vol(o_i), upper bounds on MC-SF's starts in sorted order. O(n log n).

    M is at least s + o for every request.

    >>> start_bounds(0, [1, 1, 1], 1)
    [Fraction(0, 1), Fraction(2, 1), Fraction(4, 1)]
    """
    before, bounds = 0, []
    for output in sorted(outputs):
        bounds.append(Fraction(2 * before, memory))
        before += volume(prompt, output)
    return bounds


def mc_sf_bound(prompt: int, outputs: Sequence[int], memory: int) -> int:
    """Return an upper bound on MC-SF's total latency, rounds: the bounds on its starts rounded
    down, plus C. O(n log n).

    >>> mc_sf_bound(0, [1, 1, 1], 1)
    9
    """
    return sum(int(p) for p in start_bounds(prompt, outputs, memory)) + sum(outputs)


def optimum_bound(prompt: int, outputs: Sequence[int], memory: int) -> Fraction:
    """Return P/M + sum vol/(2M) + sum (6so + 2o^2 + 3o + 1)/(6(2s + o + 1)) <= OPT. O(n log n).

    The last term is the time from a request's mean time in memory to its completion, plus one half;
    `ratiolab.papers.jaillet2025.volume_bound` takes o/3 + 1/6 for it, its least value, at s = 0.

    >>> optimum_bound(0, [1, 1], 1)
    Fraction(3, 1)
    """
    before = 0
    total = Fraction(0)
    for o in sorted(outputs):
        own = volume(prompt, o)
        total += Fraction(2 * before + own, 2 * memory)
        total += Fraction(6 * prompt * o + 2 * o * o + 3 * o + 1, 6 * (2 * prompt + o + 1))
        before += own
    return total


def ratio_bound(stretch: Fraction = Fraction(1)) -> Fraction:
    """Return max(2 a^2, 1 + 4 a^2/3), a constant that MC-SF/OPT never exceeds.

    ``stretch`` is a >= 1 with o <= prediction <= a o; M is at least s + prediction.

    >>> ratio_bound(), ratio_bound(Fraction(3))
    (Fraction(7, 3), Fraction(18, 1))
    """
    if stretch < 1:
        raise ValueError(f"stretch {stretch} must be at least 1")
    square = Fraction(stretch) ** 2
    return max(2 * square, 1 + 4 * square / 3)


def ratio_bound_at(prompt: int, longest: int) -> Fraction:
    """Return 2 + 1/(3 (1 + 2 s/o)), which MC-SF/OPT never exceeds; o is the longest output.

    >>> ratio_bound_at(0, 7), ratio_bound_at(7, 7)
    (Fraction(7, 3), Fraction(19, 9))
    """
    return 2 + Fraction(longest, 3 * (longest + 2 * prompt))


def ratio_bound_by_load(load: Fraction) -> Fraction:
    """Return min(1 + 2x, 2 + 1/(1 + 3x)), which MC-SF/OPT never exceeds, for x = P/(M C) = load.

    >>> ratio_bound_by_load(Fraction(2, 3)), ratio_bound_by_load(Fraction(13))
    (Fraction(7, 3), Fraction(81, 40))
    """
    return min(1 + 2 * load, 2 + 1 / (1 + 3 * load))


def ratio_bound_of_equal(prompt: int, output: int, memory: int) -> Fraction:
    """Return 2 M/(m (s + o)), m = floor(M/(s + o)): an upper bound on MC-SF/OPT of equal requests.

    >>> ratio_bound_of_equal(3, 2, 10), ratio_bound_of_equal(3, 2, 13)
    (Fraction(2, 1), Fraction(13, 5))
    """
    peak = prompt + output
    return Fraction(2 * memory, memory // peak * peak)


class LongFirst(NamedTuple):
    """Requests with arrivals on which MC-SF pays order n; see `long_first`."""

    arrivals: tuple[int, ...]
    outputs: tuple[int, ...]
    prompt: int
    memory: int
    mc_sf: int
    better: int


def long_first(requests: int, length: int) -> LongFirst:
    """Return one long request and n - 1 short ones a round later, which MC-SF lets wait for it.

    s = L, M = 2L, L = ``length`` >= 2. The long request, o = L, arrives at 0 and MC-SF starts it at
    once; from age 1 on it leaves less than the L + 1 tokens that a short one, o = 1, needs. Hence
    the short ones, which arrive at 1, are served one a round from round L on (two would need 2L + 2
    tokens): n L + (n-1)(n-2)/2. Serving them first, from round 1 on, and the long one in round n
    costs n(n-1)/2 + n + L. The quotient tends to n as L grows: no constant holds with arrivals.

    Source: own construction.

    >>> case = long_first(4, 200)
    >>> case.mc_sf, case.better
    (803, 210)
    """
    if requests < 1 or length < 2:
        raise ValueError(f"requests {requests} must be at least 1 and length {length} at least 2")
    n = requests
    mc_sf = n * length + (n - 1) * (n - 2) // 2
    better = n * (n - 1) // 2 + n + length
    short = n - 1
    return LongFirst(
        (0,) + (1,) * short, (length,) + (1,) * short, length, 2 * length, mc_sf, better
    )


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
    tends to (2k-1)/k as N grows, and to 2 with k.

    Source: own construction.

    >>> staggered(2, 1, 4)
    Staggered(memory=6, output=3, requests=8, mc_sf=60, better=52)
    """
    output = (2 * together - 1) * gap
    requests = together * batches
    mc_sf = requests * output * (batches + 1) // 2
    better = requests * output + gap * requests * (requests - 1) // 2
    return Staggered(together * output, output, requests, mc_sf, better)
