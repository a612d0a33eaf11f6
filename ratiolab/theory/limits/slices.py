"""Slices that double: what GBA and GSA cost on their worst families, in the fluid limit.

The two policies keep a clock that every start of slice c advances by vol(c)/M rounds, vol(c) = c (c
+ 1)/2 without prompts. GBA serves outputs o in the least slice c >= o; GSA runs all unfinished
requests with slices 1, 2, 4, ... in turn. Proofs:
ratiolab/papers/ours/proofs/slices_lower_bounds.md.
"""

from collections.abc import Sequence
from fractions import Fraction

from ratiolab.model.footprint import volume


def gba_ratio(level: int) -> Fraction:
    """Return GBA over the optimum for equal outputs 2**level + 1, n and M to infinity; tends to 4.

    >>> gba_ratio(5)
    Fraction(2080, 561)
    """
    return Fraction(volume(0, 2 ** (level + 1)), volume(0, 2**level + 1))


def halving_family(first: int, levels: int) -> list[tuple[int, Fraction]]:
    """Return lengths 2**(first + i) + 1 and their shares 1/2, 1/4, ..., the last one twice.

    >>> halving_family(3, 3)
    [(9, Fraction(1, 2)), (17, Fraction(1, 4)), (33, Fraction(1, 4))]
    """
    if first < 0 or levels < 1:
        raise ValueError(f"first {first} must be at least 0 and levels {levels} at least 1")
    shares = [Fraction(1, 2 ** (i + 1)) for i in range(levels - 1)]
    shares.append(1 - sum(shares, Fraction()))
    return [(2 ** (first + i) + 1, share) for i, share in enumerate(shares)]


def staggered_optimum(law: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return the optimum of a distribution of lengths, ascending, in units of n**2 / (2 M).

    >>> staggered_optimum([(1, Fraction(1))])
    Fraction(1, 1)
    """
    left, total = Fraction(1), Fraction()
    for length, share in law:
        total += volume(0, length) * share * (2 * left - share)
        left -= share
    return total


def gsa_cost(law: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return what GSA's clock makes it cost on a distribution of lengths, in units of n**2 / (2 M).

    With y the share that outlives the slice before and z that of slice c: vol(c) y (y + z), summed.

    >>> gsa_cost([(1, Fraction(1))]), gsa_cost([(2, Fraction(1))])
    (Fraction(1, 1), Fraction(5, 1))
    """
    before, total, size = Fraction(1), Fraction(), 1
    while before:
        after = sum((share for length, share in law if length > size), Fraction())
        total += volume(0, size) * before * (before + after)
        before, size = after, 2 * size
    return total


def gsa_ratio(law: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Return GSA over the optimum, at most 8, which `halving_family` tends to.

    >>> gsa_ratio(halving_family(3, 3)), float(gsa_ratio(halving_family(12, 150)))
    (Fraction(1264, 195), 7.988118234615613)
    """
    return gsa_cost(law) / staggered_optimum(law)
