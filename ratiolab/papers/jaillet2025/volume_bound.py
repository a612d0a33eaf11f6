"""A lower bound on the optimal total latency from memory volume, with its proof."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ratiolab.theory.worst_case.equal_prompts import pair_volume


def volume_lower_bound(prompt: int, outputs: Sequence[int], memory: int) -> Fraction:
    """Return A/(2M) + C/3 + n/6, a lower bound on the optimal total latency.

    All requests have prompt s and arrive at 0. With vol(o) = s o + o (o+1)/2 the memory-time of a
    request, n_o the number of requests of length o, A = sum_o n_o sum_{o'<=o} n_{o'} vol(o') and C
    = sum_o n_o o. Proof. A request that starts at p holds s + k at time p + k, k = 1..o; the mean
    time of its holdings is p + m, where m <= (2o+1)/3 is the mean of k under weights s + k (the
    worst case is s = 0). Hence it completes at p + o, at least (o-1)/3 after its mean time. The sum
    of the mean times is least, over all ways to put the volumes into slots t = 1, 2, ... of size M,
    when they are served in order of volume: spreading slot t over (t-1, t], request i in that order
    has mean time at least (V_i - vol_i/2)/M + 1/2 with V_i the volume up to i. Equal lengths count
    n_o**2 vol(o)/2 in the sum of V_i - vol_i/2 and different ones n_o n_{o'} vol(o'), at least half
    of A together. Altogether OPT >= A/(2M) + n/2 + (C - n)/3.

    This improves the bound A/(6M) + C/6 of Lemma 4.7. With Lemma 4.4,
    MC-SF <= 1536 A/M + 24 C <= 3072 OPT where the paper's constants give 9216; with the bound of
    `ratiolab.theory.worst_case.equal_prompts` on MC-SF instead of Lemma 4.4, 7/3 OPT.

    In rounds; O(n log n).

    Source: improves Jaillet et al. (2025), Lemma 4.7, arXiv 2502.07115v5; own proof.

    >>> volume_lower_bound(0, [1, 1], 1)
    Fraction(3, 1)
    """
    pairs = pair_volume(prompt, outputs)
    return Fraction(pairs, 2 * memory) + Fraction(sum(outputs), 3) + Fraction(len(outputs), 6)
