"""Prompts of any size: families on which orders by volume or by output have no constant, and the
constant of smallest volume first when no request fills the memory.

Proofs: ratiolab/papers/ours/proofs/no_bound_any_prompts.md.
"""

from fractions import Fraction
from typing import NamedTuple


class Family(NamedTuple):
    """Requests at round 0 that a policy serves in the wrong order.

    `requests` are (prompt, output, number). The latencies are those of the policy and of serving
    the last group first.
    """

    memory: int
    requests: tuple[tuple[int, int, int], tuple[int, int, int]]
    policy: int
    better: int


def thin_before_fat(fat: int, length: int) -> Family:
    """Return a thin long request, of the least volume, and fat requests that fill the memory.

    Smallest volume first serves the thin one first; the quotient tends to 1 + ``fat``.

    >>> thin_before_fat(5, 90)
    Family(memory=4096, requests=((0, 90, 1), (4095, 1, 5)), policy=555, better=110)
    """
    if fat < 1 or length < 1:
        raise ValueError(f"fat {fat} and length {length} must be at least 1")
    memory = length * (length + 1) // 2 + 1
    short = fat * (fat + 1) // 2
    requests = ((0, length, 1), (memory - 1, 1, fat))
    return Family(memory, requests, (fat + 1) * length + short, short + fat + length)


def fat_before_thin(fat: int) -> Family:
    """Return fat requests of one token and many thin ones of two; the quotient is above 2 fat/5.

    Shortest output first serves the fat ones first.

    >>> fat_before_thin(2)
    Family(memory=8, requests=((7, 1, 2), (0, 2, 4)), policy=19, better=15)
    """
    if fat < 2:
        raise ValueError(f"fat {fat} must be at least 2")
    thin = fat * fat
    memory, short = 2 * thin, fat * (fat + 1) // 2
    requests = ((memory - 1, 1, fat), (0, 2, thin))
    return Family(memory, requests, short + thin * (fat + 2), 2 * thin + 2 * fat + short)


def svf_constant(share: Fraction) -> Fraction | None:
    """Return what bounds smallest volume first when each peak is at most this share of memory.

    1 + 2/(1 - share), all requests at round 0, any prompts; None when a request may fill the
    memory: then there is no constant.

    Source: Theorem 3.2 of Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327v2, as others restate it; own
    proof.

    >>> svf_constant(Fraction(1, 2))
    Fraction(5, 1)
    """
    return None if share >= 1 else 1 + 2 / (1 - share)
