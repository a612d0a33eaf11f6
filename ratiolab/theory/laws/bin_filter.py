"""TRAIL's smoothing of predicted remaining lengths: bins, a transition matrix, a filter.

Bin i holds remaining lengths in [b i, b (i+1)); after a token a request moves from bin i
to bin i-1 with probability 1/b, and from bin 0 it ends. With column vectors, as in the
paper, T[i][j] is the probability of going from bin j to bin i.

Four slips, each exact here:
- the printed matrix has 1/b below the diagonal, so T q moves mass to longer lengths: one
  token processed raises the expected remaining length by one token (the running text of
  the paper puts 1/b above the diagonal, which is right);
- its last column sums to 1 - 1/b, although nothing can end from the longest bin;
- step 2 propagates the old prior, not the posterior, so observations never accumulate;
- step 3 multiplies by the classifier's output p, itself a posterior under the class
  frequencies c of its training; the likelihood is proportional to p / c.

Source: Shahout et al. (2025), Section 3.1 and Appendix A, arXiv 2410.01035.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


def transition(bins: int, width: Fraction) -> Matrix:
    """Return the matrix with 1/b above the diagonal: remaining lengths shrink.

    Column 0 sums to 1 - 1/b; what is missing are the requests that end.

    >>> for row in transition(2, Fraction(4)):
    ...     print(*row)
    3/4 1/4
    0 3/4
    """
    _check(bins, width)
    return tuple(
        tuple(_entry(width, stay=i == j, move=i == j - 1) for j in range(bins)) for i in range(bins)
    )


def transition_as_printed(bins: int, width: Fraction) -> Matrix:
    """Return the matrix of Appendix A, 1/b below the diagonal; parameters as `transition`."""
    return tuple(zip(*transition(bins, width), strict=True))


def middles(bins: int, width: Fraction) -> Vector:
    """Return m_i = b (2 i + 1) / 2, the mean length in each bin.

    >>> print(*middles(3, Fraction(512, 10)))
    128/5 384/5 128
    """
    _check(bins, width)
    return tuple(width * (2 * i + 1) / 2 for i in range(bins))


def apply(matrix: Matrix, vector: Sequence[Fraction]) -> Vector:
    """Return the product of a matrix and a column vector."""
    return tuple(
        sum((a * x for a, x in zip(row, vector, strict=True)), Fraction(0)) for row in matrix
    )


def normalised(vector: Sequence[Fraction]) -> Vector:
    """Divide a vector by its sum."""
    total = sum(vector)
    if total == 0:
        raise ValueError("vector: prior and observation exclude each other, the mass is 0")
    return tuple(x / total for x in vector)


def mean_length(probabilities: Sequence[Fraction], width: Fraction) -> Fraction:
    """Return L = sum_i q_i m_i, the predicted remaining length in tokens."""
    centre = middles(len(probabilities), width)
    return sum((q * m for q, m in zip(probabilities, centre, strict=True)), Fraction(0))


def filter_as_printed(outputs: Sequence[Vector], matrix: Matrix) -> list[Vector]:
    """Run steps 1 to 3 of Section 3.1 to the letter, with either matrix.

    The prior is T^t p(0), since step 2 propagates the prior alone.

    From the classifier's outputs p(0), p(1), ... to the estimates q(0), q(1), ...
    """
    prior, estimates = outputs[0], [outputs[0]]
    for output in outputs[1:]:
        prior = apply(matrix, prior)
        estimates.append(normalised([q * p for q, p in zip(prior, output, strict=True)]))
    return estimates


def bayes_filter(
    outputs: Sequence[Vector], matrix: Matrix, frequencies: Vector | None = None
) -> list[Vector]:
    """Propagate the posterior and divide the classifier's prior out.

    This is the distribution of the present bin given all outputs and given that the request still
    runs, if bins follow the chain, outputs are independent given the bins, and p(0) is
    the posterior under the distribution of the first bin.

    ``frequencies`` are c, the class frequencies in the classifier's training; None if uniform.
    """
    shares = frequencies or (Fraction(1),) * len(outputs[0])
    estimates = [outputs[0]]
    for output in outputs[1:]:
        prior = apply(matrix, estimates[-1])
        estimates.append(
            normalised([q * p / c for q, p, c in zip(prior, output, shares, strict=True)])
        )
    return estimates


@dataclass(frozen=True)
class World:
    """A ground truth in which the posterior is known: a chain of bins, symbols seen.

    Parameters
    ----------
    width : b; a request leaves its bin with probability 1/b after each token.
    start : distribution of the first bin, also the classifier's class frequencies; shape (k,).
    likelihood : probability of each symbol in each bin, shape (k, symbols).
    """

    width: Fraction
    start: Vector
    likelihood: Matrix

    def classifier(self, symbol: int) -> Vector:
        """Return the ideal classifier's output for one symbol."""
        return normalised(
            [c * row[symbol] for c, row in zip(self.start, self.likelihood, strict=True)]
        )

    def joint(self, symbols: Sequence[int]) -> Vector:
        """Return P(symbols, still running, last bin), summed path by path: O(k^len)."""
        k, leave = len(self.start), 1 / self.width
        mass = [Fraction(0)] * k
        for path in product(range(k), repeat=len(symbols)):
            chance = self.start[path[0]]
            for before, after in pairwise(path):
                chance *= {0: 1 - leave, 1: leave}.get(before - after, 0)
            for place, symbol in zip(path, symbols, strict=True):
                chance *= self.likelihood[place][symbol]
            mass[path[-1]] += chance
        return tuple(mass)

    def mean_error(
        self, tokens: int, estimate: Callable[[list[Vector]], list[Vector]], power: int
    ) -> Fraction:
        """Return the exact mean error, to a power, of the predicted length after some tokens.

        The truth is the middle of the bin; the mean is over all requests still running.
        O(k^tokens symbols^tokens).
        """
        centre = middles(len(self.start), self.width)
        error = alive = Fraction(0)
        for symbols in product(range(len(self.likelihood[0])), repeat=tokens + 1):
            outputs = [self.classifier(symbol) for symbol in symbols]
            guess = mean_length(estimate(outputs)[-1], self.width)
            for mass, truth in zip(self.joint(symbols), centre, strict=True):
                error += mass * abs(guess - truth) ** power
                alive += mass
        return error / alive


def demonstration(tokens: int = 3, power: int = 2) -> dict[str, Fraction]:
    """Compare the filters on a small world: exact mean errors, to a power, after some tokens.

    Three bins of four tokens, first bins with shares 1/2, 1/3, 1/6, and a classifier that
    sees the right bin with probability 1/2, either other with 1/4.

    >>> errors = demonstration(2)
    >>> min(errors, key=errors.get)
    'posterior, likelihood'
    """
    sharp, blunt = Fraction(1, 2), Fraction(1, 4)
    world = World(
        width=Fraction(4),
        start=(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
        likelihood=tuple(tuple(sharp if i == j else blunt for j in range(3)) for i in range(3)),
    )
    right, wrong = transition(3, world.width), transition_as_printed(3, world.width)
    rules: dict[str, Callable[[list[Vector]], list[Vector]]] = {
        "classifier alone": lambda p: p,
        "as printed": lambda p: filter_as_printed(p, wrong),
        "as printed, matrix turned": lambda p: filter_as_printed(p, right),
        "posterior propagated": lambda p: bayes_filter(p, right),
        "posterior, likelihood": lambda p: bayes_filter(p, right, world.start),
    }
    return {name: world.mean_error(tokens, rule, power) for name, rule in rules.items()}


def _entry(width: Fraction, *, stay: bool, move: bool) -> Fraction:
    return 1 - 1 / width if stay else 1 / width if move else Fraction(0)


def _check(bins: int, width: Fraction) -> None:
    if bins < 1:
        raise ValueError(f"bins {bins}: must be at least 1")
    if width < 1:
        raise ValueError(f"width {width}: a bin must hold at least one token")
