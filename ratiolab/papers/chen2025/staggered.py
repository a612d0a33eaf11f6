"""Staggered starts: what they gain on equal requests, and what A_max gains by them unawares.

H-SF runs equal requests of length o, with s = 0 and M = m o, in batches of m. A schedule that
starts a few every round lets one grow while another ends, and comes near twice the rate. This
happens to A_max as stated in the paper once early completions have spread its starts.
"""

from fractions import Fraction
from math import ceil

from ratiolab.theory.laws.distributions import LengthDistribution, Number
from ratiolab.theory.limits.fluid import predicted_bound

#: Fractions grow with the horizon: more requests than this are refused.
MOST_REQUESTS = 100_000


def completion_bounds(output: int, memory: int, requests: int) -> list[int]:
    """Return, for k = 1..n, a round before which no schedule has completed k requests.

    Exactly the requests that start at p <= x = T - o complete by T. With weights w_j on the
    memory constraints of rounds o + j, j = 0..x, a request started at p holds (o - p + j) tokens
    there while 0 <= p - j < o. The weights w_0 = 1/o, w_p = (w_{p-1} + ... + w_{p-o}) / o make
    every such request count exactly 1, so at most M (w_0 + ... + w_x) complete by T. (They are
    the renewal probabilities of steps uniform on 1..o.)

    O(completion round of the last) exact additions; at most `MOST_REQUESTS` requests.

    >>> completion_bounds(3, 6, 5)
    [3, 3, 5, 6, 7]
    """
    if not 1 <= output <= memory:
        raise ValueError(f"output {output} must be between 1 and memory {memory}")
    if not 1 <= requests <= MOST_REQUESTS:
        raise ValueError(f"requests {requests} must be between 1 and {MOST_REQUESTS}")
    weights = [Fraction(1, output)]
    total, bounds = weights[0], [output] * min(requests, memory // output)
    while len(bounds) < requests:
        weights.append(sum(weights[-output:], Fraction()) / output)
        total += weights[-1]
        new = min(requests, int(memory * total)) - len(bounds)
        bounds += [output + len(weights) - 1] * new
    return bounds


def batched_completions(output: int, memory: int, requests: int) -> list[int]:
    """Return the completion rounds of H-SF on equal requests when the output divides the memory.

    >>> batched_completions(3, 6, 5)
    [3, 3, 6, 6, 9]
    """
    if memory % output:
        raise ValueError(f"output {output} does not divide memory {memory}: H-SF staggers")
    batch = memory // output
    return [output * ceil(Fraction(k, batch)) for k in range(1, requests + 1)]


def staggered_starts(output: int, memory: int, requests: int) -> list[int]:
    """Return starts with the same number of requests every round, as many as memory lets stay.

    With c starts in each round, the running requests hold c (1 + ... + o) tokens. c is the largest
    number that fits. Raise ValueError if memory is below o (o + 1) / 2, so that no c fits.

    >>> staggered_starts(3, 6, 5)
    [0, 1, 2, 3, 4]
    """
    rate = memory // (output * (output + 1) // 2)
    if rate < 1:
        raise ValueError(f"memory {memory} is below o (o + 1) / 2 for o = {output}")
    return [k // rate for k in range(requests)]


def batching_loss(output: int) -> Fraction:
    """Return 2 o / (o + 1): the limit in n of H-SF over the optimum, and its supremum over M.

    The staggered rate M / (o (o + 1) / 2) is the largest that the volume of a request allows, the
    batched one is M / o**2. No number of requests reaches 2: by E[overshoot] <= (o + 1) / 2 of the
    renewal process of `completion_bounds`, the k-th completion of any schedule is at round
    o + (k/m - 1) (o + 1) / 2 or later when k >= m, and twice that is o (k/m + 1) + k/m - 1, beyond
    H-SF's o ceil(k/m).

    Source: own derivation, for Chen, Ye, Zhou (2025), Section 6, arXiv 2508.14544v2.

    >>> batching_loss(3)
    Fraction(3, 2)
    """
    if output < 1:
        raise ValueError(f"output {output} is below 1 token")
    return Fraction(2 * output, output + 1)


def max_length_stream_latency(
    distribution: LengthDistribution, prompt: int = 0, upper: int | None = None
) -> Number:
    """Return the latency of A_max as printed once its starts are spread evenly over the rounds.

    With c starts a round, c P(o > a) running requests have age a. Eq. (3), with every output taken
    for u, asks that k rounds later those of age a <= u - k hold at most M:
    c sum_{a=0}^{u-k} P(o > a) (s + a + k) <= M for k = 1..u. A_max starts as many as that allows.
    That its starts do spread is seen in simulation, not proved; on equal lengths they do not.
    Since s + a + k <= s + u, the value is at most that of M / (s + u) parallel servers.

    In units of n**2 / (2 M) rounds and with u as in `ratiolab.theory.limits.fluid`; at least two
    lengths occur. O(u**2).

    Source: own derivation, for Chen, Ye, Zhou (2025), Algorithm 1, arXiv 2508.14544v2.

    >>> from ratiolab.theory.laws.distributions import two_point
    >>> max_length_stream_latency(two_point(1, 4, Fraction(1, 3)))
    Fraction(13, 3)
    """
    bound = predicted_bound(distribution, upper)
    running = [distribution.survival(age) for age in range(bound)]
    return max(
        sum(running[age] * (prompt + age + k) for age in range(bound - k + 1))
        for k in range(1, bound + 1)
    )
