"""A classifier inside the model: after every token it names a bin for the remaining length.

Source: Shahout et al. (2025), Section 3.1, arXiv 2410.01035. Their network is replaced by a matrix
of confusion: what it answers depends on the true bin alone, independently from token to token.
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
    """

    confusion: FloatArray
    longest: int = 512

    def __post_init__(self) -> None:
        require_confusion(self.confusion)
        if self.longest < len(self.confusion):
            raise ValueError(f"longest {self.longest} must be at least a token for each bin")

    @classmethod
    def spreading(cls, bins: int, spread: float, longest: int) -> "Classifier":
        """Return a classifier that errs by j bins with weight spread**j; see `confusion`."""
        return cls(spreading(bins, spread), longest)

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

        One uniform number is drawn for each, so that what is named for the first tokens does not
        depend on how many follow but through the bins. Cost O(output bins).
        """
        remaining = output - np.arange(output)
        chances = np.cumsum(self.confusion, axis=1)[bin_of(remaining, self.bins, self.width)]
        drawn: IntArray = (rng.random(output)[:, None] > chances[:, :-1]).sum(axis=1)
        return drawn
