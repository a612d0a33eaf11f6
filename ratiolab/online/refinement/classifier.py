"""A classifier inside the model: after every token it names a bin for the remaining length.

Source: Shahout et al. (2025), Section 3.1, arXiv 2410.01035. Their network is replaced by a matrix
of confusion: what it answers depends on the true bin alone, by default independently from token to
token. A real classifier reads almost the same text twice in a row, so its errors last: the matrix
says how often it errs, `correlation` and `changes` how long.
"""

from dataclasses import dataclass

import numpy as np

from ratiolab.model.footprint import IntArray
from ratiolab.theory.laws.confusion import FloatArray, bin_of, require_confusion, spreading


@dataclass(frozen=True, eq=False)
class Classifier:
    """Bins of equal width for remaining lengths, and how they are taken for one another.

    Parameters
    ----------
    confusion : probability of each answer (column) in each true bin (row), shape (k, k).
    longest : end of the last bin, tokens; whatever is longer belongs to it.
    correlation : of the errors of neighbouring tokens, in [0, 1]: a normal autoregressive process
        of the first order decides them. 0 (default) is independence, 1 one error for a whole life.
    changes : rate at which the classifier may change its mind: the probability that a token renews
        its error, in [0, 1]; else it is that of the token before. 1 (default) renews it always.
    """

    confusion: FloatArray
    longest: int = 512
    correlation: float = 0.0
    changes: float = 1.0

    def __post_init__(self) -> None:
        require_confusion(self.confusion)
        if self.longest < len(self.confusion):
            raise ValueError(f"longest {self.longest} must be at least a token for each bin")
        for name in ("correlation", "changes"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)} must be between 0 and 1")

    @classmethod
    def spreading(
        cls, bins: int, spread: float, longest: int, correlation: float = 0.0, changes: float = 1.0
    ) -> "Classifier":
        """Return a classifier that errs by j bins with weight spread**j; see `confusion`."""
        return cls(spreading(bins, spread), longest, correlation, changes)

    @property
    def bins(self) -> int:
        """Number of bins."""
        return len(self.confusion)

    @property
    def width(self) -> float:
        """Tokens in a bin."""
        return self.longest / self.bins

    def answers(self, output: int, rng: np.random.Generator) -> IntArray:
        """Draw the bins named for one request after 0, 1, ..., output - 1 tokens, shape (output,).

        One uniform number is drawn for each, and a second one where errors may last, so that what
        is named for the first tokens does not depend on how many follow but through the bins.
        Whatever lasts, each answer alone follows the matrix. Cost O(output bins).
        """
        remaining = output - np.arange(output)
        chances = np.cumsum(self.confusion, axis=1)[bin_of(remaining, self.bins, self.width)]
        errors = self._errors(output, rng)
        drawn: IntArray = (errors[:, None] > chances[:, :-1]).sum(axis=1)
        return drawn

    def _errors(self, output: int, rng: np.random.Generator) -> FloatArray:
        """Draw numbers uniform on [0, 1), one a token, as correlated as the errors are to be."""
        columns = rng.random((output, 1 + (self.changes < 1)))
        errors: FloatArray = columns[:, 0]
        if self.correlation:
            from scipy.signal import lfilter
            from scipy.special import ndtr, ndtri

            news = ndtri(errors)
            news[1:] *= np.sqrt(1 - self.correlation**2)
            errors = ndtr(lfilter([1.0], [1.0, -self.correlation], news))
        if self.changes < 1:
            renewed = columns[:, 1] < self.changes
            errors = errors[np.maximum.accumulate(np.where(renewed, np.arange(output), 0))]
        return errors
