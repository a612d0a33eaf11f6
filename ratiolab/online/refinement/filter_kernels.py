"""The filter of `bin_filter` in theory.laws, compiled: a token costs k**2 products, k the bins."""

import numpy as np
from numpy.typing import NDArray

from ratiolab.machine_code import careful
from ratiolab.model.footprint import IntArray

FloatArray = NDArray[np.float64]


@careful  # type: ignore[untyped-decorator]
def advance(
    transition: FloatArray,
    outputs: FloatArray,
    middles: FloatArray,
    corrected: bool,
    state: FloatArray,
    seen: IntArray,
    expected: FloatArray,
    requests: IntArray,
    answers: IntArray,
) -> None:
    """Take one answer after the other into account.

    Parameters
    ----------
    transition : T, shape (k, k).
    outputs : the classifier's probabilities p for each answer it can name, shape (k answers, k).
    middles : mean length in each bin, shape (k,).
    corrected : whether T propagates the posterior (else the prior, as printed).
    state : what T propagates next, a row for each request; changed in place.
    seen : answers so far, for each request; changed in place.
    expected : predicted remaining length for each request; changed in place.
    requests, answers : one value for each answer, in order of time for each request.
    """
    bins = len(middles)
    prior, posterior = np.empty(bins), np.empty(bins)
    for event in range(len(requests)):
        i, output = requests[event], outputs[answers[event]]
        mass = 0.0
        for b in range(bins):
            if seen[i]:
                prior[b] = 0.0
                for a in range(bins):
                    prior[b] += transition[b, a] * state[i, a]
                posterior[b] = prior[b] * output[b]
                mass += posterior[b]
            else:
                prior[b] = output[b]
        if mass > 0.0:
            posterior /= mass
        else:  # the first answer, or one that the prior excludes: the classifier alone
            for b in range(bins):
                posterior[b] = output[b]
        if not corrected:  # rescaled, as T loses the mass of requests that end
            total = prior.sum()
            for b in range(bins):
                state[i, b] = prior[b] / total if total > 0.0 else output[b]
        else:
            for b in range(bins):
                state[i, b] = posterior[b]
        seen[i] += 1
        expected[i] = (posterior * middles).sum()
