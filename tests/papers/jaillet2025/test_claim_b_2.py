"""Claims 4.6 and B.2, step by step, with a simulation of MC-SF that shares nothing with the other.

Requests are (predicted, true) outputs in the order of the predictions, all there at round 0. One
that starts in round p holds s + k tokens at time p + k, k = 1, ..., o.
"""

from fractions import Fraction

import numpy as np
import pytest


def vol(prompt, output):
    return prompt * output + output * (output + 1) // 2


def mc_sf(prompt, memory, pairs):
    """Start requests in order, each as soon as the believed memory allows it at every time."""
    starts = []
    now = 0
    while len(starts) < len(pairs):
        believed = [(p, w) for p, (w, o) in zip(starts, pairs, strict=False) if p + o > now] + [
            (now, pairs[len(starts)][0])
        ]
        last = max(p + w for p, w in believed)
        held = (
            sum(prompt + t - p for p, w in believed if p < t <= p + w)
            for t in range(now + 1, last + 1)
        )
        if max(held) <= memory:
            starts.append(now)
        else:
            now += 1
    return starts


def triples(prompt, memory, pairs):
    """Return each triple's true volume of the class over peak(middle) vol(B)/(s + B)."""
    starts = mc_sf(prompt, memory, pairs)
    cells = [
        (w.bit_length(), p + k, prompt + k)
        for p, (w, o) in zip(starts, pairs, strict=True)
        for k in range(1, o + 1)
    ]
    found = []
    for level in {level for level, _, _ in cells}:
        longest, own = 2**level - 1, [(t, held) for name, t, held in cells if name == level]
        first, last = min(own)[0], max(own)[0]
        for begin in range(first, last - 2 * longest + 1, longest):
            inside = [held for t, held in own if begin <= t < begin + 3 * longest]
            peak = max(
                sum(held for _, at, held in cells if at == t)
                for t in range(begin + longest, begin + 2 * longest)
            )
            if peak:
                unit = Fraction(vol(prompt, longest), prompt + longest)
                found.append(sum(inside) / (peak * unit))
    return found


def test_volume_over_peak_rises_and_the_largest_of_a_class_has_at_most_twice_the_least():
    for prompt in range(30):
        share = [Fraction(vol(prompt, o), prompt + o) for o in range(1, 129)]
        assert share == sorted(share)
        for b in range(1, 65):
            twice = 2 * share[b - 1] - share[2 * b - 2]
            cleared = twice * (prompt + b) * (prompt + 2 * b - 1)
            assert cleared == prompt**2 + prompt * b * (b + 1) + 2 * b**2 - b


@pytest.mark.parametrize("stretch", [1, 2, 3])
def test_three_intervals_hold_the_volume_that_the_proof_says(stretch):
    rng = np.random.default_rng(stretch)
    found = []
    for _ in range(400):
        prompt, outputs = int(rng.choice([0, 1, 4])), rng.integers(1, 5, rng.integers(8, 25))
        pairs = sorted((int(rng.integers(o, stretch * o + 1)), int(o)) for o in outputs)
        largest = prompt + pairs[-1][0]
        memory = int(rng.integers(largest, 3 * largest + 1))  # the proof needs room for one alone
        found += triples(prompt, memory, pairs)
    assert len(found) > 30
    assert min(found) >= Fraction(1, 2 * stretch**2)


def test_the_control_twice_the_peak_is_false_by_hand():
    pairs = [(2, 1), (2, 1), (2, 2), (3, 2), (3, 2)]
    assert mc_sf(1, 5, pairs) == [0, 1, 2, 3, 5]
    # times 1 to 7 hold 2, 2, 2, 3 + 2, 3, 2, 3: in 4..6 the peak is 5, and vol(3)/(1 + 3) = 9/4
    assert triples(1, 5, pairs) == [Fraction(19) / (5 * Fraction(9, 4))]
    assert triples(1, 5, pairs)[0] < 2
