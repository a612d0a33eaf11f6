"""Steps of two proofs in fractions: A_max as printed, and the logarithm of Theorem 5.

A_max is simulated anew: a request that starts in round p holds s + k tokens at time p + k.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
from oracle import optimal_schedule

from ratiolab.model import Instance


def a_max(prompt, upper, memory, order):
    """Return A_max's total latency: each starts once all fit that are taken for `upper` tokens."""
    starts, now = [], 0
    while len(starts) < len(order):
        there = [p for p, o in zip(starts, order, strict=False) if p + o > now] + [now]
        held = (
            sum(prompt + t - p for p in there if t <= p + upper)
            for t in range(now + 1, now + upper + 1)
        )
        if max(held) <= memory:
            starts.append(now)
        else:
            now += 1
    return sum(p + o for p, o in zip(starts, order, strict=True))


def supremum_exceeds(value, lower, upper, prompt):
    """Is a value at most (s+u)/(s+l) (1 + sqrt R)/2? By squares, without any root."""
    radicand = 1 + Fraction(prompt + lower, lower) * sum(
        Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1)
    )
    root = 2 * value * Fraction(prompt + lower, prompt + upper) - 1
    return root <= 0 or root**2 <= radicand


def test_a_max_as_printed_costs_at_most_what_each_step_says():
    steps, over = 0, []
    for (lower, upper), prompt in product([(1, 2), (1, 4), (2, 3)], (0, 3)):
        for many in (1, 2):
            memory = many * (prompt + upper)
            lengths = {lower, (lower + upper) // 2, upper}
            for outputs in combinations_with_replacement(sorted(lengths), 4):
                costs = [a_max(prompt, upper, memory, order) for order in permutations(outputs)]
                mean, whole, n = Fraction(sum(costs), len(costs)), sum(outputs), len(outputs)
                assert mean <= whole + Fraction(n - 1, 2 * many) * whole
                optimum = optimal_schedule(
                    Instance("case", memory, [0] * n, [prompt] * n, outputs)
                ).total_latency
                # the ratio is at most 1 + 2 suprema of the server model
                assert supremum_exceeds((mean / optimum - 1) / 2, lower, upper, prompt)
                over.append(mean / optimum)
                steps += 1
    assert steps == 2 * 2 * (15 + 5 + 5)  # multisets of three, two and two lengths
    assert max(over) > 1


def test_the_supremum_of_the_servers_is_reached_by_the_shares_that_the_proof_names():
    for lower, upper, prompt in ((1, 2, 0), (1, 9, 0), (2, 7, 5), (3, 40, 1)):
        inverse = [Fraction(1, prompt + 2 * k - 1) for k in range(lower + 1, upper + 1)]
        best = Fraction(0)
        for part in range(
            1, 400
        ):  # Y_k = part/100 (s + l)/(s + 2 k - 1), as far as it is at most 1
            tails = [Fraction(part, 100) * (prompt + lower) * x for x in inverse]
            if max(tails) > 1:
                break
            served = (prompt + upper) * (lower + sum(tails))
            least = lower * (prompt + lower) + sum(
                y * y / x for y, x in zip(tails, inverse, strict=True)
            )
            best = max(best, served / least)
        assert supremum_exceeds(best, lower, upper, prompt)
        assert not supremum_exceeds(best * Fraction(1001, 1000), lower, upper, prompt)
        x = Fraction(upper, lower)
        radicand = 1 + Fraction(prompt + lower, lower) * sum(inverse)
        assert radicand <= x
        assert Fraction(prompt + upper, prompt + lower) <= x


def test_each_step_of_theorem_5_in_fractions():
    rng = np.random.default_rng(0)
    for upper in (1, 2, 3, 8, 20):
        size = range(1, upper + 1)
        # Corollary 1's matrix, and what the proof splits it into
        for i, j in product(size, size):
            least, most = min(i, j), max(i, j)
            entry = Fraction(least**2, i * j) * (Fraction((i + j) ** 2, 2) - least**2)
            k = Fraction(least**3, most)
            assert entry == Fraction(i * j, 2) + least**2 - k / 2
        # K has positive pivots
        rest = [[Fraction(min(i, j) ** 3, max(i, j)) for j in size] for i in size]
        for p in range(upper):
            assert rest[p][p] > 0
            for i in range(p + 1, upper):
                factor = rest[i][p] / rest[p][p]
                rest[i] = [a - factor * b for a, b in zip(rest[i], rest[p], strict=True)]
        # B y = w has the solution of which the proof needs w'y
        slopes = [Fraction(1, 2 * k - 1) for k in size]
        solved = [a - b for a, b in zip(slopes, [*slopes[1:], Fraction(0)], strict=True)]
        assert all(
            sum(min(i, j) ** 2 * y for j, y in zip(size, solved, strict=True)) == i for i in size
        )
        assert sum(i * y for i, y in zip(size, solved, strict=True)) == sum(slopes)
        bound = 1 + sum(slopes) / 2
        for _ in range(20):
            x = rng.integers(0, 50, upper).tolist()
            low = sum(x[i - 1] * x[j - 1] * min(i, j) ** 2 for i, j in product(size, size))
            high = sum(
                x[i - 1]
                * x[j - 1]
                * Fraction(min(i, j), max(i, j))
                * (Fraction((i + j) ** 2, 2) - min(i, j) ** 2)
                for i, j in product(size, size)
            )
            assert high <= bound * low
        trace = sum(Fraction(1, k) for k in size)
        assert (bound < trace) == (upper >= 3)
